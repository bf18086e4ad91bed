"""The rows that the reference decoder gives of a page, and how rows compare."""

from __future__ import annotations

import math
from typing import Any

from pagefmt.bytes.wire import Undecodable
from pagefmt.columns.arrays.schema import Detail, schema
from pagefmt.columns.rows import readable_row
from pagefmt.pages.frames import FrameScan
from pagefmt.pages.record import decode_record


def comparable(value: Any) -> Any:
    """NaN equals NaN here."""
    if isinstance(value, float) and math.isnan(value):
        return "NaN"
    if isinstance(value, dict):
        return {key: comparable(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [comparable(each) for each in value]
    return value


def reference_rows(content: bytes, level: Detail) -> list[dict[str, Any]]:
    import pyarrow as pa

    rows = []
    for number, (offset, length) in enumerate(FrameScan(content)):
        try:
            rows.append(readable_row(decode_record(content, offset, length), 7, number, level)[0])
        except Undecodable:
            break
    return pa.RecordBatch.from_pylist(rows, schema=schema(level)).to_pylist()
