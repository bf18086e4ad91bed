"""The rows of a page that a table does not have yet, made where the task runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.bytes.files import NotReadable, file_pieces
from pagefmt.errors import PageFmtError
from pagefmt.pages.gather import Ints
from pagefmt.pages.paging import PageFile
from pagefmt.spark.exported import ADDED, CHANGED, DELETED, GREW, SAME, PageEntry, identity_of, store_text
from pagefmt.spark.groups import PageMessages


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

    def new(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Those that are not in the table; they are, from now on."""
        found = [pc.fill_null(rows.column(name), -1).cast(pa.int64()).to_numpy() for name in ("number", "id")]
        if self.there:
            pairs = [*zip(*(column.tolist() for column in found), strict=True)]
            self.missed.difference_update(pairs)
            new = np.array([pair not in self.there for pair in pairs], bool)
            rows, found = rows.filter(pa.array(new)), [column[new] for column in found]
        self.numbers.append(found[0])
        self.ids.append(found[1])
        self.rows += rows.num_rows
        return rows

    def written_in(self, entry: PageEntry) -> PageEntry:
        """The entry with all of them."""
        numbers, ids = np.concatenate(self.numbers), np.concatenate(self.ids)
        return entry._replace(rows=self.rows, missing=len(self.missed), numbers=numbers, ids=ids)


def new_rows(
    rows: Iterator[Any], page: PageFile, broker: str, store: str, known: PageMessages | None
) -> Iterator[Any]:  # fmt: skip
    """Of the rows of a page those that are not in the table, and its entry.

    The entry names exactly the rows that were given, whatever happens to the page meanwhile. Its checksum is there only
    if the page stayed as it was: without one, the next look decides by the messages.
    """
    taken = TakenMessages.of(known)
    entry = PageEntry(broker, store_text(store), page.number, ADDED, page.size)
    before = _status(page)
    identity = identity_of(page, before)
    prefix, whole = _sums(page, 0 if known is None else known.size)
    if known is not None:
        alike = prefix is not None and prefix == known.crc32c
        if alike and page.size == known.size:
            yield taken.written_in(entry)._replace(state=SAME, crc32c=whole, identity=identity, missing=0)
            return
        entry = entry._replace(state=GREW if alike or None in (whole, known.crc32c) else CHANGED)
    try:
        for each in rows:
            yield taken.new(each) if isinstance(each, pa.RecordBatch) else each
    except (PageFmtError, OSError):
        yield taken.written_in(entry)
        raise
    after = _status(page)
    if after is None and not taken.rows:
        yield entry._replace(state=DELETED)
    elif whole is None or after is None or before is None or _told_apart(after) != _told_apart(before):
        yield taken.written_in(entry)
    else:
        yield taken.written_in(entry)._replace(crc32c=whole, identity=identity)


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
    """Checksums of its first bytes and of all; None where there are not so many, or they cannot be read."""
    from crc32c import crc32c

    at, value, prefix = 0, 0, None if known else 0
    try:
        for piece in file_pieces(page.path):
            here = memoryview(piece)[: page.size - at]
            if at <= known <= at + len(here):
                prefix = crc32c(here[: known - at], value)
            value = crc32c(here, value)
            at += len(here)
    except NotReadable:
        return None, None
    return None if prefix is None else f"{prefix:08x}", f"{value:08x}" if at == page.size else None
