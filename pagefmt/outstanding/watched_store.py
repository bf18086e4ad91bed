"""A store that is watched: its listing, a note for each of its pages, and sums over the notes."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from pagefmt.codec.pages.frames import DamageKind
from pagefmt.codec.pages.page import open_page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.directory.paging import (
    ADDRESS_FILE,
    AddressText,
    EntryKind,
    Store,
    StoreEntry,
    linked_store,
    page_name,
    read_address,
    store_entries,
)
from pagefmt.outstanding.backlog import Backlog, SharedPages, first_timestamp
from pagefmt.outstanding.journal_marks import JournalMarks, where_equal
from pagefmt.outstanding.page_load import PageLoad, QueueLoad
from pagefmt.outstanding.state import DELETED, StoreState
from pagefmt.storage.files import FileGone, NotReadable

# Nanoseconds. A file that changed more recently may change again within the same tick of its clock.
SETTLED: Final = 1_000_000_000
# Seconds after which a folder is listed again even if it looks unchanged.
LISTED_AGAIN: Final = 600.0

Table: TypeAlias = npt.NDArray[np.void]
_COLUMNS: Final = np.dtype(
    [(name, np.int64) for name in ("number", "size", "changed", "low", "high")]
    + [(name, np.uint64) for name in ("marks", "sent")]
)


class WatchedStore(NamedTuple):
    """The backlog of one store folder.

    ``queues`` None: what is outstanding is not known, for the queues in ``uncounted``; ``remarks`` say why.
    ``damaged``: number of damaged pages. ``groups`` of queues hold the ``shared`` bytes, no queue holds the ``free``
    ones, and for the ``unknown`` ones that is not known. ``waiting``: pages with a message that waits for a queue, or
    may do so; ``newest_waits``: the newest page is one of them.
    """

    address: str | None
    pages: int
    bytes: int
    damaged: int
    queues: tuple[Backlog, ...] | None
    folder: Path = Path()
    shared: int = 0
    free: int = 0
    unknown: int = 0
    uncounted: tuple[Backlog, ...] = ()
    remarks: tuple[str, ...] = ()
    groups: tuple[SharedPages, ...] = ()
    waiting: int = 0
    newest_waits: bool = False


def settled(changed: int) -> bool:
    """Return whether a further change of a file last changed then (ns) would give it another time."""
    return changed < time.time_ns() - SETTLED


class _Group(NamedTuple):
    """Queues for which a page holds the same messages.

    The first outstanding message has the number ``first`` and starts at offset ``begins``.
    """

    queues: tuple[int, ...]
    messages: int
    bytes: int
    in_doubt: int
    first: int
    begins: int
    large: int


class _PageNote(NamedTuple):
    """The facts about a page that stay in memory after it was read. ``moving``: a broker is changing it."""

    size: int
    held_by: tuple[int, ...]
    groups: tuple[_Group, ...]
    readable: bool
    damaged: bool
    moving: bool


@dataclass(slots=True)
class _Sum:
    """A sum over the pages that hold something for the same queues: of their groups, or of their files."""

    queues: tuple[int, ...]
    pages: int = 0
    messages: int = 0
    bytes: int = 0
    in_doubt: int = 0
    large: int = 0

    def add(self, sign: int, messages: int, size: int, in_doubt: int, large: int) -> None:
        """Add one page (``sign`` 1), remove one (-1), or add a sum (0)."""
        self.pages += sign
        factor = sign or 1
        self.messages += factor * messages
        self.bytes += factor * size
        self.in_doubt += factor * in_doubt
        self.large += factor * large


@dataclass(slots=True)
class StoreWatch:
    """A store folder: its listing, a note for each of its pages, and sums over the notes."""

    folder: Path
    text: AddressText = field(default_factory=lambda: AddressText(None))
    problem: str | None = None
    backlog: WatchedStore = field(default_factory=lambda: WatchedStore(None, 0, 0, 0, None))
    _listed: Table = field(default_factory=lambda: np.zeros(0, _COLUMNS))
    _table: Table = field(default_factory=lambda: np.zeros(0, _COLUMNS))
    _links: list[StoreEntry] = field(default_factory=list)
    _seen: tuple[int, ...] | None = None
    _when: float = 0.0
    _listings: int = 0
    _notes: dict[int, _PageNote] = field(default_factory=dict)
    _sums: dict[tuple[int, ...], _Sum] = field(default_factory=dict)
    _files: dict[tuple[int, ...], _Sum] = field(default_factory=dict)
    _again: set[int] = field(default_factory=set)
    _unreadable: set[int] = field(default_factory=set)
    _damaged: set[int] = field(default_factory=set)
    _free: set[int] = field(default_factory=set)
    _sent_at: dict[int, dict[int, int | None]] = field(default_factory=dict)
    _judged: tuple[object, ...] = ()

    def list(self, *, linked: bool = False) -> None:
        """List the folder again if it may have changed. Raise ``FileGone``.

        ``linked``: the folder is a symbolic link, which counts as empty.
        """
        try:
            status = self.folder.lstat()
        except OSError as err:
            raise FileGone(f"{self.folder}: {err.strerror}") from err
        seen = status.st_ino, status.st_ctime_ns
        if seen == self._seen and time.monotonic() - self._when < LISTED_AGAIN and self._newest_as_it_was():
            return
        instead = linked_store(self.folder) if linked else None
        rows, self._links, self.problem = [], [], instead and instead.problem
        try:
            for entry, status in () if linked else store_entries(self.folder):
                if entry.kind is EntryKind.PAGE:
                    rows.append((entry.number, entry.size, status.st_ctime_ns, 0, -1, 0, 0))
                elif entry.is_linked_page:
                    self._links.append(entry)
        except FileGone:
            raise
        except NotReadable as err:
            self.problem = str(err)
        self.text = instead.text if instead else read_address(self.folder / ADDRESS_FILE)
        self._listed = np.sort(np.array(rows, _COLUMNS), order="number")
        self._listings += 1
        self._seen, self._when = seen if settled(seen[1]) else None, time.monotonic()

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
        """Return the store with its newest page only, for judging it."""
        return Store(
            self.folder, self.text, tuple(map(self._page, self._listed[-1:])), tuple(self._links), self.problem
        )

    def _page(self, row: np.void) -> PageFile:
        number = int(row["number"])
        return PageFile(number, self.folder, page_name(number), int(row["size"]))

    def judge(self, state: StoreState, journal: JournalMarks, bodies: Mapping[int, int]) -> int:
        """Bring ``backlog`` up to date, and return how many pages were read for that.

        ``bodies``: message id → bytes of its large-message file.
        """
        facts = journal.number, self._listings, state.live, state.same_address
        if facts == self._judged and not self._again:
            return 0
        read = self._read(state, state.queues, journal, bodies) if state.unknown is None and state.queues else 0
        sizes, queues = self._listed["size"], self._queues(state)
        size = int(sizes.sum())
        uncounted = () if queues is not None else self._uncounted(state)
        self.backlog = WatchedStore(
            self.text.address,
            len(sizes),
            size,
            len(self._damaged),
            queues,
            self.folder,
            *(self._others(state) if queues is not None else (0, 0, size)),
            uncounted,
            tuple(self._remarks(state)),
            tuple(self._groups(state)),
            len(self._listed) - len(self._free),
            bool(len(self._listed)) and int(self._listed[-1]["number"]) not in self._free,
        )
        self._judged = facts
        return read

    def _read(
        self, state: StoreState, queues: Collection[int], journal: JournalMarks, bodies: Mapping[int, int]
    ) -> int:
        """Read the pages that changed since they were read, and forget those that are gone."""
        # A page is read again only if its row differs from the one at the last reading: its size, its time, the
        # fingerprint of its acknowledgements (``marks``), or that of its transactions ``low`` to ``high`` (``sent``).
        new, old = self._listed.copy(), self._table
        new["marks"] = journal.marks(new["number"], queues)
        known_rows, at = where_equal(new["number"], old["number"])
        for name in ("low", "high"):
            new[name][known_rows] = old[name][at]
        new["sent"] = journal.sent(new["low"], new["high"], state.live)
        same = np.zeros(len(new), bool)
        same[known_rows] = np.all(
            [new[name][known_rows] == old[name][at] for name in ("size", "changed", "marks", "sent")], axis=0
        )
        same &= ~np.isin(new["number"], list(self._again))
        for number in np.setdiff1d(old["number"], new["number"]).tolist():
            self._remember(number, None)
        fresh = np.flatnonzero(~same)
        for row in fresh.tolist():
            page = self._page(new[row])
            load, loads = state.page(page)
            motion = None if load.damage is None else state.motion(page, load.damage)
            new["low"][row], new["high"][row] = load.transactions or (0, -1)
            self._remember(page.number, None if motion == DELETED else self._note(load, loads, motion, bodies))
        new["sent"][fresh] = journal.sent(new["low"][fresh], new["high"][fresh], state.live)
        self._table = new
        return len(fresh)

    def _note(
        self, load: PageLoad, loads: dict[int, QueueLoad], motion: str | None, bodies: Mapping[int, int]
    ) -> _PageNote:
        """Return what is remembered of a page that was read.

        Queues with equal loads share a group. ``motion``: what a broker is doing with the page, which explains its
        damage; None if nothing. ``bodies``: message id → bytes of its large-message file.
        """
        alike: dict[tuple[int, int, int, int, int, int], list[int]] = {}
        for queue, of_queue in sorted(loads.items()):
            first = of_queue.first[1] if of_queue.first else -1
            large = sum(bodies.get(message, 0) for message in of_queue.large)
            key = (of_queue.messages, of_queue.bytes, of_queue.in_doubt, first, of_queue.begins, large)
            alike.setdefault(key, []).append(queue)
        damage = load.damage if load.damage is None or load.damage.kind is not DamageKind.NOT_PERMITTED else None
        groups = tuple(_Group(_shared(self._sums, tuple(queues)), *key) for key, queues in alike.items())
        held_by = _shared(self._files, load.held_by)
        return _PageNote(
            load.size, held_by, groups, load.readable, damage is not None and motion is None, motion is not None
        )

    def _remember(self, number: int, note: _PageNote | None) -> None:
        """Replace the note of a page, and update the sums and sets that depend on it. None removes the page."""
        self._sent_at.pop(number, None)
        before = self._notes.pop(number, None)
        if before is not None:
            self._add(before, -1)
        for numbers in (self._again, self._damaged, self._unreadable, self._free):
            numbers.discard(number)
        if note is None:
            return
        self._notes[number] = note
        self._add(note, 1)
        if note.damaged:
            self._damaged.add(number)
        elif note.readable and not note.held_by:
            self._free.add(number)
        if not note.readable:
            self._unreadable.add(number)
        if note.moving or not note.readable:
            self._again.add(number)

    def _add(self, note: _PageNote, sign: int) -> None:
        for group in note.groups:
            _sum(self._sums, group.queues).add(sign, group.messages, group.bytes, group.in_doubt, group.large)
        _sum(self._files, note.held_by).add(sign, 0, note.size, 0, 0)
        for sums, queues in ((self._files, note.held_by), *((self._sums, group.queues) for group in note.groups)):
            if queues in sums and not sums[queues].pages:
                del sums[queues]

    def _queues(self, state: StoreState) -> tuple[Backlog, ...] | None:
        """Return the backlog of each queue, or None if it is not known."""
        if state.unseen is not None or self.problem is not None or self._unreadable:
            return None
        if state.unknown is not None and len(self._listed):
            return None
        if state.unknown is not None or not state.queues:
            return ()
        waiting = {queue: _Sum((queue,)) for queue in state.queues}
        held, alone = dict.fromkeys(waiting, (0, 0)), dict.fromkeys(waiting, 0)
        for queues, total in self._sums.items():
            for queue in waiting.keys() & set(queues):
                waiting[queue].add(0, total.messages, total.bytes, total.in_doubt, total.large)
        for queues, total in self._files.items():
            holders = waiting.keys() & set(queues)
            for queue in holders:
                pages, size = held[queue]
                held[queue] = pages + total.pages, size + total.bytes
                alone[queue] += total.bytes if len(holders) == 1 else 0
        oldest = self._oldest(state, {queue for queue, total in waiting.items() if total.messages})
        return tuple(
            Backlog(
                self.text.address,
                self.folder.name,
                binding.name,
                queue,
                waiting[queue].messages,
                waiting[queue].bytes,
                waiting[queue].in_doubt,
                *held[queue],
                alone[queue],
                oldest.get(queue),
                beside=waiting[queue].large,
            )
            for queue, binding in sorted(state.queues.items())
        )

    def _uncounted(self, state: StoreState) -> tuple[Backlog, ...]:
        names = sorted((state.queues or {}).items())
        return tuple(Backlog(self.text.address, self.folder.name, queue.name, id_) for id_, queue in names)

    def _others(self, state: StoreState) -> tuple[int, int, int]:
        """Return the bytes of pages that several queues hold, that no queue holds, and for which that is not known.

        Without queues no page was read.
        """
        if not state.queues:
            return 0, int(self._listed["size"].sum()), 0
        holders = [(len(set(queues).intersection(state.queues)), total.bytes) for queues, total in self._files.items()]
        shared = sum(size for count, size in holders if count > 1)
        free = sum(size for count, size in holders if not count)
        in_part = (self._notes[number] for number in self._damaged | self._again)
        unknown = sum(note.size for note in in_part if not state.queues.keys() & set(note.held_by))
        return shared, free - unknown, unknown

    def _groups(self, state: StoreState) -> Iterator[SharedPages]:
        names = {number: queue.name for number, queue in (state.queues or {}).items()}
        for queues, total in self._files.items():
            shown = tuple(names[queue] for queue in queues if queue in names)
            if len(shown) > 1:
                yield SharedPages(self.text.address, shown, total.pages, total.bytes)

    def _remarks(self, state: StoreState) -> Iterator[str]:
        if self.problem is not None:
            yield self.problem
        elif state.unknown is not None and len(self._listed):
            yield state.unknown.reason
        elif state.unseen is not None:
            yield state.unseen
        for numbers, what in ((self._unreadable, "cannot be read"), (self._damaged - self._unreadable, "damaged")):
            if numbers:
                yield f"{page_name(min(numbers))} {what}" + f", and {len(numbers) - 1} more" * (len(numbers) > 1)

    def _oldest(self, state: StoreState, queues: set[int]) -> dict[int, int]:
        """Return by queue id the timestamp (ms) of the first outstanding message that has one.

        A queue is absent if none of the first few has one.
        """
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
        for page, groups in wanted.items():
            timestamps = self._sent_at[page] = before.get(page, {})
            timestamps |= self._timestamps(state, page, [item for item in groups if item[0] not in timestamps])
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
    """Return the tuple of the same ids that is already in use, to save memory: many pages are for the same queues."""
    total = sums.get(queues)
    return queues if total is None else total.queues


def _sum(sums: dict[tuple[int, ...], _Sum], queues: tuple[int, ...]) -> _Sum:
    total = sums.get(queues)
    if total is None:
        total = sums[queues] = _Sum(queues)
    return total
