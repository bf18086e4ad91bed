"""Examples of the rules as whole configurations, for tests, ``config explain`` and the page of rules."""

from __future__ import annotations

from pathlib import Path
from textwrap import indent

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example
from brokerconf.reading.document import Document
from brokerconf.reading.properties import parse_properties
from brokerconf.reading.reading import read_bytes
from pagefmt.editions import Edition

_ARTEMIS = """<?xml version="1.0" encoding="UTF-8"?>
<configuration xmlns="urn:activemq">
{jms}  <core xmlns="urn:activemq:core">
{core}  </core>
</configuration>
"""
_HORNETQ = """<?xml version="1.0" encoding="UTF-8"?>
<configuration xmlns="urn:hornetq">
{core}</configuration>
"""


def xml_of(example: Example) -> str:
    """Return the broker.xml of an example."""
    inside = example.core.strip("\n")
    if example.settings:
        settings = indent(example.settings.strip("\n"), "  ")
        inside += ("\n" if inside else "") + f"<address-settings>\n{settings}\n</address-settings>"
    core = indent(inside, "    ") + "\n" if inside else ""
    if example.edition is Edition.HORNETQ_2_4:
        return _HORNETQ.format(core=core)
    jms = f'  <jms xmlns="urn:activemq:jms">\n    {example.jms}\n  </jms>\n' if example.jms else ""
    return _ARTEMIS.format(core=core, jms=jms)


def document_of(example: Example, name: str = "broker.xml") -> Document:
    """Return the document of an example."""
    raw = xml_of(example).encode()
    return read_bytes(raw, name, folder=Path(), edition=example.edition, properties={}, environment={})


def facts_of(example: Example) -> ConfigFacts:
    """Return the facts that a rule gets for an example."""
    document = document_of(example)
    entries = tuple(parse_properties(example.properties, "broker.properties"))
    return ConfigFacts(
        document, document.core, heap=example.heap, properties=entries, stores=example.stores, volumes=example.volumes
    )
