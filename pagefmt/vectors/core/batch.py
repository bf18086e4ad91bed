"""The records of a page while their columns are built, and the columns that core and AMQP messages share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
import pyarrow as pa

from pagefmt.arrays import Ints, Mask
from pagefmt.describe.arrow_schema import LONGS, STRING
from pagefmt.vectors.arrays.repeated import repeated
from pagefmt.vectors.arrays.strings import distinct, only_one, slices, text_of_utf16
from pagefmt.vectors.pages.gather import PageBytes, queue_counts, repeated_longs
from pagefmt.vectors.pages.scan import PageFrames

Columns = dict[str, pa.Array]
_MOST_QUEUES: Final = 64


@dataclass(slots=True)
class Batch:
    """The records of one reader within a chunk.

    ``regular`` is cleared for records that do not fit; their columns are then thrown away.
    """

    page: PageBytes
    row: Ints
    payload: Ints
    length: Ints
    regular: Mask


Made = TypeVar("Made")


def read_regular(
    page: PageBytes, frames: PageFrames, row: Ints, read: Callable[[Batch], Made]
) -> tuple[Ints, Made | None]:
    """Return the regular records among ``row`` and the result of ``read``, which is None if no record is regular.

    If some records are irregular, they are dropped and the others are read again: they are rare, and filtering every
    column is not simpler.
    """
    while len(row):
        batch = Batch(page, row, frames.offset[row] + 5, frames.length[row], np.ones(len(row), bool))
        result = read(batch)
        if batch.regular.all():
            return row, result
        row = row[batch.regular]
    return row, None


def queue_lists(batch: Batch, parts_end: Ints) -> pa.ListArray:
    """Return the queue ids of each record. Clear ``batch.regular`` if they do not end with the payload."""
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
    """Return a row of ids for each record if all name the same number of queues, which is the usual case; else None."""
    room = end - at - 4
    width = int(room[0])
    if not 8 <= width <= 8 * _MOST_QUEUES or width & 7 or bool((room != width).any()) or int(at.min()) < 0:
        return None
    tail = batch.page.window(at, 4 + width)
    if bool((tail[:, :4].copy().view(">i4") != width >> 3).any()):
        return None
    return tail[:, 4:].view(">i8").astype(np.int64)


def repeated_text(page: PageBytes, at: Ints, size: Ints, valid: Mask) -> pa.StringArray:
    """Return UTF-16 texts, null where not ``valid``, decoding each distinct one once: most messages share a few."""
    present = bool(valid.all())
    same = only_one(page, at, size) if present else None
    if same is not None:
        return repeated((text_of_utf16(pa.array([same], pa.binary()))[0].as_py(),), len(at))
    coded = distinct(page, at, size) if present else slices(page, at, size, valid).dictionary_encode()
    return pa.DictionaryArray.from_arrays(coded.indices, text_of_utf16(coded.dictionary)).cast(STRING)
