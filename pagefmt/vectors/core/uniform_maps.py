"""The properties of messages that all have the same ones, as Arrow maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa

from pagefmt.describe.arrow_schema import BINARY
from pagefmt.vectors.arrays.strings import text_of_utf16
from pagefmt.vectors.arrays.value_maps import PropertyColumn, value_maps
from pagefmt.vectors.core import properties as props
from pagefmt.vectors.core.uniform_properties import Column
from pagefmt.vectors.pages.gather import PageBytes, doubles

_DOUBLES: Final = (props.FLOAT, props.DOUBLE)


def table_maps(page: PageBytes, columns: Sequence[Column], rows: int) -> tuple[pa.MapArray, tuple[str, ...]]:
    """Return a map for each message, and the names."""
    names = tuple(text_of_utf16(pa.array([column.name for column in columns], BINARY)).to_pylist())
    named = [_property_column(name, column) for name, column in zip(names, columns, strict=True)]
    return value_maps(page, named, rows, text_of_utf16), names


def _property_column(name: str, column: Column) -> PropertyColumn:
    """Return a column of properties as Arrow's maps need it: offsets of text and bytes, values of numbers."""
    kind, values = props.NAMES[column.type], column.values
    if column.type == props.TEXT:
        return PropertyColumn(name, kind, text=(column.at, column.size))
    if column.type == props.BYTES:
        return PropertyColumn(name, kind, raw=(column.at, column.size))
    if column.type == props.NULL or values is None:
        return PropertyColumn(name, kind)
    if column.type in _DOUBLES:
        return PropertyColumn(name, kind, doubles=doubles(values))
    return PropertyColumn(name, kind, longs=values != 0 if column.type == props.BOOLEAN else values)
