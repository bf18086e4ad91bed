"""The maps of AMQP messages as Arrow arrays: annotations, application properties, footers.

Where all messages follow one plan, a map is a table with a column for each name: what is the same in a column is done
once. Elsewhere all entries of all messages are one column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pagefmt.columns import amqp_values as values
from pagefmt.columns import properties
from pagefmt.columns.amqp_structure import Structure, Value
from pagefmt.columns.amqp_values import (
    GIVEN_NAMES,
    IS_BINARY,
    IS_SYMBOL,
    IS_TEXT,
    TYPE_NAMES,
    TYPE_OF,
    ULONG,
    UNKNOWN,
    WHOLE,
    beyond_ascii,
    by_code,
    number_array,
    read_integer,
)
from pagefmt.columns.amqp_walk import ABSENT, Pairs, widths
from pagefmt.columns.gather import Bytes, Ints, Mask, PageBytes
from pagefmt.columns.repeated import Nulls, repeated
from pagefmt.columns.schema import BINARY, PROPERTIES, STRING, VALUE
from pagefmt.columns.strings import slices, text_of_utf8, with_nulls

_FLOAT, _DOUBLE = 0x72, 0x82
_FIELDS: Final = list(VALUE)
_NO_MAP, _NO_TEXT = Nulls(PROPERTIES), Nulls(STRING)


def map_column(found: Structure, kind: int, *, as_given: bool = False, nulls: bool = True) -> pa.MapArray:
    """The map of each message; what does not fit clears ``found.regular``.

    ``as_given``: as the broker hands out application properties, unsigned numbers as long. ``nulls``: null where the
    section is absent, else an empty map.
    """
    entries = found.entries(kind)
    if entries is None:
        return _of_pairs(found, found.pairs(kind), as_given, nulls)
    n = len(found.regular)
    if nulls and found.section(kind).code == ABSENT:
        return _NO_MAP(n)
    keys = known_keys(entries[0::2])
    if not keys:
        return _of_pairs(found, found.pairs(kind), as_given, nulls)
    column, unfit = value_structs(found.page, entries[1::2], as_given)
    if unfit is not None:
        found.regular[unfit.reshape(n, len(keys)).any(axis=1)] = False
    offsets = np.arange(n + 1, dtype=np.int32) * np.int32(len(keys))
    return pa.MapArray.from_arrays(pa.array(offsets), repeated(keys, n), column, type=PROPERTIES)


def known_keys(keys: list[Value]) -> tuple[str, ...] | None:
    """The names, where all messages have the same ones and nothing about them is odd."""
    known: list[str] = []
    for key in keys:
        if key.same is None or not IS_TEXT[key.code] or not key.same.isascii():
            return None
        known.append(key.same.decode())
    return tuple(known) if len(set(known)) == len(known) else None


def _of_pairs(found: Structure, pairs: Pairs, as_given: bool, nulls: bool) -> pa.MapArray:
    page, regular = found.page, found.regular
    names = values.pair_keys(page, pairs, regular)
    column, unfit = value_structs(page, [Value(pairs.value_at)], as_given)
    if unfit is not None:
        regular[pairs.owners()[unfit]] = False
    regular &= ~properties.repeated_keys(pairs.offsets, names)
    return map_array(pairs.offsets, pairs.present if nulls else None, names, column)


def map_array(offsets: Ints, present: Mask | None, names: pa.DictionaryArray, column: pa.StructArray) -> pa.MapArray:
    """A map for each message, null where it is not ``present``."""
    narrow = offsets.astype(np.int32)
    mask = None if present is None or bool(present.all()) else np.append(~present, False)
    return pa.MapArray.from_arrays(pa.array(narrow, mask=mask), names.cast(STRING), column, type=PROPERTIES)


@dataclass(slots=True)
class _Table:
    """The values of some messages: a row for each message, filled column by column."""

    page: PageBytes
    kind: npt.NDArray[np.int8]
    longs: Ints
    is_long: Mask
    reals: npt.NDArray[np.float64]
    is_real: Mask
    unfit: Mask

    def fill(self, column: int, rows: slice | Ints, code: int, at: Ints) -> None:
        """Values of one constructor."""
        self.kind[rows, column] = TYPE_OF[code]
        if code in WHOLE:
            number = read_integer(self.page, code, at + 1)
            self.longs[rows, column], self.is_long[rows, column] = number, True
            if code == ULONG:
                self.unfit[rows, column] = number < 0
        elif code in (_FLOAT, _DOUBLE):
            self.reals[rows, column] = self.page.f32(at + 1) if code == _FLOAT else self.page.f64(at + 1)
            self.is_real[rows, column] = True
        elif TYPE_OF[code] == UNKNOWN:
            self.unfit[rows, column] = True


def value_structs(page: PageBytes, columns: list[Value], as_given: bool) -> tuple[pa.StructArray, Mask | None]:
    """The values as VALUE structs, row by row, and which of them do not fit into them, if any.

    Those are compound, described, decimal and uuid values, texts that are not UTF-8, and huge unsigned numbers.
    """
    codes = [value.code if value.code >= 0 else page.byte(value.at) for value in columns]
    shape = (len(columns[0].at) if columns else 0, len(columns))
    table = _Table(
        page, np.zeros(shape, np.int8), np.zeros(shape, np.int64), np.zeros(shape, bool), np.zeros(shape),
        np.zeros(shape, bool), np.zeros(shape, bool),
    )  # fmt: skip
    for n, (value, code) in enumerate(zip(columns, codes, strict=True)):
        if isinstance(code, int):
            table.fill(n, slice(None), code, value.at)
            continue
        for each, here in by_code(code):
            table.fill(n, here, each, value.at[here])
    text, raw = (_sliced(page, columns, codes, among) for among in (IS_TEXT, IS_BINARY))
    strings, bad = text_of_utf8(text)
    unfit = table.unfit.reshape(-1) | bad
    if any(bool(np.any(IS_SYMBOL[code])) for code in codes):
        symbols = np.stack([np.broadcast_to(IS_SYMBOL[code], shape[:1]) for code in codes], axis=1).reshape(-1)
        unfit |= symbols & beyond_ascii(strings)
    names = _type_names(codes, table.kind, GIVEN_NAMES if as_given else TYPE_NAMES)
    longs = number_array(table.longs.reshape(-1), table.is_long.reshape(-1))
    reals = number_array(table.reals.reshape(-1), table.is_real.reshape(-1))
    parts = [names, longs, reals, strings, raw, _NO_TEXT(len(names))]
    return pa.StructArray.from_arrays(parts, fields=_FIELDS), unfit if unfit.any() else None


def _type_names(codes: list[int | Bytes], kind: npt.NDArray[np.int8], names: tuple[str, ...]) -> pa.StringArray:
    known = tuple(names[TYPE_OF[code]] for code in codes if isinstance(code, int))
    if len(known) == len(codes):
        return repeated(known, len(kind))
    return pa.DictionaryArray.from_arrays(pa.array(kind.reshape(-1)), pa.array(names, STRING)).cast(STRING)


def _sliced(page: PageBytes, columns: list[Value], codes: list[int | Bytes], among: Mask) -> pa.BinaryArray:
    """The contents of the values whose constructor is ``among`` those, null for the others."""
    rows = len(columns[0].at) if columns else 0
    fits = [among[code] for code in codes]
    if not any(bool(np.any(fit)) for fit in fits):
        return pa.nulls(rows * len(columns), BINARY)
    # where there is nothing to take, the value's own place keeps the order
    start, size = np.stack([value.at for value in columns], axis=1), np.zeros((rows, len(columns)), np.int64)
    for n, (value, fit) in enumerate(zip(columns, fits, strict=True)):
        if np.any(fit):
            content, length = value.content or widths(page, value.at)[1:]
            start[:, n], size[:, n] = content, length if np.all(fit) else np.where(fit, length, 0)
    valid = np.stack([np.broadcast_to(fit, (rows,)) for fit in fits], axis=1).reshape(-1)
    return with_nulls(slices(page, start.reshape(-1), size.reshape(-1)), valid)
