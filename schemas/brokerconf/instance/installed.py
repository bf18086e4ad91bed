"""Which release an instance runs, by the names of its jars. Nothing is opened: start-up stays short."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from brokerconf.errors import BrokerConfError
from brokerconf.instance.instance import Instance, InstanceError, find_instance
from pagefmt.editions import NEWEST, Edition, edition_of_numbers

# HornetQ's own distribution leaves the release out of the names.
_JAR = r"(artemis|hornetq)-(?:core|server)(?:-[^/]*?(\d+\.\d+\.\d+))?[^/]*\.jar"


class InstalledRelease(NamedTuple):
    """What the name of a jar says: HornetQ 2.4 and Artemis 2.4 are told apart by nothing else. ``release`` may be
    empty."""

    hornetq: bool
    release: str

    @property
    def edition(self) -> Edition:
        """The edition that comes nearest; raises ``UnknownRelease``."""
        return Edition.HORNETQ_2_4 if self.hornetq else edition_of_release(self.release)


def named_by(jar: str) -> InstalledRelease | None:
    """The broker whose server the jar holds; None for any other."""
    found = re.fullmatch(_JAR, jar)
    return InstalledRelease(found.group(1) == "hornetq", found.group(2) or "") if found else None


class UnknownRelease(BrokerConfError):
    """A release of no broker that is known here."""


def edition_of_instance(path: Path) -> Edition | None:
    """The edition of the broker that the instance of a configuration file runs; None where that cannot be seen."""
    try:
        return edition_run_by(find_instance(path))
    except InstanceError:
        return None


def edition_run_by(instance: Instance) -> Edition | None:
    """The same for an instance at hand."""
    found = installed_in(instance.home) if instance.home else None
    try:
        return found.edition if found and (found.hornetq or found.release) else None
    except UnknownRelease:
        return None


def installed_in(home: Path) -> InstalledRelease | None:
    """What the jars of an installation name; None where there are none of a broker."""
    jars = sorted((home / "lib").glob("artemis-server-*.jar")) + sorted((home / "lib").glob("hornetq-*.jar"))
    return next((named for jar in jars if (named := named_by(jar.name))), None)


def release_of_home(home: Path) -> str:
    """The release of the Artemis installed there; empty where none is named, and for HornetQ."""
    found = installed_in(home)
    return found.release if found and not found.hornetq else ""


def edition_of_release(text: str) -> Edition:
    """Return the edition that comes nearest to a release of Artemis, of the same major release.

    Raises ``UnknownRelease``.
    """
    if not text:
        return NEWEST
    if not text.startswith(("1.", "2.")):
        raise UnknownRelease(f"release {text} is not a known broker release")
    major, minor = (int(number) for number in text.split(".")[:2])
    return edition_of_numbers(major, minor)
