"""A broker's history: from DIR and ``--history`` to the messages that it has."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pagectl.opening.broker import Alone, OpenedBroker, open_broker
from pagectl.options.journal_records import zone_of
from pagectl.options.times import in_both_zones, parse_instant
from pagectl.running.exits import CallError
from pagectl.terminal.progress import progress
from pagectl.terminal.streams import note, warning
from pagefmt.directory.fleet import HistoryFiles
from pagefmt.findings import some
from pagefmt.history.history import History, load_history
from pagefmt.history.queues import past_queues
from pagefmt.journal.files import Journal
from pagefmt.journal.listing import list_files
from pagefmt.journal.retained import RETAINED_NAME, WITHIN, end_of_records
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from pagectl.opening.broker_configuration import BrokerConfiguration
    from pagectl.options.groups import BrokerOptions
    from pagectl.options.history import HistoryPlaceOptions
    from pagefmt.directory.bindings import QueueBinding
    from pagefmt.directory.fleet import FleetBroker
    from pagefmt.directory.locate import DataLocation
    from pagefmt.history.queues import PastQueues
    from pagefmt.outstanding.state import PagingState

_FOLDER = "history"  # beside the data directory, where no configuration names another one
_SHOWN = 5


class OpenedHistory(NamedTuple):
    """A history, and the broker that it belongs to. ``state``: the names of its queues, those that are gone, too.

    ``retention``: its folder, None if there is none. ``damaged``: some of its files cannot be read.
    """

    place: DataLocation
    retention: Path | None
    state: PagingState
    history: History
    damaged: bool


def open_history(directory: Path | None, broker: BrokerOptions, options: HistoryPlaceOptions) -> OpenedHistory:
    """Open the history that DIR has, or is. Notes what is read, and warns of files that cannot be read.

    Raises ``CallError`` if there is no journal file in it, and the errors of opening a broker.
    """
    from pagefmt.vectors import load_pages

    opened = open_broker(directory, broker.broker_xml, broker.reading(), far=True, alone=Alone.MESSAGES)
    retention, place = _retention(opened, options.retention)
    _require(retention, place)
    zone = zone_of(options.timezone)
    with progress("reading the history", _size(retention, place.journal), beside_output=False) as bar:
        history = load_history(place, retention, zone, _page_size(opened.configuration), bar.advance)
    _tell(place, retention, history, options.timezone, configured=opened.configuration is not None)
    state = load_pages(place)
    return OpenedHistory(place, retention, _with_past(state, history.queues), history, _warn(history))


def history_files(broker: FleetBroker, options: HistoryPlaceOptions, named: BrokerOptions) -> FleetBroker:
    """Return a broker with the files of its history. Raise ``CallError`` without any journal."""
    opened = open_broker(broker.place.given, named.broker_xml, named.reading(), alone=Alone.MESSAGES)
    retention, place = _retention(opened._replace(place=broker.place), options.retention)
    _require(retention, place)
    zone_of(options.timezone)
    page_size = _page_size(opened.configuration)
    addresses = set(past_queues(place.bindings).addresses.values())
    sizes = {address: size for address in addresses if (size := page_size(address)) is not None}
    folder = None if retention is None else retention.absolute()
    return replace(broker, place=place, history=HistoryFiles(folder, options.timezone, sizes))


def _require(retention: Path | None, place: DataLocation) -> None:
    if retention is None and place.journal is None:
        raise CallError(f"{place.given}: no journal, and no retention folder; name that with --history FOLDER")


def _retention(opened: OpenedBroker, named: Path | None) -> tuple[Path | None, DataLocation]:
    """Return the retention folder, None if there is none, and the other directories of the broker."""
    place, configuration = opened.place, opened.configuration
    if named is not None and not named.is_dir():
        raise CallError(f"--history {named}: no such folder")
    if place.kind.is_journal and place.journal is not None and _is_retention(place.journal):
        if named is not None:
            raise CallError(f"--history {named}: DIR is a retention folder itself; give one of the two")
        return place.journal, place._replace(journal=None)
    if named is not None:
        return named, place
    if configuration is not None and (configured := configuration.directories.retention) is not None:
        return (configured if configured.is_dir() else None), place
    data = (place.journal or place.given).absolute().parent
    beside = (data / _FOLDER, data.parent / _FOLDER)
    return next((folder for folder in beside if folder.is_dir() and _is_retention(folder)), None), place


def _is_retention(folder: Path) -> bool:
    """Return whether all journal files of a folder, or a single file, are copies for a history."""
    if folder.is_file():
        return RETAINED_NAME.fullmatch(folder.name) is not None
    names = [path.name for path in folder.iterdir() if path.name.endswith((".amq", ".hq"))]
    return bool(names) and all(map(RETAINED_NAME.fullmatch, names))


def _size(*folders: Path | None) -> int:
    """Return the bytes of all files in these folders."""
    files = (folder if folder.is_file() else folder.iterdir() for folder in folders if folder is not None)
    every = (path for some_files in files for path in ([some_files] if isinstance(some_files, Path) else some_files))
    return sum(path.stat().st_size for path in every if path.is_file())


def _page_size(configuration: BrokerConfiguration | None) -> Callable[[str], int | None]:
    if configuration is None:
        return lambda _address: None
    settings = configuration.settings(tell=False)

    @cache
    def page_size(address: str) -> int | None:
        value = settings.address(address)["page-size-bytes"].value
        return value if isinstance(value, int) else None

    return page_size


def _with_past(state: PagingState, past: PastQueues) -> PagingState:
    """Return the state with the queues that are gone. Of several with one name the newest is known by it."""
    bindings = state.bindings
    if bindings is None:
        return state
    named: dict[tuple[str, str], QueueBinding] = {}
    for number, queue in sorted((past.queues | bindings.queues).items()):
        before = named.get((queue.address, queue.name))
        if before is None or before.id not in bindings.queues or number in bindings.queues:
            named[queue.address, queue.name] = queue
    bindings = copy(bindings)
    bindings.queues = {queue.id: queue for queue in named.values()}
    return replace(state, known=state.known._replace(bindings=bindings))


def _tell(
    place: DataLocation, retention: Path | None, history: History, timezone: str | None, *, configured: bool
) -> None:
    """Note which files were read, and in which zone their names are understood."""
    records = history.records
    copied = sum(RETAINED_NAME.fullmatch(file.name) is not None for file in records.columns.files)
    others = len(records.columns.files) - copied
    read = [] if retention is None else [f"{count_text(copied, 'file')} of {retention}"]
    if place.journal is not None:
        read.append(f"{count_text(others, 'file')} of {place.journal}")
    zone = timezone or f"the zone of this machine ({datetime.now().astimezone().tzname()}; see --timezone)"
    times = f"; times in their names are read in {zone}" if copied else ""
    note(f"history: {' and '.join(read)}{times}")
    if retention is None:
        note("there is no retention folder: only what the files of the journal still have is known")
    elif place.journal is None:
        note("what happened after the last copy is not known: the journal is not read; name the instance for that")
    if alone := int(np.count_nonzero(history.messages.row < 0)):
        note(f"{count_text(alone, 'message')} in pages without a copy in the history; --in live shows them")
    if history.messages.unmatched.queue.size:
        lost = count_text(len(history.messages.unmatched.queue), "acknowledgement")
        way = "" if configured else "; with a configuration (--config) more of it may be told"
        note(f"{lost} of messages that no file has any more, or whose place in pages cannot be told{way}")


def _warn(history: History) -> bool:
    """Warn of files that cannot be read. Return whether there are any."""
    damage = history.records.damage
    if damage is None:
        return False
    warning(f"the history is damaged ({damage.place}): messages and acknowledgements may be missing")
    return True


def position_as_of(opened: OpenedHistory, text: str) -> int:
    """Return the position of ``--as-of``: behind the last record of a file. Notes which file that is.

    Raises ``CallError`` if there is no such file, or none was copied by that time.
    """
    records = opened.history.records
    files = [records.columns.files[n] for n in records.order]
    for file, end in zip(files, records.ends, strict=True):
        if text in (file.name, str(file.path)):
            note(f"as of the end of {file.name}")
            return end - 1
    if (position := _end_of_copy(opened, text)) is not None:
        return position
    try:
        instant = parse_instant(text, datetime.now(UTC))
    except ValueError as err:
        names = some([file.name for file in files], _SHOWN) if files else "none"
        raise CallError(f"--as-of: no file of this name in the history ({names}), and {err}") from err
    reached: tuple[str, int] | None = None
    for n, end in zip(records.order, records.ends, strict=True):
        latest = records.brackets[n].not_after
        if RETAINED_NAME.fullmatch(records.columns.files[n].name) and latest is not None and latest - WITHIN <= instant:
            reached = records.columns.files[n].name, end - 1
    if reached is None:
        raise CallError(f"--as-of {in_both_zones(instant)}: no file of the history was copied by then")
    note(f"as of the end of {reached[0]}, the last file that was copied by {in_both_zones(instant)}")
    return reached[1]


def _end_of_copy(opened: OpenedHistory, name: str) -> int | None:
    """Return the position of the end of a retained file that is the beginning of a later copy; None: it is not."""
    records, folder = opened.history.records, opened.retention
    if folder is None or Path(name).name != name or not RETAINED_NAME.fullmatch(name) or not (folder / name).is_file():
        return None
    (file,) = list_files(folder / name, Journal.MESSAGES).files or (None,)
    same = [n for n in records.order if file is not None and records.columns.files[n].header == file.header]
    if file is None or not same:
        return None
    note(f"as of the end of {name}, which is the beginning of {records.columns.files[same[-1]].name}")
    return records.position_before(same[-1], end_of_records(file))
