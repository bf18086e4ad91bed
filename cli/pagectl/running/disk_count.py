"""Counting where the bytes of a place are, with progress: for ``disk usage``, ``forecast`` and ``watch``."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pagectl.terminal.progress import progress
from pagefmt.directory.locate import DataLocation, LocationKind
from pagefmt.directory.permissions import ClosedFiles
from pagefmt.directory.usage import (
    Counted,
    DirectoryUsage,
    FileTotals,
    count_rest,
    count_store,
    count_stores,
    count_tree,
)
from pagefmt.directory.usage_content import JournalContent, LargeOwners, journal_content
from pagefmt.errors import PageFmtError
from pagefmt.journal.load import LoadedJournal
from pagefmt.storage.files import NotReadable


@dataclass(slots=True)
class Counting:
    """What was counted; ``remarks`` say what could not be."""

    place: DataLocation
    usage: DirectoryUsage
    journal: JournalContent | None = None
    remarks: list[str] = field(default_factory=list)

    def look(self, journal: LoadedJournal) -> None:
        """Record how much of the message journal is still needed."""
        from pagefmt.change.compaction.journals import JournalFiles, freeable
        from pagefmt.journal.files import Journal

        free = None
        if self.place.journal is not None:
            with suppress(OSError):  # a running broker takes files away
                free = freeable(JournalFiles("journal", Journal.MESSAGES, self.place.journal, journal))
        self.journal = journal_content(journal, free)


def count(place: DataLocation, *, contents: bool = True) -> Counting:
    """Return the sizes of everything in the directory.

    ``contents``: the journal is read as well, and pages if large messages need an owner.
    """
    counting = Counting(place, DirectoryUsage())
    with progress("counting", None, "folders") as bar:
        _sizes(place, counting.usage, bar.advance)
    if contents and place.store is None:
        _contents(counting)
    counting.remarks += counting.usage.unreadable
    if counting.usage.closed:
        counting.remarks.append(str(ClosedFiles(min(counting.usage.closed), len(counting.usage.closed), 0)))
    counting.usage.addresses.sort(key=lambda row: (-row.bytes, row.address or "", row.folder or ""))
    return counting


def _sizes(place: DataLocation, usage: DirectoryUsage, counted: Counted) -> None:
    if place.store is not None:
        usage.addresses.append(count_store(place.store, usage))
        return
    if place.paging is not None:
        count_stores(place.paging, usage, counted)
    usage.journal, usage.bindings, usage.large = (
        count_tree(os.fspath(folder), usage) if folder else FileTotals()
        for folder in (place.journal, place.bindings, place.large_messages)
    )
    if place.kind in (LocationKind.INSTANCE, LocationKind.DATA):
        folders = (place.paging, place.journal, place.bindings, place.large_messages)
        skip = frozenset(os.path.realpath(folder) for folder in folders if folder)
        count_rest(_folder(place.given), usage, skip, counted)


def _folder(path: Path) -> Path:
    """Return the instance's folder, also for the path of its configuration file."""
    if path.is_dir():
        return path
    return path.parent.parent if path.parent.name == "etc" else path.parent


def _contents(counting: Counting) -> None:
    from pagefmt.vectors import load_place

    place, usage = counting.place, counting.usage
    loaded = load_place(place, inspect=counting.look).known
    counting.remarks += [unknown.reason for unknown in loaded.unknown() if not unknown.missing]
    counting.remarks += loaded.lost()
    if loaded.unread is not None:
        counting.journal = None
    if place.large_messages is None or not usage.large.files:
        return
    try:
        owners = LargeOwners.of(place.large_messages, usage)
        if loaded.bindings is not None:
            owners.from_journal(loaded.journal, loaded.bindings)
    except (NotReadable, PageFmtError) as err:
        counting.remarks.append(str(err))
        return
    if place.paging is not None and owners.unknown:
        with progress("looking for the owners of large messages", usage.paging.bytes) as bar:
            counting.remarks += owners.from_pages(place.paging, bar.advance)
