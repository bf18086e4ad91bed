"""The rows of pages that a table does not have yet, computed in the task."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.arrays import Ints, Mask
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.errors import PageFmtError
from pagefmt.spark.exported import ADDED, CHANGED, DELETED, GREW, SAME, PageEntry, identity_of
from pagefmt.spark.groups import JOURNAL, PageMessages
from pagefmt.storage.files import HeldFolder, NotReadable, file_pieces, utf8_name
from pagefmt.storage.remote_paths import FarPath


@dataclass(slots=True)
class TakenMessages:
    """The messages of a page that are in the table, by number and id. ``missed``: those not met yet."""

    numbers: list[Ints]
    ids: list[Ints]
    there: frozenset[tuple[int, int]]
    missed: set[tuple[int, int]] = field(default_factory=set)
    rows: int = 0

    @classmethod
    def of(cls, exported: PageMessages | None) -> TakenMessages:
        """Return the messages of a page that the table has, before the page is read."""
        if exported is None:
            return cls([np.zeros(0, np.int64)], [np.zeros(0, np.int64)], frozenset())
        there = frozenset(zip(exported.numbers.tolist(), exported.ids.tolist(), strict=True))
        return cls([exported.numbers], [exported.ids], there, set(there))

    def new(self, numbers: Ints, ids: Ints) -> Mask | None:
        """Add messages. Return a mask of those that are not in the table, or None if all are new."""
        new = None
        if self.there:
            pairs = [*zip(numbers.tolist(), ids.tolist(), strict=True)]
            self.missed.difference_update(pairs)
            new = np.array([pair not in self.there for pair in pairs], bool)
            numbers, ids = numbers[new], ids[new]
        self.numbers.append(numbers)
        self.ids.append(ids)
        self.rows += len(numbers)
        return new

    def written_in(self, entry: PageEntry) -> PageEntry:
        """Return the entry with all messages of the page."""
        numbers, ids = np.concatenate(self.numbers), np.concatenate(self.ids)
        return entry._replace(rows=self.rows, missing=len(self.missed), numbers=numbers, ids=ids)


@dataclass(frozen=True, slots=True)
class _PageAtHand:
    """A page that is being read.

    ``before``: its status when its bytes were summed to ``crc32c``; None if it was missing. ``held``: the file is kept
    open, so the rows come from the same bytes.
    """

    page: PageFile
    taken: TakenMessages
    entry: PageEntry
    before: os.stat_result | None
    crc32c: str | None
    identity: str | None
    held: bool

    @classmethod
    def of(cls, page: PageFile, entry: PageEntry, exported: PageMessages | None) -> _PageAtHand:
        """Return a page with its checksums compared to the log. State SAME means that it need not be read."""
        before = _status(page)
        identity = identity_of(page, before)
        held, prefix, whole = False, None, None
        with suppress(NotReadable):  # who reads it says why
            held = isinstance(page.folder, HeldFolder) and page.folder.hold(page.name, page.size)
            prefix, whole = _sums(page, 0 if exported is None else exported.size)
        if exported is not None:
            alike = prefix is not None and prefix == exported.crc32c
            state = GREW if alike or None in (whole, exported.crc32c) else CHANGED
            entry = entry._replace(state=SAME if alike and page.size == exported.size else state)
        return cls(page, TakenMessages.of(exported), entry, before, whole, identity, held)

    def let_go(self) -> None:
        """Drop the bytes of the page, if they are held."""
        if isinstance(self.page.folder, HeldFolder):
            self.page.folder.let_go(self.page.name)

    def ended(self) -> PageEntry:
        """Return the entry after all rows of the page were taken."""
        self.let_go()
        entry = self.taken.written_in(self.entry)
        summed = entry._replace(crc32c=self.crc32c, identity=self.identity)
        if entry.state == SAME:
            return summed._replace(missing=0)
        if self.held and self.crc32c is not None and self.before is not None:
            return summed
        after = _status(self.page)
        if after is None and not self.taken.rows:
            return self.entry._replace(state=DELETED)
        if self.crc32c is None or after is None or self.before is None:
            return entry
        return summed if _change_marks(after) == _change_marks(self.before) else entry


def new_rows(
    pages: Iterable[PageFile],
    broker: str,
    store: str,
    exported: Mapping[int, PageMessages],
    read: Callable[[Iterator[PageFile]], Iterator[tuple[int, Any]]],
) -> Iterator[Any]:
    """Yield the rows of a store's pages that are not in the table, each page's entry after its rows.

    ``read`` yields rows in page order, each batch with the index of its page (the first if it has rows of several). An
    entry names exactly the rows that were yielded, even if the page changes during the run. It has a checksum only if
    the page did not change; without one, the next run compares the messages.
    """
    reading: deque[_PageAtHand] = deque()
    same: list[PageEntry] = []
    name = utf8_name(store)

    def to_read() -> Iterator[PageFile]:
        for page in _holding(pages):
            entry = PageEntry(broker, name, page.number, ADDED, page.size)
            page_at_hand = _PageAtHand.of(page, entry, exported.get(page.number))
            if page_at_hand.entry.state == SAME:
                same.append(page_at_hand.ended())
            else:
                reading.append(page_at_hand)
                yield page

    ended = 0
    try:
        # ``read`` pulls pages from to_read() ahead of the rows it yields; ``n`` says how many pages have ended, so
        # their entries follow their last rows even if a page has no new row.
        for n, rows in read(to_read()):
            for _ in range(n - ended):
                yield reading.popleft().ended()
            ended = n
            yield _not_there_yet(rows, reading) if isinstance(rows, pa.RecordBatch) else rows
    except (PageFmtError, OSError):
        yield from (
            page_at_hand.taken.written_in(page_at_hand.entry) for page_at_hand in reading if page_at_hand.taken.rows
        )
        raise
    else:
        yield from (page_at_hand.ended() for page_at_hand in reading)
        yield from same
    finally:
        for page_at_hand in reading:
            page_at_hand.let_go()


def _holding(pages: Iterable[PageFile]) -> Iterator[PageFile]:
    """Yield the pages of a store, those below a URL in one ``HeldFolder``."""
    folder: Path | None = None
    for page in pages:
        if folder is None:
            folder = HeldFolder.of(page.folder) if isinstance(page.folder, FarPath) else page.folder
        yield page._replace(folder=folder)


def new_of_journal(
    rows: Iterable[Any], broker: str, exported: PageMessages | None, identity: str | None, *, whole: bool
) -> Iterator[Any]:
    """Yield the rows of a journal's messages that are not in the table, and then the entry of the journal.

    Message ids are never used again, so the entry drops messages that are gone, but only if the ``whole`` journal was
    read: the next run may read what this one could not. ``identity``: see ``journal_identity``.
    """
    messages = TakenMessages.of(exported)
    for batch in rows:
        if not isinstance(batch, pa.RecordBatch):
            whole = False
            yield batch
            continue
        ids = batch.column("id").cast(pa.int64()).to_numpy()
        new = messages.new(np.full(len(ids), -1), ids)
        yield batch if new is None or new.all() else batch.filter(pa.array(new))
    state = ADDED if exported is None else GREW if messages.rows else SAME
    ids = np.concatenate(messages.ids)
    if whole:
        ids = ids[~np.isin(ids, [message for _, message in messages.missed])]
    numbers = np.full(len(ids), -1, np.int64)
    identity = identity if whole else None  # so that the next run reads it again
    yield PageEntry(broker, "", JOURNAL, state, identity=identity, rows=messages.rows, numbers=numbers, ids=ids)


def _not_there_yet(rows: pa.RecordBatch, reading: Iterable[_PageAtHand]) -> pa.RecordBatch:
    """Return the rows that are not in the table, and note them. The rows are of one page after another."""
    page, number, ids = (
        pc.fill_null(rows.column(name), -1).cast(pa.int64()).to_numpy() for name in ("page", "number", "id")
    )
    new = np.ones(len(page), bool)
    cuts = np.flatnonzero(page[1:] != page[:-1]) + 1
    pages = iter(reading)
    for first, last in pairwise([0, *cuts.tolist(), len(page)] if len(page) else []):
        owner = next(page_at_hand for page_at_hand in pages if page_at_hand.page.number == page[first])
        mask = owner.taken.new(number[first:last], ids[first:last])
        if mask is not None:
            new[first:last] = mask
    return rows if new.all() else rows.filter(pa.array(new))


def _status(page: PageFile) -> os.stat_result | None:
    """Return the status of the page file, or None if it is missing."""
    try:
        return page.path.lstat()
    except FileNotFoundError:
        return None


def _change_marks(status: os.stat_result) -> tuple[int, ...]:
    """Return the fields of a status that change when a file does."""
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _sums(page: PageFile, prefix_size: int) -> tuple[str | None, str | None]:
    """Return checksums of the first ``known`` bytes and of all; None for missing bytes. Raise ``NotReadable``."""
    from crc32c import crc32c

    at, value, prefix = 0, 0, None if prefix_size else 0
    for piece in file_pieces(page.path):
        piece_of_page = memoryview(piece)[: page.size - at]
        if at <= prefix_size <= at + len(piece_of_page):
            prefix = crc32c(piece_of_page[: prefix_size - at], value)
        value = crc32c(piece_of_page, value)
        at += len(piece_of_page)
    return None if prefix is None else f"{prefix:08x}", f"{value:08x}" if at == page.size else None
