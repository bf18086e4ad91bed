"""The maps of AMQP messages as Arrow arrays: annotations, application properties, footers.

Where all messages follow one plan, a map is a table with a column for each name: what is the same in a column is done
once. Elsewhere all entries of all messages are one column.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa

from pagefmt.arrays import Bytes, Ints, Mask
from pagefmt.describe.arrow_schema import PROPERTIES, STRING, VALUE
from pagefmt.vectors.amqp.structure import Structure, ValueColumn
from pagefmt.vectors.amqp.values import (
    GIVEN_NAMES,
    IS_BINARY,
    IS_SYMBOL,
    IS_TEXT,
    SYMBOLS,
    TYPE_NAMES,
    TYPE_OF,
    ULONG,
    UNKNOWN,
    WHOLE,
    beyond_ascii,
    by_code,
    number_array,
    pair_keys,
    read_integer,
)
from pagefmt.vectors.amqp.walk import ABSENT, APPLICATION, NULL, Pairs, map_pairs, widths
from pagefmt.vectors.arrays.repeated import Nulls, RepeatedCache
from pagefmt.vectors.arrays.strings import only_one, slices, text_of_utf8
from pagefmt.vectors.arrays.value_maps import PropertyColumn, value_maps
from pagefmt.vectors.core import properties
from pagefmt.vectors.pages.gather import PageBytes

_FLOAT, _DOUBLE = 0x72, 0x82
_FIELDS: Final = list(VALUE)
_NO_MAP, _NO_TEXT = Nulls(PROPERTIES), Nulls(STRING)


def map_column(messages: Structure, kind: int, *, as_given: bool = False, nulls: bool = True) -> pa.MapArray:
    """Return the map of each message; a map that this reader does not understand clears ``messages.regular``.

    ``as_given``: unsigned numbers become long, as the broker hands out application properties. ``nulls``: null where
    the section is absent, else an empty map.
    """
    section = messages.section(kind)
    if nulls and section.code == ABSENT:
        return _NO_MAP(len(messages.regular))
    return (
        _same_map(messages, section, as_given)
        or _table(messages, kind, as_given, nulls)
        or _repeated(messages, kind, as_given, nulls)
        or _of_pairs(messages, kind, as_given, nulls)
    )


# -- the same in all messages ---------------------------------------------------------------------------------------


def _same_map(messages: Structure, section: ValueColumn, as_given: bool) -> pa.MapArray | None:
    if section.code < 0:
        return None
    _, start, size = widths(messages.page, section.at)
    raw = only_one(messages.page, section.at, start + size - section.at)
    maps = None if raw is None else _SAME.get((raw, as_given), len(messages.regular))
    return None if maps is None else maps.slice(0, len(messages.regular))


def _repeated_map(key: tuple[bytes, bool], rows: int) -> pa.MapArray | None:
    """Return the map that fills ``raw``, ``rows`` times, or None if it cannot be read."""
    raw, as_given = key
    page, fits = PageBytes(raw), np.ones(1, bool)
    column = _flat(page, map_pairs(page, np.zeros(1, np.int64), fits), fits, as_given, nulls=False)
    return column.take(pa.array(np.zeros(rows, np.int32))) if fits[0] else None


_SAME: Final = RepeatedCache(_repeated_map, most=4)


# -- few that differ ------------------------------------------------------------------------------------------------


def _repeated(messages: Structure, kind: int, as_given: bool, nulls: bool) -> pa.MapArray | None:
    """Decode each different section once. Skips application properties, since most differ in at least one value."""
    repeated = None if kind == APPLICATION else messages.repeated(kind)
    if repeated is None:
        return None
    maps = [_one_map((raw, as_given), 1) for raw in repeated.different]
    if any(same_map is None for same_map in maps):
        return None
    absent = pa.nulls(1, PROPERTIES) if nulls else pa.array([[]], PROPERTIES)
    which = np.full(len(messages.regular), len(maps), np.int32)
    return pa.concat_arrays([*maps, absent]).take(pa.array(repeated.spread(range(len(maps)), which)))


_one_map: Final = lru_cache(1024)(_repeated_map)


# -- the same names in all messages ---------------------------------------------------------------------------------


class _Unlike(Exception):
    """Texts that cannot be checked all at once."""


def _table(messages: Structure, kind: int, as_given: bool, nulls: bool) -> pa.MapArray | None:
    rows, entries = messages.table(kind) or (np.empty(0, np.int64), [])
    names = known_keys(entries[0::2])
    if not names:
        return None
    columns = [
        _property_column(messages.page, name, value, as_given) for name, value in zip(names, entries[1::2], strict=True)
    ]
    fit = [column for column in columns if column is not None]
    if len(fit) < len(columns):
        return None
    symbols = any(value.code in SYMBOLS for value in entries[1::2])
    try:
        maps = value_maps(messages.page, fit, len(rows), _ascii if symbols else _utf8)
    except _Unlike:
        return None
    return (
        maps
        if len(rows) == len(messages.regular)
        else _among_others(maps, rows, len(messages.regular), len(fit), nulls)
    )


def _among_others(maps: pa.MapArray, rows: Ints, n: int, entries: int, nulls: bool) -> pa.MapArray:
    """Return the maps at ``rows``, of ``entries`` entries each, among ``n`` messages; the others have none."""
    present = np.zeros(n, bool)
    present[rows] = True
    offsets = np.zeros(n + 1, np.int32)
    np.cumsum(present * np.int32(entries), out=offsets[1:])
    mask = np.append(~present, False) if nulls else None
    return pa.MapArray.from_arrays(pa.array(offsets, mask=mask), maps.keys, maps.items, type=PROPERTIES)


def _utf8(raw: pa.BinaryArray) -> pa.StringArray:
    text, bad = text_of_utf8(raw)
    if bad.any():
        raise _Unlike
    return text


def _ascii(raw: pa.BinaryArray) -> pa.StringArray:
    text = _utf8(raw)
    if beyond_ascii(text).any():
        raise _Unlike
    return text


def known_keys(keys: list[ValueColumn]) -> tuple[str, ...] | None:
    """Return the names if all messages have the same ones in the same order, as unique ASCII texts; else None."""
    names: list[str] = []
    for key in keys:
        if key.same is None or not IS_TEXT[key.code] or not key.same.isascii():
            return None
        names.append(key.same.decode())
    return tuple(names) if len(set(names)) == len(names) else None


def _property_column(page: PageBytes, name: str, value: ValueColumn, as_given: bool) -> PropertyColumn | None:
    """Return a column of values that have one type, or None if types differ or are unusual."""
    code: int | Bytes = value.code if value.code >= 0 else page.byte(value.at)
    kinds = np.unique(TYPE_OF[code])
    if len(kinds) > 1 or kinds[0] == UNKNOWN or (not isinstance(code, int) and bool((IS_SYMBOL[code]).any())):
        return None
    first = code if isinstance(code, int) else int(code[0])
    kind = (GIVEN_NAMES if as_given else TYPE_NAMES)[kinds[0]]
    if first == NULL:
        return PropertyColumn(name, kind)
    if IS_TEXT[first] or IS_BINARY[first]:
        content = value.content or widths(page, value.at)[1:]
        return PropertyColumn(name, kind, text=content) if IS_TEXT[first] else PropertyColumn(name, kind, raw=content)
    if first in (_FLOAT, _DOUBLE):
        return PropertyColumn(name, kind, doubles=page.f32(value.at + 1) if first == _FLOAT else page.f64(value.at + 1))
    numbers = _integers(page, code, value.at)
    return (
        None if kinds[0] == TYPE_OF[ULONG] and bool((numbers < 0).any()) else PropertyColumn(name, kind, longs=numbers)
    )


def _integers(page: PageBytes, code: int | Bytes, at: Ints) -> Ints:
    """Return numbers of one type, whose constructors may differ since small numbers are encoded in fewer bytes."""
    if isinstance(code, int):
        return read_integer(page, code, at + 1)
    out = np.empty(len(at), np.int64)
    for constructor, rows in by_code(code):
        out[rows] = read_integer(page, constructor, at[rows] + 1)
    return out


# -- any entries ----------------------------------------------------------------------------------------------------


def _of_pairs(messages: Structure, kind: int, as_given: bool, nulls: bool) -> pa.MapArray:
    return _flat(messages.page, messages.pairs(kind), messages.regular, as_given, nulls=nulls)


def _flat(page: PageBytes, pairs: Pairs, regular: Mask, as_given: bool, *, nulls: bool) -> pa.MapArray:
    names, coded = pair_keys(page, pairs, regular)
    column = _pair_values(page, pairs, regular, as_given)
    regular &= ~properties.repeated_keys(pairs.offsets, coded)
    return map_array(pairs.offsets, pairs.present if nulls else None, names, column)


def map_array(offsets: Ints, present: Mask | None, names: pa.StringArray, column: pa.StructArray) -> pa.MapArray:
    """Return a map for each message, null where it is not ``present``."""
    narrow = offsets.astype(np.int32)
    mask = None if present is None or bool(present.all()) else np.append(~present, False)
    return pa.MapArray.from_arrays(pa.array(narrow, mask=mask), names, column, type=PROPERTIES)


def _pair_values(page: PageBytes, pairs: Pairs, regular: Mask, as_given: bool) -> pa.StructArray:
    """Return the values of all pairs as VALUE structs.

    Values that do not fit clear ``regular`` of their message: compound, described, decimal and uuid ones, unsigned
    longs from 2^63 on, and text that is not in its character set. ``as_given``: types as brokers name application
    properties.
    """
    at, n = pairs.value_at, len(pairs.value_at)
    code, content, size = widths(page, at)
    kind = TYPE_OF[code]
    longs, is_long = np.zeros(n, np.int64), np.zeros(n, bool)
    doubles, is_double = np.zeros(n), np.zeros(n, bool)
    unfit = kind == UNKNOWN
    for constructor, rows in by_code(code):
        if constructor in WHOLE:
            longs[rows], is_long[rows] = read_integer(page, constructor, at[rows] + 1), True
        elif constructor in (_FLOAT, _DOUBLE):
            doubles[rows] = page.f32(at[rows] + 1) if constructor == _FLOAT else page.f64(at[rows] + 1)
            is_double[rows] = True
    unfit |= (code == ULONG) & (longs < 0)
    text, bad = text_of_utf8(slices(page, content, size, IS_TEXT[code]))
    unfit |= bad | (IS_SYMBOL[code] & beyond_ascii(text))
    raw = slices(page, content, size, IS_BINARY[code])
    if unfit.any():
        regular[pairs.owners()[unfit]] = False
    type_names = GIVEN_NAMES if as_given else TYPE_NAMES
    names = pa.DictionaryArray.from_arrays(pa.array(kind), pa.array(type_names, STRING)).cast(STRING)
    parts = [names, number_array(longs, is_long), number_array(doubles, is_double), text, raw, _NO_TEXT(n)]
    return pa.StructArray.from_arrays(parts, fields=_FIELDS)
