"""Types of NumPy arrays, and functions on arrays of integers that several wings need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Fields = npt.NDArray[np.void]


def distinct(values: Ints) -> Ints:
    """Return the distinct values, ascending.

    (``numpy.unique`` imports masked arrays, which doubles the start time.)
    """
    rising = np.sort(values)
    return np.concatenate((rising[:1], rising[1:][rising[1:] != rising[:-1]]))


def ranked(values: Ints) -> tuple[Ints, Ints]:
    """Return the distinct values in rising order, and the place of each value among them.

    Values that lie close together are entered in a table, which takes a tenth of the time of a sort.
    """
    if not len(values):
        return values, np.zeros(0, np.int64)
    least, span = int(values.min()), int(values.max()) - int(values.min())
    if not span:
        return values[:1], np.zeros(len(values), np.int64)
    if span > 4 * len(values):
        rising = distinct(values)
        return rising, np.searchsorted(rising, values)
    present = np.zeros(span + 1, bool)
    present[values - least] = True
    place = np.cumsum(present) - 1
    return np.flatnonzero(present) + least, place[values - least]


def narrow(values: Ints) -> Ints:
    """Return the values in the narrowest integer type that holds them."""
    least, most = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    kinds = (np.int8, np.int16, np.int32)
    kind = next(
        (candidate for candidate in kinds if np.iinfo(candidate).min <= least and most <= np.iinfo(candidate).max),
        np.int64,
    )
    narrowed: Any = values.astype(kind, copy=False)
    return cast("Ints", narrowed)


class ValueIndex:
    """The indexes of values in an array, of equal ones the first."""

    def __init__(self, values: Ints) -> None:
        self._order = None if (values[1:] >= values[:-1]).all() else narrow(np.argsort(values, kind="stable"))
        self._values = values if self._order is None else values[self._order]

    def of(self, wanted: Ints) -> Ints:
        """Return the index of each wanted value, -1 for those that are not in the array."""
        if not len(self._values):
            return np.full(len(wanted), -1, np.int64)
        at = np.searchsorted(self._values, wanted).clip(max=len(self._values) - 1)
        return np.where(self._values[at] == wanted, at if self._order is None else self._order[at], -1)


def spread(first: Ints, counts: Ints) -> Ints:
    """Return consecutive numbers for each k, concatenated: ``counts[k]`` from ``first[k]`` on."""
    ends = np.cumsum(counts)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(first - ends + counts, counts)


def value_bytes(values: pa.Array) -> Bytes:
    """Return the bytes of all values in sequence; may begin and end with bytes that belong to no value."""
    content = values.buffers()[2]
    return np.frombuffer(content, np.uint8) if content is not None else np.empty(0, np.uint8)


def flat(queues: pa.ListArray) -> tuple[Ints, Ints]:
    """Return the offsets of the rows, and the queue ids of the lists."""
    at: Ints = np.asarray(queues.offsets).astype(np.int64)
    ids: Ints = np.asarray(queues.values)[at[0] : at[-1]]
    return at - at[0], ids
