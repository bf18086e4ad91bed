"""What a ``disk`` command looks at: the directories that count, the limits in force, and where both come from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pagectl.opening.broker import (
    NO_DIR,
    configuration_for,
    from_environment,
    instance_above,
    is_configuration,
    opened,
    same,
)
from pagectl.opening.starting import note_no_start, require_start
from pagectl.options.configuration import ConfigurationOptions
from pagectl.options.disk import DiskQuery
from pagectl.running.exits import CallError
from pageengine.disk.monitor import DiskSettings, edition_of_monitor
from pagefmt.directory.locate import LAYOUT, LocateError, LocationKind, configuration_in, locate, stores
from pagefmt.editions import NEWEST, Edition

if TYPE_CHECKING:
    from pagectl.opening.broker_configuration import BrokerConfiguration
    from pagectl.options.disk_thresholds import Thresholds
    from pagectl.outputs.disk_report import DiskReport
    from pageengine.disk.config import WhenBlocked
    from pageengine.disk.state import DiskState


class MonitoredDisks(NamedTuple):
    """``directories`` by the broker's names, or the one path that was given; ``took_for`` says what that was.

    ``supposed``: why the limits may be others, where the configuration leaves them to a file that is not known;
    ``assumed``: why the edition is the one that it is, where nobody named it.
    """

    directories: dict[str, Path]
    settings: DiskSettings
    edition: Edition
    took_for: str
    root: Path
    configuration: BrokerConfiguration | None = None
    supposed: str = ""
    assumed: str = ""

    @property
    def place(self) -> str:
        """Return the real path, which is the same text however the path was written."""
        return os.path.realpath(self.root)

    def state(self) -> DiskState:
        """Return the current state of the file systems. Raise ``CallError`` if none of the directories exists."""
        from pageengine.disk.state import DiskState
        from pagefmt.storage.filesystems import file_systems

        present, missing = file_systems(self.directories)
        if not present:
            own = self.configuration.directories.paging_candidates if self.configuration else ()
            names = ", ".join(str(path) for path in dict.fromkeys((*self.directories.values(), *own)))
            raise CallError(f"{names}: no such directory: name a broker instance or a data directory")
        return DiskState.of(self.settings, self.edition, present, missing)

    def when_blocked(self) -> tuple[WhenBlocked, ...]:
        """Return what happens to producers of each address while the broker blocks."""
        from pageengine.disk.config import when_blocked

        return when_blocked(self.configuration and self.configuration.settings(tell=False), self.edition)


def monitored_disks(query: DiskQuery) -> MonitoredDisks:
    """Return the disks of an instance or data directory, or, if the query allows it, of any path.

    ``path`` may also be one of the directories of an instance, whose limits apply unless options set limits.
    Directories may come from variables of the environment. In other settings the variables are only named, because the
    settings are shown, and the broker's environment need not be this one. Raises ``CallError``, also for a path that is
    no broker's, and the errors of reading a configuration.
    """
    options = query.options._replace(names_environment=True)
    broker_xml, limits, query = query.broker_xml, query.limits, query._replace(options=options)
    path = query.path or (None if broker_xml else from_environment())
    if broker_xml is not None:
        config = opened(broker_xml, None, options) if path is None else configuration_for(path, broker_xml, options)[1]
    elif path is None:
        raise CallError("no path given: name one, or --config, or set ARTEMIS_INSTANCE")
    else:
        own = _own_configuration(path, limits, options)
        if own is None:
            return _without_configuration(query._replace(path=path), options.edition or NEWEST)
        config = own
    return _configured(query._replace(path=path if broker_xml is not None else None), config)


def _own_configuration(
    path: Path, limits: DiskSettings | None, options: ConfigurationOptions
) -> BrokerConfiguration | None:
    """Return the configuration of the instance that ``path`` is or belongs to, None if there is none."""
    if configuration_in(path) is not None or is_configuration(path):
        return opened(path, None, options)
    above = None if limits else instance_above(path)
    if above is None:
        return None
    configuration = opened(above, None, options)
    return configuration if any(_related(path, directory) for directory in _watched(configuration).values()) else None


def _related(path: Path, directory: Path) -> bool:
    first, second = (os.path.realpath(place) for place in (path, directory))
    return os.path.commonpath((first, second)) in (first, second)


def _watched(configuration: BrokerConfiguration) -> dict[str, Path]:
    from pageengine.disk.config import watched

    return watched(configuration.document, configuration.directories)


def _configured(query: DiskQuery, configuration: BrokerConfiguration) -> MonitoredDisks:
    """Return the disks with the configuration's limits and directories.

    If none of its directories exists, those of ``path`` are used.
    """
    from pageengine.disk.config import DiskConfigError, disk_settings

    if query.anyway is None:
        note_no_start(configuration)
    else:
        require_start(configuration, anyway=query.anyway)
    path, limits, release = query.path, query.limits, configuration.start.release
    edition = edition_of_monitor(release) if release else configuration.edition
    took_for, supposed = configuration.base_remark or f"instance of {configuration.start.config}", ""
    if configuration.document.partial:
        unknown = f"{configuration.document.under} is not known"
        took_for += f"; {unknown}"
        read = configuration.settings(tell=False).broker()
        set_here = any(name in read and read[name].origin for name in ("max-disk-usage", "min-disk-free"))
        supposed = "" if limits or set_here else unknown
    document = configuration.with_defaults().document
    try:
        settings = limits or disk_settings(document, edition, configuration.entries)
    except DiskConfigError as err:
        if not query.anyway:
            raise
        settings, supposed = disk_settings(document, edition, configuration.entries, lenient=True), str(err)
    assumed = "" if query.options.edition else release or configuration.sources["edition"]
    directories, root = _watched(configuration), configuration.root
    if path is not None and not any(directory.exists() for directory in directories.values()):
        plain = _without_configuration(query, edition)
        directories, took_for, root = plain.directories, plain.took_for, path
    return MonitoredDisks(directories, settings, edition, took_for, root, configuration, supposed, assumed)


def _without_configuration(query: DiskQuery, edition: Edition) -> MonitoredDisks:
    path = query.path or Path()
    if not query.any_path:
        _refuse_other_path(path)
    present = {
        name: path / folder for name, folders in LAYOUT.items() for folder in folders if (path / folder).is_dir()
    }
    took = "data directory" if present else "path"
    return MonitoredDisks(
        present or {"path": path},
        query.limits or DiskSettings(),
        edition,
        took,
        path,
        assumed="" if query.options.edition else "the newest: no configuration is read",
    )


def _refuse_other_path(path: Path) -> None:
    """Raise ``CallError`` for a path in which nothing of a broker is found.

    The name of an empty folder alone is no evidence: where a file system is not mounted, its mount point is empty.
    """
    why = "nothing in it is a broker's"
    try:
        place = locate(path)
        if place.kind.is_journal:
            ours = _is_folder_of_data(path)
        elif place.kind is LocationKind.PAGING:
            ours = bool(place.journal or place.bindings) or any(stores(place))
        else:
            ours = place.kind is not LocationKind.PAGE or place.obvious
        if ours:
            return
        if place.kind.is_journal:
            why = str(place.kind)
    except LocateError as err:
        if _is_folder_of_data(path):
            return
        if isinstance(err.__cause__, OSError):
            raise
        why = str(err).removeprefix(f"{path}: ").partition(";")[0]
    raise CallError(
        f"{path}: not a broker's: {why}; name a broker instance or its data directory; disk check, forecast and watch "
        "look at the file system of any path with --any-path"
    )


def refuse_same_brokers(queries: Sequence[DiskQuery]) -> None:
    """Raise ``CallError`` for a query without a folder, or for two of the same folder or name.

    A directory that a broker does not have yet is no error.
    """
    paths = [query.path for query in queries]
    for number, path in enumerate(paths):
        if path is None:
            if queries[number].broker_xml is None:
                raise CallError(NO_DIR)
            continue
        if not (path.is_dir() or (path.suffix == ".xml" and path.is_file())):
            raise CallError(f"{path}: no such folder; name a broker instance or a data directory")
        if any(same(path, other) for other in paths[:number]):
            raise CallError(f"{path}: named twice; name each broker once")
    names: dict[str, object] = {}
    for query in queries:
        if names.setdefault(query.broker, query.subject) != query.subject:
            raise CallError(
                f"{names[query.broker]} and {query.subject} are both called {query.broker} in metrics; "
                "give --broker NAME once for each DIR"
            )


def check_disks(query: DiskQuery, thresholds: Thresholds, *, effects: bool) -> tuple[DiskReport, str]:
    """Return what is to be said of the disks, and what the path was taken for; ``effects``: also on producers."""
    from pagectl.outputs.disk_report import DiskReport

    disks = monitored_disks(query)
    blocked = disks.when_blocked() if effects else ()
    return DiskReport(disks.state(), thresholds, blocked, disks.supposed, disks.assumed), disks.took_for


def _is_folder_of_data(path: Path) -> bool:
    """Return whether a path is the journal, the bindings or the large messages of a data directory."""
    whole = path.absolute()
    try:
        place = locate(whole.parent)
    except LocateError:
        return False
    return (
        whole.is_dir()
        and place.kind is LocationKind.DATA
        and any(
            whole.name in names and any(folder not in (None, whole) for folder in place.read_folders)
            for names in LAYOUT.values()
        )
    )
