"""The table of a whole paging directory, batch by batch, in the order store, page, number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from pagefmt.columns.page import decode_page
from pagefmt.columns.pieces import pieces
from pagefmt.columns.schema import LONGS, STRING, Level, schema
from pagefmt.fates import PageRule

STORE_FIELDS: Final = (pa.field("store", STRING, nullable=False), pa.field("store_address", STRING))
STATE_FIELDS: Final = (pa.field("acked_by", LONGS), pa.field("outstanding", LONGS))


@dataclass(frozen=True, slots=True)
class Stopped:
    """Where the rows of a page end before its file does: offset and number of the first record without a row.

    ``undecodable``: its frame is sound, and its payload does not decode; else the frame itself is damaged.
    """

    offset: int
    number: int
    undecodable: bool


@dataclass(frozen=True, slots=True)
class PageSource:
    """One page file to read. ``rule`` None: no journal, and the state columns are null."""

    path: Path
    page: int
    store: str
    address: str | None
    rule: PageRule | None


def table_schema(level: Level) -> pa.Schema:
    """Columns of the table: store, message columns of the level, state."""
    return pa.schema([*STORE_FIELDS, *schema(level), *STATE_FIELDS])


def page_batches(source: PageSource, level: Level) -> Iterator[pa.RecordBatch | Stopped]:
    """The rows of one page; last, where it is damaged, what the reading stopped at. Needs ``Level.HEADERS`` or more."""
    wanted = table_schema(level)
    for content, frames in pieces(source.path):
        decoded = decode_page(content, source.page, level, frames)
        yield _with_store(decoded.table, source, wanted)
        if decoded.undecodable is not None:
            number, offset = decoded.undecodable
            yield Stopped(frames.base + offset, frames.number + number, undecodable=True)
            return
        last = frames.number + len(frames.offset)
    if not frames.whole and content.size - frames.end > LEFTOVER:
        yield Stopped(frames.base + frames.end, last, undecodable=False)


LEFTOVER: Final = 5
"""Bytes behind the last record that brokers of today take for nothing (spec/page-files.md 5.1)."""


def _with_store(table: pa.RecordBatch, source: PageSource, wanted: pa.Schema) -> pa.RecordBatch:
    rows = table.num_rows
    columns = {name: table.column(n) for n, name in enumerate(table.schema.names)}
    columns["store"] = pa.repeat(pa.scalar(source.store, STRING), rows)
    columns["store_address"] = pa.repeat(pa.scalar(source.address, STRING), rows)
    columns["acked_by"] = columns["outstanding"] = pa.nulls(rows, LONGS)
    if source.rule is not None:
        from pagefmt.columns.state_columns import state_columns

        number = np.asarray(columns["number"]).astype(np.int64)
        tx = np.asarray(columns["tx"])
        columns["acked_by"], columns["outstanding"] = state_columns(source.rule, number, tx, columns["queues"])
    return pa.record_batch([columns[name] for name in wanted.names], schema=wanted)
