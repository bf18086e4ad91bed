"""One page file as Arrow columns: regular records by the fast path, all others by the reference decoder, in file order.

A record is regular when its frame is sound, every part of its payload was found by the lock-step readers, and the parts
fill the payload to the last byte. What a level does not ask for costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from pagefmt.bytes.wire import Undecodable
from pagefmt.columns.amqp.amqp_columns import amqp_columns, may_be_amqp
from pagefmt.columns.arrays.order import in_order
from pagefmt.columns.arrays.schema import FRAME_FIELDS, Detail, schema
from pagefmt.columns.core.batch import Batch, Columns, read_regular
from pagefmt.columns.core.core_columns import core_columns, may_be_core
from pagefmt.columns.rows import Row, readable_row
from pagefmt.pages.gather import Ints, PageBytes
from pagefmt.pages.record import decode_record
from pagefmt.pages.scan import PageFrames, scan


@dataclass(frozen=True, slots=True)
class PageColumns:
    """The records of one page, and whether frames fill it to the last byte.

    ``whole`` false: from ``good_bytes`` on the page is damaged; the reference reader tells what the damage is.
    ``irregular`` are the rows that the reference decoder read, ``partial`` counts those among them with parts that do
    not decode (properties, AMQP sections: the broker reads them lazily; null here). ``undecodable`` is the number and
    offset of the first record whose payload does not decode at all, None where all do; the table ends in front of it.
    """

    table: pa.RecordBatch
    whole: bool
    good_bytes: int
    irregular: Ints
    partial: int
    undecodable: tuple[int, int] | None


def decode_page(content: PageBytes, page: int, level: Detail, frames: PageFrames | None = None) -> PageColumns:
    """All records of a page, or of a chunk of one, in file order."""
    frames = frames or scan(content)
    end = frames.base + frames.end
    if level is Detail.COUNT:
        table = pa.record_batch(_frame_columns(frames, np.arange(len(frames.offset)), page), schema=schema(level))
        return PageColumns(table, frames.whole, end, np.empty(0, np.int64), 0, None)
    batches: list[tuple[Ints, pa.RecordBatch]] = []
    left = np.arange(len(frames.offset))
    for kind, reads in ((core_columns, may_be_core), (amqp_columns, may_be_amqp)):
        mine = reads(content, frames.offset[left] + 5)
        if mine.any():
            row, batch = _fast(content, frames, page, left[mine], level, kind)
            batches.append((row, batch))
            left = np.setdiff1d(left, row, assume_unique=True) if len(row) < len(left) else left[:0]
    careful = _careful(content, frames, page, left, level) if len(left) else _Careful(left, None, 0, None)
    if careful.batch is not None and len(careful.row):
        batches.append((careful.row, careful.batch))
    table = in_order(batches, pa.concat_batches) if batches else _nothing(level)
    if careful.undecodable is not None:
        table = table.slice(0, careful.undecodable[0])
    return PageColumns(table, frames.whole, end, careful.row, careful.partial, careful.undecodable)


def _frame_columns(frames: PageFrames, row: Ints, page: int) -> list[pa.Array]:
    return [
        pa.repeat(pa.scalar(page, pa.int64()), len(row)), pa.array((row + frames.number).astype(np.int32)),
        pa.array(frames.offset[row] + frames.base),
        pa.array(frames.length[row].astype(np.int32)),
    ]  # fmt: skip


def _fast(
    content: PageBytes,
    frames: PageFrames,
    page: int,
    row: Ints,
    level: Detail,
    kind: Callable[[Batch, Detail], Columns],
) -> tuple[Ints, pa.RecordBatch]:
    """The regular ones among ``row``, and their columns."""
    row, columns = read_regular(content, frames, row, lambda batch: kind(batch, level))
    if columns is None:
        return row, _nothing(level)
    named = dict(zip((field.name for field in FRAME_FIELDS), _frame_columns(frames, row, page), strict=True)) | columns
    wanted = schema(level)
    arrays = [_typed(named[field.name], field.type) for field in wanted]
    return row, pa.record_batch(arrays, schema=wanted)


def _typed(values: pa.Array, wanted: pa.DataType) -> pa.Array:
    return values if values.type == wanted else values.cast(wanted)


@dataclass(frozen=True, slots=True)
class _Careful:
    row: Ints
    batch: pa.RecordBatch | None
    partial: int
    undecodable: tuple[int, int] | None


def _careful(content: PageBytes, frames: PageFrames, page: int, left: Ints, level: Detail) -> _Careful:
    """The records at ``left`` by the reference decoder, up to the first that does not decode."""
    rows: list[Row] = []
    partial, undecodable = 0, None
    view = memoryview(content.buffer)[: content.size]
    for number in left.tolist():
        offset = int(frames.offset[number])
        try:
            record = decode_record(view, offset, int(frames.length[number]))
            row, whole = readable_row(record, page, number + frames.number, level)
            row["offset"] += frames.base
        except Undecodable:
            undecodable = (number, offset)
            break
        rows.append(row)
        partial += not whole
    return _Careful(left[: len(rows)], pa.RecordBatch.from_pylist(rows, schema=schema(level)), partial, undecodable)


def _nothing(level: Detail) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], schema=schema(level))
