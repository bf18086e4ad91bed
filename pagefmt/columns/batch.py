"""Some records of a page while their columns come together, and what core and AMQP messages share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from pagefmt.columns import core
from pagefmt.columns.gather import Ints, Mask, PageBytes
from pagefmt.columns.schema import LONGS, STRING
from pagefmt.columns.strings import distinct, slices, text_of_utf16

Columns = dict[str, pa.Array]


@dataclass(slots=True)
class Batch:
    """``regular`` is cleared for records that do not fit; their columns are then thrown away."""

    page: PageBytes
    row: Ints
    payload: Ints
    length: Ints
    regular: Mask


def queue_lists(batch: Batch, parts_end: Ints) -> pa.ListArray:
    count, fine = core.queue_counts(batch.page, parts_end, batch.payload + batch.length, batch.regular)
    batch.regular &= fine
    values, offsets = core.repeated_longs(batch.page, parts_end + 4, count)
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pa.array(values)).cast(LONGS)


def repeated_text(page: PageBytes, at: Ints, size: Ints, valid: Mask) -> pa.StringArray:
    """Text that is mostly the same in all messages: each distinct one decoded once."""
    coded = distinct(page, at, size) if valid.all() else slices(page, at, size, valid).dictionary_encode()
    return pa.DictionaryArray.from_arrays(coded.indices, text_of_utf16(coded.dictionary)).cast(STRING)
