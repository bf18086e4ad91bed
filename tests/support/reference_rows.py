"""The rows that the reference decoder gives of a page, compared with those of the fast decoder."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pagefmt.codec.pages.frames import Damage, FrameScan
from pagefmt.codec.pages.page import Page
from pagefmt.codec.pages.record import FRAME, Layout
from pagefmt.describe.arrow_schema import Detail, schema
from pagefmt.vectors.reference_rows import handed_out_row

if TYPE_CHECKING:
    import pyarrow as pa

PAGE_NUMBER = 7


def comparable(value: Any) -> Any:
    """Return the value with NaN replaced by text, so that NaN equals NaN."""
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    if isinstance(value, dict):
        return {key: comparable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [comparable(each) for each in value]
    return value


@lru_cache(maxsize=1 << 14)
def _row(record: bytes, level: Detail, layout: Layout | None) -> dict[str, Any]:
    """Decode the row of one record; cached, because flipped and copied pages share most of their records."""
    page = Page(record).of_layout(layout)
    route = page.route(0, 0, len(record) - FRAME)
    assert not isinstance(route, Damage)
    return handed_out_row(page, route, PAGE_NUMBER, level)[0]


def reference_rows(content: bytes, level: Detail) -> pa.RecordBatch:
    """Decode a row for each frame, which has only its position if the broker throws on the record.

    Rows end at a record that is longer or shorter than its frame, because an old reader then misses the next frame.
    """
    import pyarrow as pa

    page, rows = Page(content), []
    for number, (offset, length) in enumerate(FrameScan(content)):
        route = page.route(number, offset, length)
        place = {"page": PAGE_NUMBER, "number": number, "offset": offset, "length": length}
        if isinstance(route, Damage):
            rows.append(place)
        elif route[2] != length:
            break
        else:
            rows.append(_row(bytes(content[offset : offset + length + FRAME]), level, page.layout()) | place)
    return pa.RecordBatch.from_pylist(rows, schema=schema(level))


def same_rows(got: pa.RecordBatch, content: bytes, level: Detail) -> bool:
    """Return whether a table has the rows of the reference decoder.

    Columns are compared as a whole, rows with a NaN one by one.
    """
    expected = reference_rows(content, level)
    return got.schema.names == expected.schema.names and all(map(_same_column, got.columns, expected.columns))


def _same_column(got: pa.Array, expected: pa.Array) -> bool:
    if got.equals(expected):
        return True
    pairs = zip(got.to_pylist(), expected.to_pylist(), strict=False)
    return len(got) == len(expected) and all(
        one == other or comparable(one) == comparable(other) for one, other in pairs
    )
