"""The properties of core messages as Arrow maps: messages of one shape as a table, a few shapes as a few tables."""

from __future__ import annotations

from collections.abc import Set
from typing import Final

import numpy as np
import pyarrow as pa

from pagefmt.columns.arrays.order import in_order
from pagefmt.columns.core import properties
from pagefmt.columns.core.alike import Column, alike, like_first
from pagefmt.columns.core.alike_arrays import table_maps
from pagefmt.pages.gather import Ints, Mask, PageBytes

_MOST: Final = 8
"""Shapes: names and types in their order. What has none of the first few is read in lock-step, and rare ones too."""
_RARE: Final = 2
"""After as many rare ones no more are looked for: the messages differ."""


def property_maps(page: PageBytes, at: Ints, end: Ints, regular: Mask, never: Set[str]) -> pa.MapArray:
    """The properties blocks at ``at``, which must end exactly at ``end``. Those that do not, or that have one of the
    names in ``never``, clear ``regular``."""
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
    rest = np.sort(np.concatenate([left, *rare]))
    if len(rest):
        parts.append((rest, _in_lock_step(page, at[rest], end[rest], rest, regular, never)))
    return in_order(parts, pa.concat_arrays)


def _of_one_shape(page: PageBytes, at: Ints, end: Ints, left: Ints) -> tuple[Ints, list[Column] | None]:
    """The rows like the first of those left, and their columns; None where these rows are few among them."""
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
