"""Properties that all messages have in common as Arrow maps, filled column by column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pagefmt.arrays import Ints
from pagefmt.describe.arrow_schema import BINARY, PROPERTIES, STRING, VALUE
from pagefmt.vectors.arrays.repeated import Nulls, repeated, validity
from pagefmt.vectors.arrays.strings import Offsets, table_slices
from pagefmt.vectors.pages.gather import PageBytes

Numbers = npt.NDArray[Any]
_FIELDS: Final = list(VALUE)
_NO_LONG, _NO_DOUBLE = Nulls(pa.int64()), Nulls(pa.float64())
_NO_TEXT, _NO_BYTES = Nulls(STRING), Nulls(BINARY)


@dataclass(frozen=True, slots=True)
class PropertyColumn:
    """One name's value in all messages: the field of VALUE that has it is set, none for nulls.

    Texts and bytes: (offset in the page, size).
    """

    name: str
    type: str
    longs: Numbers | None = None
    doubles: Numbers | None = None
    text: tuple[Ints, Ints | int] | None = None
    raw: tuple[Ints, Ints | int] | None = None


def value_maps(
    page: PageBytes, columns: Sequence[PropertyColumn], rows: int, text_of: Callable[[pa.BinaryArray], pa.StringArray]
) -> pa.MapArray:
    """Return a map for each message. ``text_of`` decodes the texts."""
    texts, at = _contents(page, [column.text for column in columns], rows)
    raws, raw_at = _contents(page, [column.raw for column in columns], rows)
    parts = [
        repeated(tuple(column.type for column in columns), rows),
        _numbers([column.longs for column in columns], rows, _NO_LONG),
        _numbers([column.doubles for column in columns], rows, _NO_DOUBLE),
        _NO_TEXT(rows * len(columns)) if texts is None else _among_nulls(text_of(texts), at, rows),
        _NO_BYTES(rows * len(columns)) if raws is None else _among_nulls(raws, raw_at, rows),
        _NO_TEXT(rows * len(columns)),
    ]
    values = pa.StructArray.from_arrays(parts, fields=_FIELDS)
    offsets = np.arange(rows + 1, dtype=np.int32) * np.int32(len(columns))
    names = repeated(tuple(column.name for column in columns), rows)
    return pa.MapArray.from_arrays(pa.array(offsets), names, values, type=PROPERTIES)


def _numbers(columns: Sequence[Numbers | None], rows: int, none: Nulls) -> pa.Array:
    """Return the numbers of the columns, row by row, null for columns without numbers."""
    there = tuple(column is not None for column in columns)
    n = rows * len(columns)
    if not any(there):
        return none(n)
    table = np.zeros((rows, len(columns)), none.kind.to_pandas_dtype())
    for k, column in enumerate(columns):
        if column is not None:
            table[:, k] = column
    return pa.Array.from_buffers(none.kind, n, [validity(there, rows), pa.py_buffer(table)])


def _contents(
    page: PageBytes, places: Sequence[tuple[Ints, Ints | int] | None], rows: int
) -> tuple[pa.BinaryArray | None, tuple[bool, ...]]:
    """Return the slices at the positions, row by row, and which columns have any."""
    there = tuple(place is not None for place in places)
    mine = [place for place in places if place is not None]
    if not mine:
        return None, there
    return table_slices(page, mine, rows), there


def _among_nulls(values: pa.Array, there: tuple[bool, ...], rows: int) -> pa.Array:
    """Return the values in the columns that have some, and nulls in the others."""
    if all(there):
        return values
    at = np.frombuffer(values.buffers()[1], np.int32)[: rows * sum(there) + 1]
    buffers = [validity(there, rows), pa.py_buffer(_spread(at, there)), values.buffers()[2]]
    return pa.Array.from_buffers(values.type, rows * len(there), buffers)


def _spread(at: Offsets, there: tuple[bool, ...]) -> Offsets:
    """Return the offsets of values with empty ones in between."""
    mine = sum(there)
    ends: npt.NDArray[np.int32] = np.empty(((len(at) - 1) // mine, mine + 1), np.int32)
    ends[:, :mine] = at[:-1].reshape(-1, mine)
    ends[:, mine] = at[mine::mine]
    out = np.empty(len(ends) * len(there) + 1, np.int32)
    out[:-1].reshape(len(ends), -1)[:] = ends[:, np.cumsum(there) - there]
    out[-1] = at[-1]
    return out
