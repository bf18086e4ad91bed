"""Rows of a Parquet trace that are sends of one kind, one after the other: taken as columns.

A row belongs to the stretch of the row before it where nothing differs but ``i``, ``t``, ``seq`` and ``size``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pageengine.trace.send_run import Numbers

    Flags = NDArray[np.bool_]

FEWEST = 32
"""Shorter stretches are read row by row."""
VARYING = ("t", "seq", "size")


def stretches(batch: pa.RecordBatch) -> list[tuple[int, int]]:
    """First row, and the one behind the last, of each stretch of sends that is worth it."""
    try:
        return _stretches(batch)
    except (pa.ArrowException, KeyError, TypeError, ValueError):
        # columns of other types than a trace has: what is wrong is told row by row
        return []


def _stretches(batch: pa.RecordBatch) -> list[tuple[int, int]]:
    names = batch.schema.names
    if batch.num_rows < FEWEST or not {"op", "t", "seq"}.issubset(names):
        return []
    if any(batch.column(name).type != pa.int64() for name in VARYING if name in names):
        return []
    fits = _whole(batch, "t") & _whole(batch, "seq")
    if "size" in names:
        # where there is none it is 0
        fits &= _whole(batch, "size") | np.asarray(pc.is_null(batch.column("size")))
    ops = batch.column("op")
    sends = pc.fill_null(
        pc.equal(pc.cast(ops, pa.string()) if pa.types.is_dictionary(ops.type) else ops, "send"), False
    )
    same = fits & np.asarray(sends)
    for name in names:
        if name not in VARYING and same.any():
            same[1:] &= _as_before(batch.column(name))
    same[0] = False
    edges = np.flatnonzero(np.diff(np.concatenate(([False], same, [False])).astype(np.int8)))
    return [(start - 1, end) for start, end in edges.reshape(-1, 2).tolist() if end - start + 1 >= FEWEST]


def numbers(batch: pa.RecordBatch, start: int, end: int) -> dict[str, Numbers]:
    """The columns that vary."""
    return {
        name: np.asarray(pc.fill_null(batch.column(name).slice(start, end - start), 0))
        for name in VARYING
        if name in batch.schema.names
    }


def _whole(batch: pa.RecordBatch, name: str) -> Flags:
    """Where a column has a number that is not negative."""
    return cast("Flags", np.asarray(pc.fill_null(pc.greater_equal(batch.column(name), 0), False)))


def _as_before(column: pa.Array) -> Flags:
    """For each row but the first, whether it has what the row before has."""
    if column.null_count == len(column):
        return np.ones(len(column) - 1, bool)
    if pa.types.is_map(column.type):
        return _maps_as_before(column)
    values: Any = column.indices if pa.types.is_dictionary(column.type) else column
    here, before = values.slice(1), values.slice(0, len(values) - 1)
    both = pc.and_(pc.is_null(here), pc.is_null(before))
    return cast("Flags", np.asarray(pc.or_(both, pc.fill_null(pc.equal(here, before), False))))


def _maps_as_before(column: pa.Array) -> Flags:
    """Equal entries in equal order."""
    offsets = np.asarray(column.offsets) - column.offsets[0].as_py()
    lengths = np.diff(offsets)
    present = np.asarray(column.is_valid())
    same = (lengths[1:] == lengths[:-1]) & (present[1:] == present[:-1])
    rows = np.repeat(np.arange(len(lengths)), lengths)
    places = np.arange(len(rows))
    counterparts = np.clip(offsets[np.maximum(rows - 1, 0)] + places - offsets[rows], 0, max(len(rows) - 1, 0))
    start, count = column.offsets[0].as_py(), len(rows)
    for flat in (column.keys.slice(start, count), column.items.slice(start, count)):
        if len(flat) == 0:
            continue
        differs = ~np.asarray(_equal_at(flat, counterparts))
        wrong = rows[differs]
        same[wrong[wrong > 0] - 1] = False
    return cast("Flags", same)


def _equal_at(values: pa.Array, counterparts: NDArray[np.int64]) -> pa.Array:
    others = values.take(pa.array(counterparts))
    both = pc.and_(pc.is_null(values), pc.is_null(others))
    return pc.or_(both, pc.fill_null(pc.equal(values, others), False))
