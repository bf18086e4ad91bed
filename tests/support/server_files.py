"""Configurations of application servers, written for tests: a messaging subsystem of any version in its file."""

from __future__ import annotations

import re
from pathlib import Path

from brokerconf.reading.document import Document
from brokerconf.reading.reading import read_bytes

SERVER = """<server name="default">
        <security-setting name="#"><role name="guest" send="true" consume="true"/></security-setting>
        <address-setting name="#" dead-letter-address="jms.queue.DLQ" expiry-address="jms.queue.Expired"
            max-size-bytes="8388608" page-size-bytes="1048576"/>
        <in-vm-connector name="vm" server-id="0"/>
        <in-vm-acceptor name="vm" server-id="0"/>
        <jms-queue name="Orders" entries="java:/queue/Orders"/>
        <jms-topic name="Prices" entries="java:/topic/Prices"/>
      </server>"""


def subsystem(version: str, inside: str = SERVER) -> str:
    """Return the ``messaging-activemq`` subsystem of a server file."""
    return f'<subsystem xmlns="urn:jboss:domain:messaging-activemq:{version}">\n      {inside}\n    </subsystem>'


def standalone(version: str = "13.0", inside: str = SERVER, more: str = "") -> str:
    """Return the file of a standalone server; ``more`` is inserted before its profile."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<server xmlns="urn:jboss:domain:16.0">\n'
        f"  {more}\n  <profile>\n    {subsystem(version, inside)}\n  </profile>\n</server>\n"
    )


def with_settings(attributes: str) -> str:
    """Replace the page and memory limits in the server's address setting by other attributes."""
    return re.sub(r'max-size-bytes="\d+" page-size-bytes="\d+"', attributes, SERVER)


def with_journal(attributes: str) -> str:
    """Insert a journal element into the server."""
    return SERVER.replace("<security-setting", f"<journal {attributes}/>\n        <security-setting", 1)


def server_document(text: str, **properties: str) -> Document:
    """Read the text as standalone.xml; underscores in property names stand for dots."""
    given = {name.replace("_", "."): value for name, value in properties.items()}
    return read_bytes(text.encode(), "standalone.xml", folder=Path(), properties=given, environment={"LIMIT": "7"})
