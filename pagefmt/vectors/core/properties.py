"""Typed properties in lock-step: step k reads the k-th property of every message at once (docs/spec/messages.md 5).

A value's width comes from a table by type code; strings and byte arrays carry theirs. Messages with fewer entries drop
out of later steps. The entries end up in message order, then wire order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from pagefmt.arrays import Bytes, Ints, Mask
from pagefmt.codec.messages.core_fields import PROPERTY_CODES, PROPERTY_TYPES
from pagefmt.codec.messages.values import ValueKind
from pagefmt.describe.arrow_schema import PROPERTIES, STRING, VALUE
from pagefmt.vectors.arrays.strings import distinct, slices, text_of_utf16
from pagefmt.vectors.pages.gather import PageBytes

NULL, BOOLEAN, BYTE, BYTES, SHORT, INT, LONG, FLOAT, DOUBLE, TEXT, CHAR = (
    PROPERTY_CODES[kind]
    for kind in (
        ValueKind.NULL,
        ValueKind.BOOLEAN,
        ValueKind.BYTE,
        ValueKind.BYTES,
        ValueKind.SHORT,
        ValueKind.INT,
        ValueKind.LONG,
        ValueKind.FLOAT,
        ValueKind.DOUBLE,
        ValueKind.STRING,
        ValueKind.CHAR,
    )
)
NAMES: Final = tuple(str(PROPERTY_TYPES[code].kind) if code in PROPERTY_TYPES else "" for code in range(12))
_BAD = 255
_WIDTH: Final = np.full(256, _BAD, np.int64)
for _code, _type in PROPERTY_TYPES.items():
    _WIDTH[_code] = 4 if _type.size is None else _type.size
MAX_ENTRIES: Final = 4096


@dataclass(slots=True)
class Entries:
    """All properties of some messages, flat. ``offsets`` (n+1) tells which belong to which message."""

    offsets: Ints
    key_at: Ints
    key_size: Ints
    type: Bytes
    value_at: Ints  # of the value's content: behind the length where there is one
    value_size: Ints


def read_entries(page: PageBytes, at: Ints, end: Ints, ok: Mask) -> tuple[Entries, Mask]:
    """Read the properties blocks at ``at``. The mask says which blocks end exactly at ``end``."""
    present = ok & (page.byte(at) != 0)
    count = np.where(present, page.i32(at + 1), 0)
    fine = ok & (count >= 0) & (count <= MAX_ENTRIES) & (5 * count <= end - at)
    count = np.where(fine, count, 0)
    cursor = np.where(present & fine, at + 5, at + 1)
    offsets = np.concatenate(([0], np.cumsum(count)))
    total = int(offsets[-1])
    flat = Entries(
        offsets,
        np.zeros(total, np.int64),
        np.zeros(total, np.int64),
        np.zeros(total, np.uint8),
        np.zeros(total, np.int64),
        np.zeros(total, np.int64),
    )
    rows = np.flatnonzero(count)
    at, stop, left, slot = cursor[rows], end[rows], count[rows], offsets[rows]
    while len(rows):
        # Lock-step: each round reads one entry of every block that still has one; finished blocks drop out.
        after, good = _step(page, flat, slot, at, stop)
        if not good.all():
            fine[rows[~good]] = False
            # a wild size leads nowhere: an empty entry stands for what is thrown away
            for column in (flat.key_at, flat.key_size, flat.type, flat.value_at, flat.value_size):
                column[slot[~good]] = 0
            rows, after, stop, left, slot = (column[good] for column in (rows, after, stop, left, slot))
        left, slot = left - 1, slot + 1
        done = left == 0
        at = after
        if done.any():
            cursor[rows[done]] = after[done]
            more = ~done
            rows, at, stop, left, slot = (column[more] for column in (rows, after, stop, left, slot))
    fine &= cursor == end
    return flat, fine


_SIGN_AND_ODD: Final = np.int64(-(1 << 63) + 1)


def _step(page: PageBytes, flat: Entries, slot: Ints, at: Ints, stop: Ints) -> tuple[Ints, Mask]:
    """Read one property of each message into ``slot``: where it ends, and whether it fits."""
    key_size = page.i32(at)
    type_at = at + 4 + key_size
    code = page.byte(type_at)
    same = int(code[0])
    good = (key_size & _SIGN_AND_ODD) == 0
    if (code == same).all():
        content, size, fits = _values_of_one_type(page, type_at + 1, same)
    else:
        content, size, fits = _values(page, type_at + 1, code)
    after = content + size
    good &= fits & (after <= stop)
    flat.key_at[slot], flat.key_size[slot] = at + 4, key_size
    flat.type[slot], flat.value_at[slot], flat.value_size[slot] = code, content, size
    return after, good


def _values_of_one_type(page: PageBytes, at: Ints, code: int) -> tuple[Ints, Ints, Mask | np.bool_]:
    """(content, size, plausible) of values that have the same type: the usual case."""
    if code not in (BYTES, TEXT):
        width = int(_WIDTH[code])
        return at, np.full(len(at), width), np.bool_(width != _BAD)
    size = page.i32(at)
    return at + 4, size, (size & _SIGN_AND_ODD) == 0 if code == TEXT else size >= 0


def _values(page: PageBytes, at: Ints, code: Bytes) -> tuple[Ints, Ints, Mask]:
    width = _WIDTH[code]
    sized = (code == BYTES) | (code == TEXT)
    size = np.where(sized, page.i32(at), width)
    good = (width != _BAD) & (size >= 0) & ((code != TEXT) | (size % 2 == 0))
    return np.where(sized, at + 4, at), size, good


def raw_keys(page: PageBytes, entries: Entries) -> pa.DictionaryArray:
    """Return the names as UTF-16LE bytes, dictionary-encoded."""
    return distinct(page, entries.key_at, entries.key_size, period(entries.offsets))


def period(offsets: Ints) -> int:
    """Return the number of entries of each message if all have the same number, else 0."""
    first = int(offsets[1]) if len(offsets) > 1 else 0
    return first if first and bool((np.diff(offsets) == first).all()) else 0


def keys(page: PageBytes, entries: Entries) -> pa.DictionaryArray:
    """Return the names, each distinct one decoded once."""
    coded = raw_keys(page, entries)
    return pa.DictionaryArray.from_arrays(coded.indices, text_of_utf16(coded.dictionary))


def repeated_keys(offsets: Ints, coded: pa.DictionaryArray) -> Mask:
    """Return which messages have a name twice: the broker takes the last one, a map has room for one."""
    n, names = len(offsets) - 1, len(coded.dictionary)
    out = np.zeros(n, bool)
    if names == 0:
        return out
    row = np.repeat(np.arange(n), np.diff(offsets))
    cell = row * names + np.asarray(coded.indices)
    if n * names <= 64 * len(cell) + 1024:
        seen = np.zeros(n * names, np.uint8)
        seen[cell] = 1
        if int(seen.sum()) == len(cell):
            return out
    unique, times = np.unique(cell, return_counts=True)
    out[unique[times > 1] // names] = True
    return out


def value_array(page: PageBytes, entries: Entries) -> pa.StructArray:
    """Return the values as VALUE structs."""
    code, at, size = entries.type, entries.value_at, entries.value_size
    n = len(code)
    longs, is_long = np.zeros(n, np.int64), np.zeros(n, bool)
    for kind, read in (
        (BOOLEAN, lambda p: (page.byte(p) != 0).astype(np.int64)),
        (BYTE, page.i8),
        (SHORT, page.i16),
        (INT, page.i32),
        (LONG, page.i64),
        (CHAR, lambda p: page.i16(p) & 0xFFFF),
    ):
        rows = np.flatnonzero(code == kind)
        if len(rows):
            longs[rows], is_long[rows] = read(at[rows]), True
    doubles, is_double = np.zeros(n), np.zeros(n, bool)
    for kind, read_real in ((FLOAT, page.f32), (DOUBLE, page.f64)):
        rows = np.flatnonzero(code == kind)
        if len(rows):
            doubles[rows], is_double[rows] = read_real(at[rows]), True
    names = pa.DictionaryArray.from_arrays(pa.array(code.view(np.int8)), pa.array(NAMES, STRING)).cast(STRING)
    text = text_of_utf16(slices(page, at, size, code == TEXT))
    raw = slices(page, at, size, code == BYTES)
    parts = [names, pa.array(longs, mask=~is_long), pa.array(doubles, mask=~is_double), text, raw, pa.nulls(n, STRING)]
    return pa.StructArray.from_arrays(parts, fields=list(VALUE))


def property_maps(offsets: Ints, names: pa.DictionaryArray, values: pa.StructArray) -> pa.MapArray:
    """Return the properties of each message as an Arrow map."""
    text = names.cast(STRING)
    return pa.MapArray.from_arrays(pa.array(offsets.astype(np.int32)), text, values).cast(PROPERTIES)
