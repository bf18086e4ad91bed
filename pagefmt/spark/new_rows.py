"""The rows of pages that a table does not have yet, made where the task runs."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.bytes.files import NotReadable, file_pieces, hold, let_go, utf8_name
from pagefmt.errors import PageFmtError
from pagefmt.pages.gather import Ints, Mask
from pagefmt.pages.paging import PageFile
from pagefmt.spark.exported import ADDED, CHANGED, DELETED, GREW, SAME, PageEntry, identity_of
from pagefmt.spark.groups import JOURNAL, PageMessages


@dataclass(slots=True)
class TakenMessages:
    """The messages of a page that are in the table, by number and id. ``missed``: those not met yet."""

    numbers: list[Ints]
    ids: list[Ints]
    there: frozenset[tuple[int, int]]
    missed: set[tuple[int, int]] = field(default_factory=set)
    rows: int = 0

    @classmethod
    def of(cls, known: PageMessages | None) -> TakenMessages:
        """At first."""
        if known is None:
            return cls([np.zeros(0, np.int64)], [np.zeros(0, np.int64)], frozenset())
        there = frozenset(zip(known.numbers.tolist(), known.ids.tolist(), strict=True))
        return cls([known.numbers], [known.ids], there, set(there))

    def new(self, numbers: Ints, ids: Ints) -> Mask | None:
        """Those that are not in the table; they are, from now on. None: all."""
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
        """The entry with all of them."""
        numbers, ids = np.concatenate(self.numbers), np.concatenate(self.ids)
        return entry._replace(rows=self.rows, missing=len(self.missed), numbers=numbers, ids=ids)


@dataclass(frozen=True, slots=True)
class _PageAtHand:
    """A page that is being read. ``before``: its status when its bytes were summed to ``crc32c``; ``held``: the rows
    are of the same bytes."""

    page: PageFile
    taken: TakenMessages
    entry: PageEntry
    before: os.stat_result | None
    crc32c: str | None
    identity: str | None
    held: bool

    @classmethod
    def of(cls, page: PageFile, entry: PageEntry, known: PageMessages | None) -> _PageAtHand:
        """Its state SAME: it does not have to be read."""
        before = _status(page)
        identity = identity_of(page, before)
        held, prefix, whole = False, None, None
        with suppress(NotReadable):  # who reads it says why
            held = hold(page.path, page.size)
            prefix, whole = _sums(page, 0 if known is None else known.size)
        if known is not None:
            alike = prefix is not None and prefix == known.crc32c
            state = GREW if alike or None in (whole, known.crc32c) else CHANGED
            entry = entry._replace(state=SAME if alike and page.size == known.size else state)
        return cls(page, TakenMessages.of(known), entry, before, whole, identity, held)

    def ended(self) -> PageEntry:
        """The entry once all of its rows were taken."""
        let_go(self.page.path)
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
        return summed if _told_apart(after) == _told_apart(self.before) else entry


def new_rows(
    pages: Iterable[PageFile], broker: str, store: str, known: Mapping[int, PageMessages],
    read: Callable[[Iterator[PageFile]], Iterator[tuple[int, Any]]],
) -> Iterator[Any]:  # fmt: skip
    """Of the rows of pages of a store those that are not in the table, and the entry of each page behind its rows.

    ``read`` gives the rows of pages in their order, each with which of the pages it is: of rows of several pages the
    first. An entry names exactly the rows that were given, whatever happens to the page meanwhile. Its checksum is
    there only if the page stayed as it was: without one, the next look decides by the messages.
    """
    reading: deque[_PageAtHand] = deque()
    same: list[PageEntry] = []
    name = utf8_name(store)

    def to_read() -> Iterator[PageFile]:
        for page in pages:
            entry = PageEntry(broker, name, page.number, ADDED, page.size)
            found = _PageAtHand.of(page, entry, known.get(page.number))
            if found.entry.state == SAME:
                same.append(found.ended())
            else:
                reading.append(found)
                yield page

    ended = 0
    try:
        for n, each in read(to_read()):
            for _ in range(n - ended):
                yield reading.popleft().ended()
            ended = n
            yield _not_there_yet(each, reading) if isinstance(each, pa.RecordBatch) else each
    except (PageFmtError, OSError):
        yield from (found.taken.written_in(found.entry) for found in reading if found.taken.rows)
        raise
    else:
        yield from (found.ended() for found in reading)
        yield from same
    finally:
        for found in reading:
            let_go(found.page.path)


def new_of_journal(
    rows: Iterable[Any], broker: str, known: PageMessages | None, identity: str | None, *, whole: bool
) -> Iterator[Any]:
    """Yield the rows of a journal's messages that are not in the table, and then the entry of the journal.

    A message id is never given again, so the entry drops messages that are gone, but only if the ``whole`` journal was
    read: what one run cannot read may be there in the next. ``identity``: as the log keeps it.
    """
    taken = TakenMessages.of(known)
    for each in rows:
        if not isinstance(each, pa.RecordBatch):
            whole = False
            yield each
            continue
        ids = each.column("id").cast(pa.int64()).to_numpy()
        new = taken.new(np.full(len(ids), -1), ids)
        yield each if new is None or new.all() else each.filter(pa.array(new))
    state = ADDED if known is None else GREW if taken.rows else SAME
    ids = np.concatenate(taken.ids)
    if whole:
        ids = ids[~np.isin(ids, [message for _, message in taken.missed])]
    numbers = np.full(len(ids), -1, np.int64)
    identity = identity if whole else None  # so that the next run reads it again
    yield PageEntry(broker, "", JOURNAL, state, identity=identity, rows=taken.rows, numbers=numbers, ids=ids)


def _not_there_yet(rows: pa.RecordBatch, reading: Iterable[_PageAtHand]) -> pa.RecordBatch:
    """Those that are not in the table, of rows of pages that follow one another; they are, from now on."""
    page, number, ids = (
        pc.fill_null(rows.column(name), -1).cast(pa.int64()).to_numpy() for name in ("page", "number", "id")
    )
    new = np.ones(len(page), bool)
    cuts = np.flatnonzero(page[1:] != page[:-1]) + 1
    pages = iter(reading)
    for first, last in pairwise([0, *cuts.tolist(), len(page)] if len(page) else []):
        owner = next(each for each in pages if each.page.number == page[first])
        mine = owner.taken.new(number[first:last], ids[first:last])
        if mine is not None:
            new[first:last] = mine
    return rows if new.all() else rows.filter(pa.array(new))


def _status(page: PageFile) -> os.stat_result | None:
    """None where there is no such file."""
    try:
        return page.path.lstat()
    except FileNotFoundError:
        return None


def _told_apart(status: os.stat_result) -> tuple[int, ...]:
    """What changes when a file does."""
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _sums(page: PageFile, known: int) -> tuple[str | None, str | None]:
    """Checksums of its first bytes and of all; None where there are not so many. Raises ``NotReadable``."""
    from crc32c import crc32c

    at, value, prefix = 0, 0, None if known else 0
    for piece in file_pieces(page.path):
        here = memoryview(piece)[: page.size - at]
        if at <= known <= at + len(here):
            prefix = crc32c(here[: known - at], value)
        value = crc32c(here, value)
        at += len(here)
    return None if prefix is None else f"{prefix:08x}", f"{value:08x}" if at == page.size else None
