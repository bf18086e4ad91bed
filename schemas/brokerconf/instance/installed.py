"""Release that an instance runs, by the names of its jars. Nothing is opened: start-up stays short."""

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
    """Product and release named by a jar; ``release`` may be empty.

    Only the jar's name distinguishes HornetQ 2.4 from Artemis 2.4.
    """

    hornetq: bool
    release: str

    @property
    def edition(self) -> Edition:
        """Return the closest edition; raise ``UnknownRelease``."""
        return Edition.HORNETQ_2_4 if self.hornetq else edition_of_release(self.release)


def named_by(jar: str) -> InstalledRelease | None:
    """Return the broker whose server is in a jar of that name, or None for any other jar."""
    match = re.fullmatch(_JAR, jar)
    return InstalledRelease(match.group(1) == "hornetq", match.group(2) or "") if match else None


class UnknownRelease(BrokerConfError):
    """Error for a release of no known broker."""


def edition_of_instance(path: Path) -> Edition | None:
    """Return the edition that the instance of a configuration file runs, or None if that is unknown."""
    try:
        return edition_run_by(find_instance(path))
    except InstanceError:
        return None


def edition_run_by(instance: Instance) -> Edition | None:
    """Return the edition that an instance runs, or None if that is unknown."""
    installed = installed_in(instance.home) if instance.home else None
    try:
        return installed.edition if installed and (installed.hornetq or installed.release) else None
    except UnknownRelease:
        return None


def installed_in(home: Path) -> InstalledRelease | None:
    """Return the release that the jars of an installation name, or None if none is a broker's."""
    jars = sorted((home / "lib").glob("artemis-server-*.jar")) + sorted((home / "lib").glob("hornetq-*.jar"))
    return next((named for jar in jars if (named := named_by(jar.name))), None)


def release_of_home(home: Path) -> str:
    """Return the release of the Artemis installed in a folder; empty if no jar names it, and for HornetQ."""
    installed = installed_in(home)
    return installed.release if installed and not installed.hornetq else ""


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
