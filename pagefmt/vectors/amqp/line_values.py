"""AMQP values as they stand in JSON Lines: type, value, and the bits of floating point (see ``values_json``).

Compound and described values, decimals, uuids, huge unsigned numbers and texts that are not UTF-8 are decoded one by
one by the reference decoder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from pagefmt.arrays import Bytes, Ints, Mask, value_bytes
from pagefmt.codec.messages.amqp_values import decode_amqp_value
from pagefmt.codec.messages.properties import float_of
from pagefmt.codec.messages.values import TypedValue
from pagefmt.codec.wire import ByteReader, Undecodable
from pagefmt.describe.values_json import Quote, plain_value
from pagefmt.vectors.amqp.structure import ValueColumn
from pagefmt.vectors.amqp.values import (
    BOOLEANS,
    CONSTRUCTOR_NAMES,
    IS_BINARY,
    IS_STRING,
    IS_SYMBOL,
    IS_TEXT,
    SYMBOLS,
    TYPE_OF,
    ULONG,
    UNKNOWN,
    beyond_ascii,
    by_code,
    read_integer,
)
from pagefmt.vectors.amqp.walk import NULL, one_value, widths
from pagefmt.vectors.arrays.fragments import Cell, Codes, Pool, either
from pagefmt.vectors.arrays.json_text import escaped, is_plain, odd_rows
from pagefmt.vectors.arrays.strings import slices, text_of_utf8
from pagefmt.vectors.core.property_lines import BY_NAME, NAMED, EntryForm, bits_closes, doubles, reals
from pagefmt.vectors.pages.gather import PageBytes

_FLOAT, _DOUBLE = 0x72, 0x82


@dataclass(frozen=True, slots=True)
class ValueCells:
    """The values of some messages as JSON: ``content``, and ``close`` up to the brace that ends a typed value.

    ``code``: the constructors, from which the head of an entry is made. ``bad``: values that do not decode. ``huge``:
    unsigned numbers above 2^63-1, which the broker hands out as negative ones.
    """

    code: int | Bytes
    content: Cell
    close: Cell
    bad: Mask | bool = False
    huge: Mask | bool = False

    def closing_quote(self, pool: Pool) -> Cell:
        """Return the quote that ends a plain text or bytes value, and nothing for other types."""
        quote, nothing = pool.constant('"'), pool.constant("")
        if isinstance(self.code, int):
            return quote if _IS_QUOTED[self.code] else nothing
        return either(_IS_QUOTED[self.code], quote, nothing)


_IS_QUOTED: Final = IS_TEXT | IS_BINARY


def _opening_quote(code: int) -> str:
    return '"' if _IS_QUOTED[code] else ""


def _type_head(code: int) -> str:
    return f'"type":"{CONSTRUCTOR_NAMES[code]}","value":{_opening_quote(code)}'


# Items of a section that is shown as a list: name, type and value.
ENTRIES: Final = EntryForm(NAMED, _type_head, typed=True)
# Fields of the properties as the broker hands them out: plain values by name.
FIELDS: Final = EntryForm(BY_NAME, _opening_quote, typed=False)


def value_cells(page: PageBytes, value: ValueColumn, depth: int, pool: Pool, quote: Quote) -> ValueCells:
    """Return the cells of a value that all messages have. ``depth`` is its nesting depth within its message."""
    code = value.code if value.code >= 0 else one_value(page.byte(value.at))
    if code is not None:
        return _cells_of(page, value, code, depth, pool, quote)
    codes, n = page.byte(value.at), len(value.at)
    content, close = np.empty(n, np.int32), np.empty(n, np.int32)
    bad, huge = np.zeros(n, bool), np.zeros(n, bool)
    out = codes.copy()
    for constructor, rows in by_code(codes):
        cells = _cells_of(page, ValueColumn(value.at[rows], constructor), constructor, depth, pool, quote)
        out[rows], content[rows], close[rows] = cells.code, cells.content, cells.close
        bad[rows], huge[rows] = cells.bad, cells.huge
    return ValueCells(out, content, close, bad, huge)


def _cells_of(page: PageBytes, value: ValueColumn, code: int, depth: int, pool: Pool, quote: Quote) -> ValueCells:
    """Return the cells of values that have the same constructor."""
    brace = pool.constant("}")
    if TYPE_OF[code] == UNKNOWN:
        texts, bad = _one_by_one(page, value.at, depth, pool, quote)
        return ValueCells(code, texts, brace, bad)
    if IS_TEXT[code] or IS_BINARY[code]:
        content, wrong = _texts(page, value, code, pool, quote)
        return ValueCells(code, content, pool.constant('"}'), wrong)
    if code == _FLOAT:
        bits = page.i32(value.at + 1) & 0xFFFFFFFF
        return ValueCells(code, reals(pool, bits, float_of), bits_closes(pool, bits, 8))
    if code == _DOUBLE:
        wide = page.i64(value.at + 1).view(np.uint64)
        return ValueCells(code, doubles(pool, wide), bits_closes(pool, wide, 16))
    content = _scalars(page, value.at, code, pool)
    huge = page.byte(value.at + 1) > 0x7F if code == ULONG else np.zeros(1, bool)
    if not huge.any():
        return ValueCells(code, content, brace)
    content = np.array(np.broadcast_to(content, value.at.shape), np.int32)
    content[huge], _ = _one_by_one(page, value.at[huge], depth, pool, quote)
    return ValueCells(code, content, brace, huge=huge)


def _scalars(page: PageBytes, at: Ints, code: int, pool: Pool) -> Cell:
    if code == NULL:
        return pool.constant("null")
    numbers = read_integer(page, code, at + 1)
    if code in BOOLEANS:
        return pool.flags(numbers != 0)
    return pool.numbers(numbers & 0xFFFF if code == 0x73 else numbers)


def _texts(page: PageBytes, value: ValueColumn, code: int, pool: Pool, quote: Quote) -> tuple[Cell, Mask | bool]:
    """Return the inside of JSON strings, and which values do not decode."""
    if value.same is not None:
        try:
            return pool.constant(value.same.hex() if IS_BINARY[code] else quote(text_of(code, value.same))[1:-1]), False
        except UnicodeDecodeError:
            return pool.constant(""), np.ones(len(value.at), bool)
    raw = slices(page, *(value.content or widths(page, value.at)[1:]))
    if IS_BINARY[code]:
        return pool.texts(value_bytes_.hex() for value_bytes_ in raw.to_pylist()), False
    if is_plain(value_bytes(raw)):
        return pool.add(raw), False
    bad = np.zeros(len(raw), bool)

    def quoted(n: int) -> str:
        try:
            return quote(text_of(code, raw[n].as_py()))
        except UnicodeDecodeError:
            bad[n] = True
            return ""

    try:
        texts = raw.cast(pa.string())
        odd = np.union1d(odd_rows(texts), np.flatnonzero(beyond_ascii(texts) & IS_SYMBOL[code]))
    except pa.ArrowInvalid:
        texts, odd = raw, np.arange(len(raw))
    return pool.add(escaped(texts, odd, quoted)), bad


def text_of(code: int, raw: bytes) -> str:
    """Decode a string or symbol as the reference decoder does."""
    return raw.decode("latin-1") if code in SYMBOLS else raw.decode("utf-8", "surrogatepass")


def _one_by_one(page: PageBytes, at: Ints, depth: int, pool: Pool, quote: Quote) -> tuple[Codes, Mask]:
    """Return plain values by the reference decoder, and which values do not decode."""
    _, start, size = widths(page, at)
    decoded_values = [
        decoded(page, *bounds, depth) for bounds in zip(at.tolist(), (start + size).tolist(), strict=True)
    ]
    texts = pool.texts("" if value is None else quote(plain_value(value)) for value in decoded_values)
    return texts, np.array([value is None for value in decoded_values], bool)


def undecodable(page: PageBytes, at: Ints, depth: int) -> Mask:
    """Return which values do not decode, for lines that do not show them."""
    code, start, size = widths(page, at)
    doubtful: Mask = TYPE_OF[code] == UNKNOWN
    strings = np.flatnonzero(IS_STRING[code])
    _, doubtful[strings] = text_of_utf8(slices(page, start[strings], size[strings]))
    for n in np.flatnonzero(doubtful).tolist():
        doubtful[n] = decoded(page, int(at[n]), int(start[n] + size[n]), depth) is None
    return doubtful


def decoded(page: PageBytes, at: int, end: int, depth: int) -> TypedValue | None:
    """Return a value by the reference decoder, or None if it does not decode."""
    cursor = ByteReader(memoryview(page.buffer), at, end)
    try:
        value = decode_amqp_value(cursor, depth)
    except Undecodable:
        return None
    return None if cursor.left() else value
