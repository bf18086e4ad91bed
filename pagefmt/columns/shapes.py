"""The properties of core messages as Arrow maps: messages of one shape as a table, a few shapes as a few tables."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np
import pyarrow as pa

from pagefmt.columns import properties
from pagefmt.columns.alike import alike, like_first
from pagefmt.columns.alike_arrays import table_maps
from pagefmt.columns.gather import Ints, Mask, PageBytes
from pagefmt.columns.order import in_order

_MOST: Final = 8
"""Shapes: names and types in their order. What has none of the first few is read in lock-step."""

Part = tuple[Ints, pa.MapArray]


def property_maps(page: PageBytes, at: Ints, end: Ints, regular: Mask, never: Collection[str]) -> pa.MapArray:
    """The properties blocks at ``at``, which must end exactly at ``end``. Those that do not, or that have one of the
    names in ``never``, clear ``regular``."""
    parts: list[Part] = []
    left, odd = np.arange(len(at)), []
    for _ in range(_MOST):
        if not len(left):
            break
        columns = alike(page, at[left], end[left])
        mine = np.arange(len(left)) if columns is not None else like_first(page, at[left], end[left])
        if not len(mine):
            odd.append(left[:1])
            left = left[1:]
            continue
        rows = left[mine]
        columns = columns if columns is not None else alike(page, at[rows], end[rows])
        assert columns is not None
        maps, names = table_maps(page, columns, len(rows))
        if not set(names).isdisjoint(never):
            regular[rows] = False
        parts.append((rows, maps))
        left = np.delete(left, mine)
    rest = np.sort(np.concatenate([left, *odd]))
    if len(rest):
        parts.append((rest, _in_lock_step(page, at[rest], end[rest], rest, regular, never)))
    return in_order(parts, pa.concat_arrays)


def _in_lock_step(
    page: PageBytes, at: Ints, end: Ints, rows: Ints, regular: Mask, never: Collection[str]
) -> pa.MapArray:
    entries, fine = properties.read_entries(page, at, end, np.ones(len(at), bool))
    names = properties.keys(page, entries)
    fine &= ~properties.repeated_keys(entries.offsets, names)
    unwanted = [k for k, name in enumerate(names.dictionary.to_pylist()) if name in never]
    if unwanted:
        owner = np.repeat(np.arange(len(at)), np.diff(entries.offsets))
        fine[owner[np.isin(np.asarray(names.indices), unwanted)]] = False
    regular[rows[~fine]] = False
    return properties.property_maps(entries.offsets, names, properties.value_array(page, entries))
