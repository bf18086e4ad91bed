"""Messaging subsystems of application servers (JBoss EAP, WildFly): which there are, and which broker runs inside.

``facts/servers.csv`` has a row for each version of a subsystem's schema, ``facts/subsystem_settings.csv`` one for each
attribute that sets what the broker's own file sets with an element: the default where it is not the broker's own, the
range that the server takes.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from brokerconf.reading.tables import read_table
from pagefmt.editions import Edition

DOMAIN = "urn:jboss:domain:"
_NAMESPACE = re.compile(rf"{DOMAIN}(messaging(?:-activemq)?):([^\s\"'<>]+)")


class Subsystem(NamedTuple):
    """One version of a messaging subsystem: ``messaging`` is HornetQ, ``messaging-activemq`` Artemis."""

    product: str
    version: str

    @property
    def namespace(self) -> str:
        """The name space of its elements."""
        return f"{DOMAIN}{self.product}:{self.version}"

    @property
    def known(self) -> bool:
        """Whether this version is described here."""
        return self in _servers()

    @property
    def edition(self) -> Edition:
        """The edition that comes nearest to the broker inside."""
        return Edition(_servers()[self][0])

    @property
    def words(self) -> str:
        """As ``messaging-activemq:13.0 of WildFly 23 to 26.0 runs Artemis 2.16 to 2.19``."""
        _, broker, servers = _servers()[self]
        return f"{self.product}:{self.version} of {servers} runs {broker}"

    def holds(self, since: str, until: str) -> bool:
        """Whether a row of a table holds for this version."""
        now = _numbers(self.version)
        return _numbers(since) <= now and (not until or now < _numbers(until))


class SubsystemSetting(NamedTuple):
    """``attribute`` of ``element`` (empty: of the server itself) sets ``setting``; ``default`` where the server has one
    of its own, ``least`` and ``most`` where it refuses others."""

    scope: str
    setting: str
    element: str
    attribute: str
    default: str
    least: str
    most: str


@cache
def _servers() -> dict[Subsystem, tuple[str, str, str]]:
    return {Subsystem(product, version): (edition, broker, servers)
            for product, version, edition, broker, servers in read_table("servers.csv")}  # fmt: skip


@cache
def subsystem_settings(of: Subsystem) -> tuple[SubsystemSetting, ...]:
    """The rows for a version."""
    rows = (row for row in read_table("subsystem_settings.csv") if row[0] == of.product and of.holds(*row[8:]))
    return tuple(SubsystemSetting(*row[1:8]) for row in rows)


def known_subsystems(product: str) -> list[Subsystem]:
    """The versions of a subsystem that are described here, the oldest first."""
    return [each for each in _servers() if each.product == product]


def subsystem_of(namespace: str) -> Subsystem | None:
    """The messaging subsystem whose name space this is, also of a version that is not known."""
    found = _NAMESPACE.fullmatch(namespace)
    return Subsystem(*found.groups()) if found else None


def subsystem_in(text: str) -> Subsystem | None:
    """The first messaging subsystem that a text names."""
    found = _NAMESPACE.search(text)
    return Subsystem(*found.groups()) if found else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) if part.isdecimal() and len(part) < 10 else 1 << 30 for part in version.split("."))
