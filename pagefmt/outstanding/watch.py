"""What is outstanding beside a running broker, look after look (docs/spec/page-files.md 3).

A page is read again where its file, or what the journal says about it, is not as it was. A broker writes to the newest
page of a store only and every new or deleted page changes the folder, so a store is listed again where folder or newest
page changed. Memory: some 600 bytes a page, whatever a page holds, and what the journal takes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from pagefmt.bytes.files import FileGone, NotReadable
from pagefmt.directory.locate import DataLocation
from pagefmt.directory.locks import running_broker
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.journal.positions import scattered
from pagefmt.outstanding.backlog import Backlog, first_timestamp
from pagefmt.outstanding.knowledge import KnownJournals, load_journals
from pagefmt.outstanding.page_load import PageLoad, QueueLoad
from pagefmt.outstanding.state import DELETED, PagingState, StoreState
from pagefmt.pages.gather import Ints
from pagefmt.pages.page import open_page
from pagefmt.pages.paging import (
    ADDRESS_FILE,
    AddressText,
    EntryKind,
    PageFile,
    PagingDirectory,
    Store,
    page_name,
    read_address,
    read_paging,
    shared_addresses,
    store_entries,
)

if TYPE_CHECKING:
    from pagefmt.journal.positions import Fingerprints

SETTLED: Final = 1_000_000_000
"""Nanoseconds: a file that changed later than so long ago may change again within the same tick of its clock."""
LISTED_AGAIN: Final = 600.0
"""Seconds: after so long a folder is listed whatever it looks like."""

Signature: TypeAlias = tuple[tuple[str, int, int, int], ...]
Table: TypeAlias = npt.NDArray[np.void]
_COLUMNS: Final = np.dtype(
    [(name, np.int64) for name in ("number", "size", "changed", "low", "high")]
    + [(name, np.uint64) for name in ("marks", "sent")]
)


class WatchedStore(NamedTuple):
    """One store folder. ``queues`` None: what is outstanding is not known. ``damaged``: pages that are."""

    address: str | None
    pages: int
    bytes: int
    damaged: int
    queues: tuple[Backlog, ...] | None


class BrokerBacklog(NamedTuple):
    """All stores. ``live``: a broker is at work; ``damaged``: journal or bindings are; ``read``: pages in this look."""

    stores: tuple[WatchedStore, ...]
    live: bool
    damaged: bool
    read: int


class PagesWatch:
    """The pages of one broker. ``look`` raises ``NotReadable`` where the paging directory cannot be listed."""

    def __init__(self, place: DataLocation) -> None:
        self.place = place
        self._stores: dict[str, _StoreWatch] = {}
        self._known: tuple[KnownJournals, _JournalView] | None = None
        self._loads = 0
        self._seen: Signature | None = None

    def look(self) -> BrokerBacklog:
        """What there is now: stores are listed before the journal is read, which then knows everything about them."""
        live = running_broker(self.place.journal) is not None
        paging = PagingDirectory(self.place.given, (), ())
        if self.place.paging is not None:
            paging = read_paging(self.place.paging)
        self._list(paging)
        known, journal = self._journals()
        stores = [self._stores[name] for name in sorted(self._stores)]
        shared = shared_addresses(
            (each, self._stores[each].text.address) for each in paging.listing if each in self._stores
        )
        state = PagingState(paging, known, shared, live=live)
        judged = zip(stores, state.of(store.newest() for store in stores), strict=True)
        read = sum(store.judge(found, journal) for store, found in judged)
        return BrokerBacklog(tuple(store.backlog for store in stores), live, known.damaged, read)

    def _list(self, paging: PagingDirectory) -> None:
        for gone in self._stores.keys() - set(paging.listing):
            del self._stores[gone]
        for name in paging.listing:
            store = self._stores.get(name) or _StoreWatch(paging.path / name)
            try:
                store.list()
                self._stores[name] = store
            except FileGone:
                self._stores.pop(name, None)

    def _journals(self) -> tuple[KnownJournals, _JournalView]:
        """Read again where one of their files changed."""
        seen = _signature(folder for folder in (self.place.journal, self.place.bindings) if folder is not None)
        if self._known is None or seen is None or seen != self._seen:
            self._known = None  # the old one goes before the new one is read
            self._loads += 1
            known = load_journals(self.place)
            self._known = known, _JournalView(known.journal, self._loads)
        # what could not be read may be readable the next time, with no file changed
        self._seen = None if self._known[0].damaged else seen
        return self._known


def _signature(folders: Iterable[Path]) -> Signature | None:
    """Name, size, time of change and number of each file; None where they may change without a difference in it."""
    found = []
    for folder in folders:
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    status = entry.stat(follow_symlinks=False)
                    found.append((entry.path, status.st_size, status.st_ctime_ns, status.st_ino))
    return tuple(sorted(found)) if all(_settled(changed) for _, _, changed, _ in found) else None


def _settled(changed: int) -> bool:
    return changed < time.time_ns() - SETTLED


class _Group(NamedTuple):
    """Queues for which a page holds the same: the first outstanding message has the number ``first`` and ``begins`` at
    that offset."""

    queues: tuple[int, ...]
    messages: int
    bytes: int
    in_doubt: int
    first: int
    begins: int


class _PageNote(NamedTuple):
    """What is remembered of a page."""

    size: int
    held_by: tuple[int, ...]
    groups: tuple[_Group, ...]
    readable: bool
    damaged: bool
    moving: bool


@dataclass(slots=True)
class _Sum:
    """Over the pages that hold something for the same queues: of groups, or of files."""

    queues: tuple[int, ...]
    pages: int = 0
    messages: int = 0
    bytes: int = 0
    in_doubt: int = 0

    def add(self, sign: int, messages: int, size: int, in_doubt: int) -> None:
        """One page more (1) or less (-1), or what is summed up already (0)."""
        self.pages += sign
        factor = sign or 1
        self.messages += factor * messages
        self.bytes += factor * size
        self.in_doubt += factor * in_doubt


@dataclass(slots=True)
class _StoreWatch:
    """One folder: its listing, what is remembered of its pages, and the sums of that."""

    folder: Path
    text: AddressText = field(default_factory=lambda: AddressText(None))
    problem: str | None = None
    backlog: WatchedStore = field(default_factory=lambda: WatchedStore(None, 0, 0, 0, None))
    _listed: Table = field(default_factory=lambda: np.zeros(0, _COLUMNS))
    _table: Table = field(default_factory=lambda: np.zeros(0, _COLUMNS))
    _seen: tuple[int, ...] | None = None
    _when: float = 0.0
    _listings: int = 0
    _notes: dict[int, _PageNote] = field(default_factory=dict)
    _sums: dict[tuple[int, ...], _Sum] = field(default_factory=dict)
    _files: dict[tuple[int, ...], _Sum] = field(default_factory=dict)
    _again: set[int] = field(default_factory=set)
    _unreadable: set[int] = field(default_factory=set)
    _damaged: set[int] = field(default_factory=set)
    _sent_at: dict[int, dict[int, int | None]] = field(default_factory=dict)
    _judged: tuple[object, ...] = ()

    def list(self) -> None:
        """List the folder again if it has to be. Raises ``FileGone``."""
        try:
            status = self.folder.lstat()
        except OSError as err:
            raise FileGone(f"{self.folder}: {err.strerror}") from err
        seen = status.st_ino, status.st_ctime_ns
        if seen == self._seen and time.monotonic() - self._when < LISTED_AGAIN and self._newest_as_it_was():
            return
        rows, self.problem = [], None
        try:
            for entry, status in store_entries(self.folder):
                if entry.kind is EntryKind.PAGE:
                    rows.append((entry.number, entry.size, status.st_ctime_ns, 0, -1, 0, 0))
        except FileGone:
            raise
        except NotReadable as err:
            self.problem = str(err)
        self.text = read_address(self.folder / ADDRESS_FILE)
        self._listed = np.sort(np.array(rows, _COLUMNS), order="number")
        self._listings += 1
        self._seen, self._when = seen if _settled(seen[1]) else None, time.monotonic()

    def _newest_as_it_was(self) -> bool:
        if not len(self._listed):
            return True
        row = self._listed[-1]
        try:
            status = (self.folder / page_name(int(row["number"]))).lstat()
        except OSError:
            return False
        return bool(status.st_size == row["size"] and status.st_ctime_ns == row["changed"])

    def newest(self) -> Store:
        """The store for those who judge it: of its pages the newest one alone."""
        return Store(self.folder, self.text, tuple(map(self._page, self._listed[-1:])), (), self.problem)

    def _page(self, row: np.void) -> PageFile:
        number = int(row["number"])
        return PageFile(number, self.folder, page_name(number), int(row["size"]))

    def judge(self, state: StoreState, journal: _JournalView) -> int:
        """Bring ``backlog`` up to date; how many pages were read for that."""
        facts = journal.number, self._listings, state.live, state.same_address
        if facts == self._judged and not self._again:
            return 0
        read = self._read(state, state.queues, journal) if state.unknown is None and state.queues else 0
        sizes = self._listed["size"]
        self.backlog = WatchedStore(
            self.text.address, len(sizes), int(sizes.sum()), len(self._damaged), self._queues(state)
        )
        self._judged = facts
        return read

    def _read(self, state: StoreState, queues: Collection[int], journal: _JournalView) -> int:
        """Read the pages that are not as they were when they were read, and forget those that are gone."""
        new, old = self._listed.copy(), self._table
        new["marks"] = journal.marks(new["number"], queues)
        here, at = _where_equal(new["number"], old["number"])
        for name in ("low", "high"):
            new[name][here] = old[name][at]
        new["sent"] = journal.sent(new["low"], new["high"], state.live)
        same = np.zeros(len(new), bool)
        same[here] = np.all([new[name][here] == old[name][at] for name in ("size", "changed", "marks", "sent")], axis=0)
        same &= ~np.isin(new["number"], list(self._again))
        for number in np.setdiff1d(old["number"], new["number"]).tolist():
            self._remember(number, None)
        fresh = np.flatnonzero(~same)
        for row in fresh.tolist():
            page = self._page(new[row])
            load, found = state.page(page)
            motion = None if load.damage is None else state.motion(page, load.damage)
            new["low"][row], new["high"][row] = load.transactions or (0, -1)
            self._remember(page.number, None if motion == DELETED else self._note(load, found, motion))
        new["sent"][fresh] = journal.sent(new["low"][fresh], new["high"][fresh], state.live)
        self._table = new
        return len(fresh)

    def _note(self, load: PageLoad, found: dict[int, QueueLoad], motion: str | None) -> _PageNote:
        alike: dict[tuple[int, int, int, int, int], list[int]] = {}
        for queue, held in sorted(found.items()):
            first = held.first[1] if held.first else -1
            alike.setdefault((held.messages, held.bytes, held.in_doubt, first, held.begins), []).append(queue)
        groups = tuple(_Group(_shared(self._sums, tuple(queues)), *what) for what, queues in alike.items())
        held_by = _shared(self._files, load.held_by)
        return _PageNote(
            load.size, held_by, groups, load.readable, load.damage is not None and motion is None, motion is not None
        )

    def _remember(self, number: int, note: _PageNote | None) -> None:
        """In place of what was remembered of the page."""
        self._sent_at.pop(number, None)
        before = self._notes.pop(number, None)
        if before is not None:
            self._add(before, -1)
        for numbers in (self._again, self._damaged, self._unreadable):
            numbers.discard(number)
        if note is None:
            return
        self._notes[number] = note
        self._add(note, 1)
        if note.damaged:
            self._damaged.add(number)
        if not note.readable:
            self._unreadable.add(number)
        if note.moving or not note.readable:
            self._again.add(number)

    def _add(self, note: _PageNote, sign: int) -> None:
        for group in note.groups:
            _sum(self._sums, group.queues).add(sign, group.messages, group.bytes, group.in_doubt)
        _sum(self._files, note.held_by).add(sign, 0, note.size, 0)
        for sums, queues in ((self._files, note.held_by), *((self._sums, group.queues) for group in note.groups)):
            if queues in sums and not sums[queues].pages:
                del sums[queues]

    def _queues(self, state: StoreState) -> tuple[Backlog, ...] | None:
        """None where it is not known."""
        if (state.unknown is not None and len(self._listed)) or self.problem is not None or self._unreadable:
            return None
        if state.unknown is not None or not state.queues:
            return ()
        waiting = {queue: _Sum((queue,)) for queue in state.queues}
        held, alone = dict.fromkeys(waiting, (0, 0)), dict.fromkeys(waiting, 0)
        for queues, found in self._sums.items():
            for queue in waiting.keys() & set(queues):
                waiting[queue].add(0, found.messages, found.bytes, found.in_doubt)
        for queues, found in self._files.items():
            holders = waiting.keys() & set(queues)
            for queue in holders:
                pages, size = held[queue]
                held[queue] = pages + found.pages, size + found.bytes
                alone[queue] += found.bytes if len(holders) == 1 else 0
        oldest = self._oldest(state, {queue for queue, found in waiting.items() if found.messages})
        return tuple(
            Backlog(
                self.text.address, self.folder.name, binding.name, queue, waiting[queue].messages,
                waiting[queue].bytes, waiting[queue].in_doubt, *held[queue], alone[queue], oldest.get(queue),
            )
            for queue, binding in sorted(state.queues.items())
        )  # fmt: skip

    def _oldest(self, state: StoreState, queues: set[int]) -> dict[int, int]:
        """By queue, where one of the first outstanding messages has a timestamp."""
        first: dict[int, tuple[int, _Group]] = {}
        for number in self._table["number"].tolist():
            if len(first) == len(queues):
                break
            for group in self._notes[number].groups if number in self._notes else ():
                for queue in queues.intersection(group.queues if group.messages else ()):
                    first.setdefault(queue, (number, group))
        before, self._sent_at = self._sent_at, {}
        wanted: dict[int, list[tuple[int, _Group]]] = {}
        for queue, (page, group) in first.items():
            wanted.setdefault(page, []).append((queue, group))
        for page, each in wanted.items():
            known = self._sent_at[page] = before.get(page, {})
            known |= self._timestamps(state, page, [one for one in each if one[0] not in known])
        sent = {queue: self._sent_at[page].get(queue) for queue, (page, _) in first.items()}
        return {queue: when for queue, when in sent.items() if when is not None}

    def _timestamps(
        self, state: StoreState, page: int, queues: Collection[tuple[int, _Group]]
    ) -> Iterator[tuple[int, int | None]]:
        if not queues:
            return
        row = self._table[np.searchsorted(self._table["number"], page)]
        with open_page(self._page(row)) as opened:
            rule = state.sure_rule(page)
            for queue, group in queues:
                yield queue, first_timestamp(opened, rule, queue, group.begins, group.first)


def _shared(sums: dict[tuple[int, ...], _Sum], queues: tuple[int, ...]) -> tuple[int, ...]:
    """The same ids, as they are kept already: many pages are for the same queues."""
    found = sums.get(queues)
    return queues if found is None else found.queues


def _sum(sums: dict[tuple[int, ...], _Sum], queues: tuple[int, ...]) -> _Sum:
    found = sums.get(queues)
    if found is None:
        found = sums[queues] = _Sum(queues)
    return found


def _where_equal(values: Ints, among: Ints) -> tuple[Ints, Ints]:
    """Which of the values are among those, which ascend, and where."""
    if not len(among):
        none = np.zeros(0, np.int64)
        return none, none
    at = np.searchsorted(among, values).clip(max=len(among) - 1)
    here = np.flatnonzero(among[at] == values)
    return here, at[here]


class _JournalView:
    """What a journal says about pages, as one number a page that differs where it does. ``number``: of the journal."""

    def __init__(self, journal: MessageJournal, number: int) -> None:
        self.number = number
        self._indexes = journal.ack_index, journal.complete_index, journal.in_doubt_acks
        known = np.array(sorted(journal.page_transactions.keys() | journal.in_doubt_sends), np.int64)
        words = scattered(known)
        words[np.isin(known, list(journal.in_doubt_sends))] *= np.uint64(3)
        self._transactions = known
        self._upto = np.concatenate([np.zeros(1, np.uint64), np.cumsum(words, dtype=np.uint64)])

    def marks(self, pages: Ints, queues: Iterable[int]) -> Fingerprints:
        """Of acknowledgements of these queues."""
        marks = np.zeros(len(pages), np.uint64)
        for queue in queues:
            for kind, index in enumerate(self._indexes):
                if queue in index:
                    numbers, prints = index.fingerprints(queue)
                    which, at = _where_equal(numbers, pages)
                    of_queue = scattered(np.array([queue], np.int64)) | np.uint64(1)
                    marks[at] += prints[which] * of_queue * np.uint64(2 * kind + 1)
        return marks

    def sent(self, low: Ints, high: Ints, live: bool) -> Fingerprints:
        """Of the page transactions from ``low`` to ``high``."""
        first = np.searchsorted(self._transactions, low)
        behind = np.searchsorted(self._transactions, high, side="right")
        found: Fingerprints = (self._upto[behind] - self._upto[first]) * (low <= high) + np.uint64(live) * (low <= high)
        return found
