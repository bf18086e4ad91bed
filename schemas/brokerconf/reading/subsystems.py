"""Versions of messaging subsystems of application servers (JBoss EAP, WildFly), and the broker that each runs.

``facts/servers.csv`` has a row for each version of a subsystem's schema, ``facts/subsystem_settings.csv`` one for each
attribute that corresponds to an element of the broker's own file: the default if it is not the broker's own, and the
range that the server accepts.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from brokerconf.reading.tables import read_table
from pagefmt.editions import Edition

DOMAIN = "urn:jboss:domain:"
_NAMESPACE = rf"{DOMAIN}(messaging(?:-activemq)?):([^\s\"'<>]+)"


class Subsystem(NamedTuple):
    """Version of a messaging subsystem: ``messaging`` is HornetQ, ``messaging-activemq`` Artemis."""

    product: str
    version: str

    @property
    def namespace(self) -> str:
        """Return the namespace of the subsystem's elements."""
        return f"{DOMAIN}{self.product}:{self.version}"

    @property
    def known(self) -> bool:
        """Return whether the tables describe this version."""
        return self in _servers()

    @property
    def edition(self) -> Edition:
        """Return the edition closest to the broker that this subsystem runs."""
        return Edition(_servers()[self][0])

    @property
    def words(self) -> str:
        """Return a description, as ``messaging-activemq:13.0 of WildFly 23 to 26.0 runs Artemis 2.16 to 2.19``."""
        _, broker, servers = _servers()[self]
        return f"{self.product}:{self.version} of {servers} runs {broker}"

    def holds(self, since: str, until: str) -> bool:
        """Return whether a table row applies to this version: from ``since`` up to, but not including, ``until``."""
        now = _numbers(self.version)
        return _numbers(since) <= now and (not until or now < _numbers(until))


class SubsystemSetting(NamedTuple):
    """Setting that an ``attribute`` of ``element`` (empty: of the server itself) of a messaging subsystem controls.

    ``default`` is the application server's own default, if it has one; it refuses values outside ``least`` to ``most``.
    """

    scope: str
    setting: str
    element: str
    attribute: str
    default: str
    least: str
    most: str


@cache
def _servers() -> dict[Subsystem, tuple[str, str, str]]:
    return {
        Subsystem(product, version): (edition, broker, servers)
        for product, version, edition, broker, servers in read_table("servers.csv")
    }


@cache
def subsystem_settings(of: Subsystem) -> tuple[SubsystemSetting, ...]:
    """Return the settings that a version of a subsystem controls."""
    rows = (row for row in read_table("subsystem_settings.csv") if row[0] == of.product and of.holds(*row[8:]))
    return tuple(SubsystemSetting(*row[1:8]) for row in rows)


def known_subsystems(product: str) -> list[Subsystem]:
    """Return the versions of a subsystem that the tables describe, the oldest first."""
    return [subsystem for subsystem in _servers() if subsystem.product == product]


def subsystem_of(namespace: str) -> Subsystem | None:
    """Return the messaging subsystem of a namespace, also if its version is unknown; None for any other namespace."""
    match = re.fullmatch(_NAMESPACE, namespace)
    return Subsystem(*match.groups()) if match else None


def subsystem_in(text: str) -> Subsystem | None:
    """Return the first messaging subsystem whose namespace a text contains, or None."""
    match = re.search(_NAMESPACE, text)
    return Subsystem(*match.groups()) if match else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdecimal() and len(part) < 10 else 1 << 30 for part in version.split("."))
