"""Which release an instance runs, by the names of its jars. Nothing is opened: start-up stays short."""

from __future__ import annotations

import re
from pathlib import Path

from brokerconf.errors import BrokerConfError
from brokerconf.instance import Instance, InstanceError, find_instance
from pagefmt.editions import NEWEST, Edition

SERVER_JAR = re.compile(r"(?:artemis|hornetq)-(?:core-|server-)[^/]*?(\d+\.\d+\.\d+)")


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
    found = release_of_home(instance.home) if instance.home else ""
    try:
        return edition_of_release(found) if found else None
    except UnknownRelease:
        return None


def release_of_home(home: Path) -> str:
    """The release that the jars of an installation name; empty where there are none."""
    jars = sorted((home / "lib").glob("artemis-server-*.jar")) + sorted((home / "lib").glob("hornetq-*.jar"))
    found = [named.group(1) for jar in jars if (named := SERVER_JAR.search(jar.name))]
    return found[0] if found else ""


def edition_of_release(text: str) -> Edition:
    """The edition that comes nearest to a release: the newest that is not newer. Raises ``UnknownRelease``."""
    if not text:
        return NEWEST
    if not text.startswith(("1.", "2.")):
        raise UnknownRelease(f"release {text} is of no broker known here")
    wanted = _numbers(text)[:2]
    known = [edition for edition in Edition if edition is not Edition.HORNETQ_2_4]
    older = [edition for edition in known if _numbers(edition.release)[:2] <= wanted]
    return older[-1] if older else known[0]


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(".")))
