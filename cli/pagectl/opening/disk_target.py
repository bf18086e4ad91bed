"""What a ``disk`` command looks at: the directories that count, the limits in force, and where both came from."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pagectl.running.exits import CallError
from pageengine.disk.monitor import DiskSettings, edition_of_monitor
from pagefmt.editions import NEWEST, Edition

if TYPE_CHECKING:
    from brokerconf.reading.document import Document

    from pageengine.disk.config import WhenBlocked
    from pagefmt.bytes.filesystems import FileSystem

LAYOUT = {
    "paging": ("paging", "messagingpaging"),
    "journal": ("journal", "messagingjournal"),
    "large-messages": ("large-messages", "largemessages", "messaginglargemessages"),
    "bindings": ("bindings", "messagingbindings"),
}


@dataclass(frozen=True, slots=True)
class Target:
    """``directories`` by the broker's names, or the one path that was given; ``took_for`` says what that was."""

    directories: dict[str, Path]
    settings: DiskSettings
    edition: Edition
    took_for: str
    root: Path
    document: Document | None = None

    @property
    def place(self) -> str:
        """One text for one place, however it was written."""
        return os.path.realpath(self.root)

    def probe(self) -> tuple[list[FileSystem], list[str]]:
        """File systems now; raises CallError when none of the directories exists."""
        from pagefmt.bytes.filesystems import file_systems

        found, missing = file_systems(self.directories)
        if not found:
            names = ", ".join(str(path) for path in self.directories.values())
            raise CallError(f"{names}: no such directory: name a broker instance, a data directory or any path")
        return found, missing

    def when_blocked(self) -> tuple[WhenBlocked, ...]:
        """What producers of each address feel while the broker blocks."""
        from pageengine.disk.config import when_blocked

        return when_blocked(self.document, self.edition)


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits from flags; either one given replaces what a configuration says."""

    max_disk_usage: int | None = None
    min_disk_free: int | None = None

    @property
    def given(self) -> bool:
        return self.max_disk_usage is not None or self.min_disk_free is not None

    def settings(self) -> DiskSettings:
        return DiskSettings(self.max_disk_usage, self.min_disk_free)


def locate(
    path: Path | None, *, broker_xml: Path | None = None, limits: Limits | None = None, edition: Edition | None = None
) -> Target:
    """Find out what ``path`` is: an instance, a data directory, a directory of one, or any path.

    ``broker_xml`` names the configuration; relative directories in it are then taken against ``path``.
    Raises the errors of those who read configurations, and CallError.
    """
    limits = limits or Limits()
    if path is None and broker_xml is None:
        given = os.environ.get("ARTEMIS_INSTANCE")
        if not given:
            raise CallError("nothing to look at: name a path, or --broker-xml, or set ARTEMIS_INSTANCE")
        path = Path(given)
    if broker_xml is not None:
        return _moved_apart(path, broker_xml, limits, edition)
    assert path is not None
    return _instance_around(path, limits, edition) or _without_config(path, limits, edition or NEWEST)


def _instance_around(path: Path, limits: Limits, edition: Edition | None) -> Target | None:
    """The instance that ``path`` is; without limits from flags also the one whose directories ``path`` belongs to."""
    if not _named_config(path) and limits.given:
        return None
    for folder in (path, *path.absolute().parents[:3]):
        config = _named_config(folder)
        if config is not None:
            target = _configured(config, None, limits, edition)
            if folder is path or any(_related(path, directory) for directory in target.directories.values()):
                return target
    return None


def _named_config(path: Path) -> Path | None:
    """A configuration file itself, or the folder of an instance."""
    names = ("etc/broker.xml", "broker.xml", "config/hornetq-configuration.xml", "hornetq-configuration.xml")
    if path.suffix == ".xml" and path.is_file():
        return path
    return next((path / name for name in names if (path / name).is_file()), None)


def _related(path: Path, directory: Path) -> bool:
    one, other = (os.path.realpath(place) for place in (path, directory))
    return os.path.commonpath((one, other)) in (one, other)


def _moved_apart(path: Path | None, config: Path, limits: Limits, edition: Edition | None) -> Target:
    """``--broker-xml``: its directories, relative ones against ``path``; else the known folders of ``path``."""
    target = _configured(config, path, limits, edition)
    if path is None or any(directory.exists() for directory in target.directories.values()):
        return target
    plain = _without_config(path, limits, target.edition)
    return replace(plain, settings=target.settings, document=target.document)


def _configured(config: Path, root: Path | None, limits: Limits, edition: Edition | None) -> Target:
    from brokerconf.instance.installed import edition_run_by, release_of_home
    from brokerconf.instance.instance import directories, find_instance
    from brokerconf.reading.reading import read

    from pageengine.disk.config import disk_settings, moved, properties_in_force, watched

    instance = find_instance(config)
    release = "" if edition or instance.home is None else release_of_home(instance.home)
    as_read = edition or (edition_run_by(instance) if release else None)
    document = read(config, edition=as_read, properties=instance.properties, environment=os.environ)
    edition = edition_of_monitor(release) if release else document.edition
    entries = properties_in_force(instance, document.edition)
    settings = limits.settings() if limits.given else disk_settings(document, edition, entries)
    base = root or instance.root
    found = moved(directories(document, root), entries, base)
    took = f"instance of {config}"
    return Target(watched(document, found), settings, edition, took, base, document)


def _without_config(path: Path, limits: Limits, edition: Edition) -> Target:
    found = {
        name: path / folder
        for name, folders in LAYOUT.items()
        for folder in folders
        if (path / folder).is_dir()
    }  # fmt: skip
    took = "data directory" if found else "path"
    return Target(found or {"path": path}, limits.settings(), edition, took, path)
