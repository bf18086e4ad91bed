"""Constant columns: built once for many rows and handed out as slices."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Final, Generic, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Key = TypeVar("Key", bound=Hashable)
Made = TypeVar("Made")


def repeated(values: tuple[str, ...], times: int) -> pa.StringArray:
    """Return the texts in sequence, ``times`` over."""
    return _TEXTS.get(values, times).slice(0, times * len(values))


class Nulls:
    """All-null columns of one type."""

    def __init__(self, kind: pa.DataType) -> None:
        self.kind = kind
        self._made = pa.nulls(0, kind)

    def __call__(self, rows: int) -> pa.Array:
        if len(self._made) < rows:
            self._made = pa.nulls(1 << rows.bit_length(), self.kind)
        return self._made.slice(0, rows)


def validity(pattern: tuple[bool, ...], times: int) -> pa.Buffer:
    """Return validity bits for an Arrow array: the pattern at least ``times`` over."""
    return _BITS.get(pattern, times)


class RepeatedCache(Generic[Key, Made]):
    """The last ``most`` arrays made, each with at least the rows ever asked for: chunks differ a little in length."""

    def __init__(self, make: Callable[[Key, int], Made], most: int = 16) -> None:
        self._make = make
        self._most = most
        self._made: dict[Key, tuple[int, Made]] = {}

    def get(self, key: Key, rows: int) -> Made:
        """Return the array of a key for ``rows`` rows or more, from the cache if it is long enough."""
        kept = self._made.pop(key, None)
        if kept is None or kept[0] < rows:
            enough = 1 << rows.bit_length()
            kept = enough, self._make(key, enough)
        self._made[key] = kept
        if len(self._made) > self._most:
            del self._made[next(iter(self._made))]
        return kept[1]


def _texts(values: tuple[str, ...], times: int) -> pa.StringArray:
    encoded = [value.encode() for value in values]
    offsets: npt.NDArray[np.int32] = np.zeros(len(values) * times + 1, np.int32)
    np.cumsum(np.tile([len(raw) for raw in encoded], times), out=offsets[1:])
    content = b"".join(encoded) * times
    return pa.StringArray.from_buffers(len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(content))


def _bits(pattern: tuple[bool, ...], times: int) -> pa.Buffer:
    return pa.py_buffer(np.packbits(np.tile(np.array(pattern, bool), times), bitorder="little"))


_TEXTS: Final = RepeatedCache(_texts)
_BITS: Final = RepeatedCache(_bits)
