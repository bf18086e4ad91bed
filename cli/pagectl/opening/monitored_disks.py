"""What a ``disk`` command looks at: the directories that count, the limits in force, and where both come from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
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
    from pagectl.opening.configuration import BrokerConfiguration
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
        """One text for one place, however it was written."""
        return os.path.realpath(self.root)

    def state(self) -> DiskState:
        """The state of the file systems now; raises ``CallError`` when none of the directories exists."""
        from pageengine.disk.state import DiskState
        from pagefmt.bytes.filesystems import file_systems

        found, missing = file_systems(self.directories)
        if not found:
            own = self.configuration.directories.paging_candidates if self.configuration else ()
            names = ", ".join(str(path) for path in dict.fromkeys((*self.directories.values(), *own)))
            raise CallError(f"{names}: no such directory: name a broker instance or a data directory")
        return DiskState.of(self.settings, self.edition, found, missing)

    def when_blocked(self) -> tuple[WhenBlocked, ...]:
        """What producers of each address feel while the broker blocks."""
        from pageengine.disk.config import when_blocked

        return when_blocked(self.configuration and self.configuration.settings(tell=False), self.edition)


def monitored_disks(query: DiskQuery) -> MonitoredDisks:
    """The disks of an instance, a data directory, a directory of one, or, if the query says so, of any path.

    Without limits from options those of the instance count, also where ``path`` is one of its directories. Directories
    may come from variables of the environment. In other settings the variables are only named, because the settings are
    shown, and the broker's environment need not be this one.
    Raises ``CallError``, also for a path that is no broker's, and what reading a configuration raises.
    """
    options = replace(query.options, names_environment=True)
    broker_xml, limits, query = query.broker_xml, query.limits, query._replace(options=options)
    path = query.path or (None if broker_xml else from_environment())
    if broker_xml is not None:
        found = opened(broker_xml, None, options) if path is None else configuration_for(path, broker_xml, options)[1]
    elif path is None:
        raise CallError("no path given: name one, or --config, or set ARTEMIS_INSTANCE")
    else:
        own = _own_configuration(path, limits, options)
        if own is None:
            return _without_configuration(query._replace(path=path), options.edition or NEWEST)
        found = own
    return _configured(query._replace(path=path if broker_xml is not None else None), found)


def _own_configuration(
    path: Path, limits: DiskSettings | None, options: ConfigurationOptions
) -> BrokerConfiguration | None:
    """Of the instance that ``path`` is, or whose directories it belongs to."""
    if configuration_in(path) is not None or is_configuration(path):
        return opened(path, None, options)
    above = None if limits else instance_above(path)
    if above is None:
        return None
    found = opened(above, None, options)
    return found if any(_related(path, directory) for directory in _watched(found).values()) else None


def _related(path: Path, directory: Path) -> bool:
    one, other = (os.path.realpath(place) for place in (path, directory))
    return os.path.commonpath((one, other)) in (one, other)


def _watched(found: BrokerConfiguration) -> dict[str, Path]:
    from pageengine.disk.config import watched

    return watched(found.document, found.directories)


def _configured(query: DiskQuery, found: BrokerConfiguration) -> MonitoredDisks:
    """With the configuration's limits, and its directories; where none of them is there, those of ``path``."""
    from pageengine.disk.config import DiskConfigError, disk_settings

    if query.anyway is None:
        note_no_start(found)
    else:
        require_start(found, anyway=query.anyway)
    path, limits, release = query.path, query.limits, found.start.release
    edition = edition_of_monitor(release) if release else found.edition
    took_for, supposed = found.base_remark or f"instance of {found.start.config}", ""
    if found.document.partial:
        unknown = f"{found.document.under} is not known"
        took_for += f"; {unknown}"
        read = found.settings(tell=False).broker()
        set_here = any(name in read and read[name].origin for name in ("max-disk-usage", "min-disk-free"))
        supposed = "" if limits or set_here else unknown
    document = found.with_defaults().document
    try:
        settings = limits or disk_settings(document, edition, found.entries)
    except DiskConfigError as err:
        if not query.anyway:
            raise
        settings, supposed = disk_settings(document, edition, found.entries, lenient=True), str(err)
    assumed = "" if query.options.edition else release or found.sources["edition"]
    directories, root = _watched(found), found.root
    if path is not None and not any(directory.exists() for directory in directories.values()):
        plain = _without_configuration(query, edition)
        directories, took_for, root = plain.directories, plain.took_for, path
    return MonitoredDisks(directories, settings, edition, took_for, root, found, supposed, assumed)


def _without_configuration(query: DiskQuery, edition: Edition) -> MonitoredDisks:
    path = query.path or Path()
    if not query.any_path:
        _refuse_other_path(path)
    found = {name: path / folder for name, folders in LAYOUT.items() for folder in folders if (path / folder).is_dir()}
    took = "data directory" if found else "path"
    return MonitoredDisks(
        found or {"path": path}, query.limits or DiskSettings(), edition, took, path,
        assumed="" if query.options.edition else "the newest: no configuration is read",
    )  # fmt: skip


def _refuse_other_path(path: Path) -> None:
    """Raise ``CallError`` for a path in which nothing of a broker is found.

    The name of an empty folder alone is no evidence: where a file system is not mounted, its mount point is empty.
    """
    why = "nothing in it is a broker's"
    try:
        place = locate(path)
        if place.kind is LocationKind.PAGING:
            ours = bool(place.journal or place.bindings) or any(stores(place))
        else:
            ours = place.kind is not LocationKind.PAGE or place.obvious
        if ours:
            return
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
