"""One page file as Arrow columns: regular records by the fast path, all others by the reference decoder, in file order.

A record is regular when its frame is sound, every part of its payload was found by the lock-step readers, and the parts
fill the payload to the last byte. What a level does not ask for costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from pagefmt.arrays import Ints, Mask
from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page import Page
from pagefmt.codec.pages.record import Layout
from pagefmt.describe.arrow_schema import FRAME_FIELDS, Detail, schema
from pagefmt.vectors.amqp.amqp_columns import amqp_columns, may_be_amqp
from pagefmt.vectors.arrays.order import in_order
from pagefmt.vectors.core.batch import Batch, Columns, read_regular
from pagefmt.vectors.core.core_columns import core_columns, may_be_core
from pagefmt.vectors.pages.gather import PageBytes, fits_old_layout
from pagefmt.vectors.pages.scan import PageFrames, scan
from pagefmt.vectors.reference_rows import Row, handed_out_row


@dataclass(frozen=True, slots=True)
class PageColumns:
    """The records of one page, and whether frames fill it to the last byte.

    ``whole`` false: from ``good_bytes`` on the page is damaged; the reference reader tells what the damage is.
    ``irregular`` are the rows that the reference decoder read. Of these ``odd`` are not understood to their last byte
    (null where nothing is known), by row; the broker hands out none of the rows in ``thrown``. ``cut`` is the first row
    behind which an old reader goes on where the fields end, not where the length says; the table ends in front of it.
    """

    table: pa.RecordBatch
    whole: bool
    good_bytes: int
    irregular: Ints
    odd: dict[int, Damage]
    thrown: tuple[int, ...]
    cut: int | None


def decode_page(
    content: PageBytes,
    page: int,
    level: Detail,
    frames: PageFrames | None = None,
    layout: Layout | None = None,
    chosen: Ints | None = None,
) -> PageColumns:
    """Decode all records of a page, or of a chunk of one, in file order.

    ``layout``: of the page, if an earlier chunk determined it. ``chosen``: only these rows, of a chunk without odd
    ones.
    """
    frames = frames or scan(content)
    end = frames.base + frames.end
    if level is Detail.COUNT:
        table = pa.record_batch(_frame_columns(frames, np.arange(len(frames.offset)), page), schema=schema(level))
        return PageColumns(table, frames.whole, end, np.empty(0, np.int64), {}, (), None)
    batches: list[tuple[Ints, pa.RecordBatch]] = []
    left = np.arange(len(frames.offset)) if chosen is None else chosen
    opened = Page(memoryview(content.buffer)[: content.size], base=frames.base)
    if layout is not None:
        opened.of_layout(layout)
    fits = _fits_layout(content, frames, opened.strict_layout())
    for kind, reads in ((core_columns, may_be_core), (amqp_columns, may_be_amqp)):
        mine = reads(content, frames.offset[left] + 5) & fits[left]
        if mine.any():
            row, batch = _fast(content, frames, page, left[mine], level, kind)
            batches.append((row, batch))
            left = np.setdiff1d(left, row, assume_unique=True) if len(row) < len(left) else left[:0]
    careful = _Careful({}, [], None)
    if len(left):
        left, batch = _careful(opened, frames, page, left, level, careful)
        batches.append((left, batch))
    table = in_order(batches, pa.concat_batches) if batches else _nothing(level)
    if careful.cut is not None:
        table = table.slice(0, careful.cut)
    return PageColumns(table, frames.whole, end, left, careful.odd, tuple(careful.thrown), careful.cut)


def _frame_columns(frames: PageFrames, row: Ints, page: int) -> list[pa.Array]:
    length = pa.array(frames.length[row].astype(np.int32))
    if (at := frames.places) is not None:
        places = (at.numbers[at.owner[row]], at.number[row].astype(np.int32), at.offset[row])
        return [*map(pa.array, places), length]
    return [
        pa.repeat(pa.scalar(page, pa.int64()), len(row)),
        pa.array((row + frames.number).astype(np.int32)),
        pa.array(frames.offset[row] + frames.base),
        length,
    ]


def _fast(
    content: PageBytes,
    frames: PageFrames,
    page: int,
    row: Ints,
    level: Detail,
    kind: Callable[[Batch, Detail], Columns],
) -> tuple[Ints, pa.RecordBatch]:
    """Return the regular records among ``row``, and their columns."""
    row, columns = read_regular(content, frames, row, lambda batch: kind(batch, level))
    if columns is None:
        return row, _nothing(level)
    named = dict(zip((field.name for field in FRAME_FIELDS), _frame_columns(frames, row, page), strict=True)) | columns
    wanted = schema(level)
    arrays = [_typed(named[field.name], field.type) for field in wanted]
    return row, pa.record_batch(arrays, schema=wanted)


def _typed(values: pa.Array, wanted: pa.DataType) -> pa.Array:
    return values if values.type == wanted else values.cast(wanted)


@dataclass(slots=True)
class _Careful:
    odd: dict[int, Damage]
    thrown: list[int]
    cut: int | None


def _fits_layout(content: PageBytes, frames: PageFrames, layout: Layout | None) -> Mask:
    """Return which records columns may read: in an old page a broker reads every ordinary record in the old layout."""
    if layout is not Layout.OLD:
        return np.ones(len(frames.offset), bool)
    payload = frames.offset + 5
    large: Mask = content.byte(payload + 8) != 0
    return large | fits_old_layout(content, payload, frames.length)


def _careful(
    opened: Page, frames: PageFrames, page: int, left: Ints, level: Detail, outcome: _Careful
) -> tuple[Ints, pa.RecordBatch]:
    """Decode the records at ``left`` with the reference decoder."""
    rows: list[Row] = []
    for n in left.tolist():
        number, length = frames.number + n, int(frames.length[n])
        route = opened.route(number, int(frames.offset[n]), length)
        if isinstance(route, Damage):
            outcome.odd[n] = route
            outcome.thrown.append(n)
            rows.append({"page": page, "number": number, "offset": route.offset, "length": length})
            continue
        if route[2] != length:
            outcome.cut = n
            break
        row, damage = handed_out_row(opened, route, page, level)
        rows.append(row)
        if damage is not None:
            outcome.odd[n] = damage
    wanted = pa.schema([field.with_nullable(True) for field in schema(level)])
    batch = pa.RecordBatch.from_pylist(rows, schema=wanted)
    return left[: len(rows)], pa.record_batch(batch.columns, schema=schema(level))


def _nothing(level: Detail) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], schema=schema(level))
