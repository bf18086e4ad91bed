"""The records of a page while their columns are built, and the columns that core and AMQP messages share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
import pyarrow as pa

from pagefmt.columns.arrays.repeated import repeated
from pagefmt.columns.arrays.schema import LONGS, STRING
from pagefmt.columns.arrays.strings import distinct, only_one, slices, text_of_utf16
from pagefmt.pages.gather import Ints, Mask, PageBytes, queue_counts, repeated_longs
from pagefmt.pages.scan import PageFrames

Columns = dict[str, pa.Array]
_MOST_QUEUES: Final = 64


@dataclass(slots=True)
class Batch:
    """``regular`` is cleared for records that do not fit; their columns are then thrown away."""

    page: PageBytes
    row: Ints
    payload: Ints
    length: Ints
    regular: Mask


Made = TypeVar("Made")


def read_regular(
    page: PageBytes, frames: PageFrames, row: Ints, read: Callable[[Batch], Made]
) -> tuple[Ints, Made | None]:
    """The regular records among ``row``, and what ``read`` makes of them; None where there is none.

    Irregular records are taken out and the rest is read again: they are rare, and cutting every column is not simpler.
    """
    while len(row):
        batch = Batch(page, row, frames.offset[row] + 5, frames.length[row], np.ones(len(row), bool))
        made = read(batch)
        if batch.regular.all():
            return row, made
        row = row[batch.regular]
    return row, None


def queue_lists(batch: Batch, parts_end: Ints) -> pa.ListArray:
    """The queue ids of each record, which have to fill its payload to the end."""
    end = batch.payload + batch.length
    table = _one_width(batch, parts_end, end)
    if table is not None:
        offsets = np.arange(0, table.size + 1, table.shape[1], dtype=np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), pa.array(table.reshape(-1)), type=LONGS)
    count, fine = queue_counts(batch.page, parts_end, end, batch.regular)
    batch.regular &= fine
    values, at = repeated_longs(batch.page, parts_end + 4, count)
    return pa.ListArray.from_arrays(pa.array(at.astype(np.int32)), pa.array(values), type=LONGS)


def _one_width(batch: Batch, at: Ints, end: Ints) -> Ints | None:
    """A row of ids for each record, where all name the same number of queues: the usual case."""
    room = end - at - 4
    width = int(room[0])
    if not 8 <= width <= 8 * _MOST_QUEUES or width & 7 or bool((room != width).any()) or int(at.min()) < 0:
        return None
    tail = batch.page.window(at, 4 + width)
    if bool((tail[:, :4].copy().view(">i4") != width >> 3).any()):
        return None
    return tail[:, 4:].view(">i8").astype(np.int64)


def repeated_text(page: PageBytes, at: Ints, size: Ints, valid: Mask) -> pa.StringArray:
    """Text that is mostly the same in all messages: each distinct one decoded once."""
    present = bool(valid.all())
    same = only_one(page, at, size) if present else None
    if same is not None:
        return repeated((text_of_utf16(pa.array([same], pa.binary()))[0].as_py(),), len(at))
    coded = distinct(page, at, size) if present else slices(page, at, size, valid).dictionary_encode()
    return pa.DictionaryArray.from_arrays(coded.indices, text_of_utf16(coded.dictionary)).cast(STRING)
