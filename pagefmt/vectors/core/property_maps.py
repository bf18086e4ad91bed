"""The properties of core messages as Arrow maps: messages of one shape as a table, a few shapes as a few tables."""

from __future__ import annotations

from collections.abc import Set
from typing import Final

import numpy as np
import pyarrow as pa

from pagefmt.arrays import Ints, Mask
from pagefmt.vectors.arrays.order import in_order
from pagefmt.vectors.core import properties
from pagefmt.vectors.core.uniform_maps import table_maps
from pagefmt.vectors.core.uniform_properties import Column, alike, like_first
from pagefmt.vectors.pages.gather import PageBytes

# Shapes (names and types in order) per chunk; further ones, and rare ones, are read in lock-step.
_MOST: Final = 8
# After so many rare shapes no more are looked for: the messages differ.
_RARE: Final = 2


def property_maps(page: PageBytes, at: Ints, end: Ints, regular: Mask, never: Set[str]) -> pa.MapArray:
    """Return the properties blocks from ``at`` to ``end`` as Arrow maps.

    A block that does not end exactly at ``end``, or that has a name in ``never``, clears ``regular``.
    """
    parts: list[tuple[Ints, pa.MapArray]] = []
    left, rare = np.arange(len(at)), [np.empty(0, np.int64)]
    while len(left) and len(rare) <= _RARE and len(parts) < _MOST:
        rows, columns = _of_one_shape(page, at, end, left)
        left = np.setdiff1d(left, rows, assume_unique=True)
        if columns is None:
            rare.append(rows)
            continue
        maps, names = table_maps(page, columns, len(rows))
        regular[rows] &= never.isdisjoint(names)
        parts.append((rows, maps))
    remaining = np.sort(np.concatenate([left, *rare]))
    if len(remaining):
        parts.append((remaining, _in_lock_step(page, at[remaining], end[remaining], remaining, regular, never)))
    return in_order(parts, pa.concat_arrays)


def _of_one_shape(page: PageBytes, at: Ints, end: Ints, left: Ints) -> tuple[Ints, list[Column] | None]:
    """Return the rows with the same names and types as the first row left, and their columns.

    The columns are None if these rows are few.
    """
    columns = alike(page, at[left], end[left])
    if columns is not None:
        return left, columns
    rows = left[like_first(page, at[left], end[left])]
    if len(rows) * _MOST < len(left):
        return rows if len(rows) else left[:1], None
    return rows, alike(page, at[rows], end[rows])


def _in_lock_step(page: PageBytes, at: Ints, end: Ints, rows: Ints, regular: Mask, never: Set[str]) -> pa.MapArray:
    entries, fine = properties.read_entries(page, at, end, np.ones(len(at), bool))
    names = properties.keys(page, entries)
    fine &= ~properties.repeated_keys(entries.offsets, names)
    unwanted = [k for k, name in enumerate(names.dictionary.to_pylist()) if name in never]
    if unwanted:
        owner = np.repeat(np.arange(len(at)), np.diff(entries.offsets))
        fine[owner[np.isin(np.asarray(names.indices), unwanted)]] = False
    regular[rows[~fine]] = False
    return properties.property_maps(entries.offsets, names, properties.value_array(page, entries))
