"""The rows that the reference decoder gives of a page, compared with those of the fast decoder."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pagefmt.bytes.wire import Undecodable
from pagefmt.columns.arrays.schema import Detail, schema
from pagefmt.columns.rows import readable_row
from pagefmt.pages.frames import FrameScan
from pagefmt.pages.record import FRAME, decode_record

if TYPE_CHECKING:
    import pyarrow as pa

PAGE_NUMBER = 7


def comparable(value: Any) -> Any:
    """NaN equals NaN here."""
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    if isinstance(value, dict):
        return {key: comparable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [comparable(each) for each in value]
    return value


@lru_cache(maxsize=1 << 14)
def _row(record: bytes, level: Detail) -> dict[str, Any] | None:
    """The row of one record, or None where it does not decode. Flipped and copied pages share most of their records."""
    try:
        return readable_row(decode_record(record, 0, len(record) - FRAME), PAGE_NUMBER, 0, level)[0]
    except Undecodable:
        return None


def reference_rows(content: bytes, level: Detail) -> pa.RecordBatch:
    """Rows up to the first record that does not decode, as the reference decoder reads them."""
    import pyarrow as pa

    rows = []
    for number, (offset, length) in enumerate(FrameScan(content)):
        row = _row(bytes(content[offset : offset + length + FRAME]), level)
        if row is None:
            break
        rows.append(row | {"number": number, "offset": offset})
    return pa.RecordBatch.from_pylist(rows, schema=schema(level))


def same_rows(got: pa.RecordBatch, content: bytes, level: Detail) -> bool:
    """Whether a table holds the rows of the reference decoder: column by column; rows with a NaN one by one."""
    expected = reference_rows(content, level)
    return got.schema.names == expected.schema.names and all(map(_same_column, got.columns, expected.columns))


def _same_column(got: pa.Array, expected: pa.Array) -> bool:
    if got.equals(expected):
        return True
    pairs = zip(got.to_pylist(), expected.to_pylist(), strict=False)
    return len(got) == len(expected) and all(
        one == other or comparable(one) == comparable(other) for one, other in pairs
    )
