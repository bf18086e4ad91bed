"""The properties of messages that all have the same ones, as Arrow arrays: what is the same in all is made once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pagefmt.columns import properties as props
from pagefmt.columns.alike import Column
from pagefmt.columns.gather import PageBytes
from pagefmt.columns.repeated import Nulls, repeated, validity
from pagefmt.columns.schema import BINARY, PROPERTIES, STRING, VALUE
from pagefmt.columns.strings import Offsets, every_second, text_of_utf16

_LONGS: Final = (props.BOOLEAN, props.BYTE, props.SHORT, props.INT, props.LONG, props.CHAR)
_DOUBLES: Final = (props.FLOAT, props.DOUBLE)
_NO_LONG, _NO_DOUBLE = Nulls(pa.int64()), Nulls(pa.float64())
_NO_TEXT, _NO_BYTES = Nulls(STRING), Nulls(BINARY)


def table_maps(page: PageBytes, columns: Sequence[Column], rows: int) -> tuple[pa.MapArray, tuple[str, ...]]:
    """A map for each message, and the names."""
    names = tuple(text_of_utf16(pa.array([column.name for column in columns], BINARY)).to_pylist())
    offsets = np.arange(rows + 1, dtype=np.int32) * np.int32(len(columns))
    parts = [
        repeated(tuple(props.NAMES[column.type] for column in columns), rows),
        _numbers(columns, rows, _LONGS, _NO_LONG), _numbers(columns, rows, _DOUBLES, _NO_DOUBLE),
        _contents(page, columns, rows, props.TEXT), _contents(page, columns, rows, props.BYTES),
        _NO_TEXT(rows * len(columns)),
    ]  # fmt: skip
    values = pa.StructArray.from_arrays(parts, fields=list(VALUE))
    return pa.MapArray.from_arrays(pa.array(offsets), repeated(names, rows), values, type=PROPERTIES), names


def _numbers(columns: Sequence[Column], rows: int, kinds: tuple[int, ...], none: Nulls) -> pa.Array:
    """The values of some types, nulls in between."""
    there = tuple(column.type in kinds for column in columns)
    n = rows * len(columns)
    if not any(there):
        return none(n)
    table = np.zeros((rows, len(columns)), none.kind.to_pandas_dtype())
    for k, column in enumerate(columns):
        if there[k] and column.values is not None:
            table[:, k] = column.values != 0 if column.type == props.BOOLEAN else column.values
    return pa.Array.from_buffers(none.kind, n, [validity(there, rows), pa.py_buffer(table)])


def _contents(page: PageBytes, columns: Sequence[Column], rows: int, kind: int) -> pa.Array:
    """The texts or the byte arrays, nulls in between."""
    there = tuple(column.type == kind for column in columns)
    mine = [column for column in columns if column.type == kind]
    none = _NO_TEXT if kind == props.TEXT else _NO_BYTES
    if not mine:
        return none(rows * len(columns))
    offsets = np.empty(2 * rows * len(mine) + 1, np.int32)
    pairs = offsets[:-1].reshape(rows, len(mine), 2)
    for k, column in enumerate(mine):
        pairs[:, k, 0] = column.at
        pairs[:, k, 1] = column.at + column.size
    offsets[-1] = offsets[-2]
    found = every_second(page, offsets)
    if kind == props.TEXT:
        found = text_of_utf16(found)
    at = _spread(np.frombuffer(found.buffers()[1], np.int32)[: rows * len(mine) + 1], there)
    return pa.Array.from_buffers(
        none.kind, rows * len(columns), [validity(there, rows), pa.py_buffer(at), found.buffers()[2]]
    )


def _spread(at: Offsets, there: tuple[bool, ...]) -> Offsets:
    """Offsets of values with empty ones in between."""
    if all(there):
        return at
    mine = sum(there)
    ends: npt.NDArray[np.int32] = np.empty(((len(at) - 1) // mine, mine + 1), np.int32)
    ends[:, :mine] = at[:-1].reshape(-1, mine)
    ends[:, mine] = at[mine::mine]
    out = np.empty(len(ends) * len(there) + 1, np.int32)
    out[:-1].reshape(len(ends), -1)[:] = ends[:, np.cumsum(there) - there]
    out[-1] = at[-1]
    return out
