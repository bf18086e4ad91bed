"""AMQP values as they stand in JSON Lines: type, value, and the bits of floating point (see ``values_json``).

What has no short form of its own (compound and described values, decimals, uuids, huge unsigned numbers, texts that
are not UTF-8) is decoded one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pagefmt.bytes.wire import ByteReader, Undecodable
from pagefmt.columns.amqp.structure import ValueColumn
from pagefmt.columns.amqp.values import (
    BOOLEANS,
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
    read_integer,
)
from pagefmt.columns.amqp.walk import NULL, one_value, widths
from pagefmt.columns.arrays.fragments import Cell, Codes, Pool, either
from pagefmt.columns.arrays.json_text import Quote, escaped, is_plain, odd_rows
from pagefmt.columns.arrays.strings import slices, value_bytes
from pagefmt.columns.core.property_lines import reals
from pagefmt.describe.values_json import typed_json
from pagefmt.messages.amqp_values import decode_amqp_value
from pagefmt.messages.properties import double_of, float_of
from pagefmt.messages.values import TypedValue
from pagefmt.pages.gather import Bytes, Ints, Mask, PageBytes

_FLOAT, _DOUBLE = 0x72, 0x82


@dataclass(frozen=True, slots=True)
class ValueCells:
    """For each value ``"type":T,"value":``, its content, and what closes it up to the brace of its object.

    ``given``: the first with the type by which the broker hands out application properties. ``bad``: values that do
    not decode. ``huge``: unsigned numbers above 2^63-1, which the broker hands out as negative ones. None: no value.
    """

    code: int | Bytes
    head: Cell
    given: Cell
    content: Cell
    close: Cell
    bad: Mask | None = None
    huge: Mask | None = None


def value_cells(page: PageBytes, value: ValueColumn, depth: int, pool: Pool, quote: Quote) -> ValueCells:
    """The cells of a value that all messages have. ``depth``: how deep in its message it lies."""
    code = value.code if value.code >= 0 else one_value(page.byte(value.at))
    content = None if code is None else _content(page, value, code, pool, quote)
    if code is None or content is None:
        return _mixed_cells(page, value.at, depth, pool, quote)
    head, given = (pool.constant(_head(names[TYPE_OF[code]])) for names in (TYPE_NAMES, GIVEN_NAMES))
    close = pool.constant('"}' if IS_TEXT[code] or IS_BINARY[code] else "}")
    return ValueCells(code, head, given, content, close)


def _content(page: PageBytes, value: ValueColumn, code: int, pool: Pool, quote: Quote) -> Cell | None:
    """Of values that have one constructor; None where they are to be looked at one by one."""
    if TYPE_OF[code] == UNKNOWN or (code == ULONG and _huge(page, value.at).any()):
        return None
    if not IS_TEXT[code] and not IS_BINARY[code]:
        return _scalars(page, value.at, code, pool)
    if value.same is not None:
        try:
            text = value.same.hex() if IS_BINARY[code] else quote(text_of(code, value.same))[1:-1]
        except UnicodeDecodeError:
            return None
        return pool.constant(text)
    raw = slices(page, *(value.content or widths(page, value.at)[1:]))
    if IS_BINARY[code]:
        return pool.texts(each.hex() for each in raw.to_pylist())
    if is_plain(value_bytes(raw)):
        return pool.add(raw)
    texts, bad = _texts(raw, np.full(len(raw), code, np.uint8), quote)
    return None if len(bad) else pool.add(texts)


def _huge(page: PageBytes, at: Ints) -> Mask:
    found: Mask = page.byte(at + 1) > 0x7F
    return found


def _scalars(page: PageBytes, at: Ints, code: int, pool: Pool) -> Cell:
    if code == NULL:
        return pool.constant("null")
    if code not in WHOLE:
        return _reals(page, pool, code, at + 1)
    numbers = read_integer(page, code, at + 1)
    return _flags_or_numbers(pool, code, numbers)


def _mixed_cells(page: PageBytes, at: Ints, depth: int, pool: Pool, quote: Quote) -> ValueCells:
    """Values of any constructors."""
    code, start, size = widths(page, at)
    kind = TYPE_OF[code]
    content = np.empty(len(at), np.int32)
    odd, bad = kind == UNKNOWN, np.zeros(len(at), bool)
    huge = np.zeros(len(at), bool)
    for each, here in by_code(code):
        if each == ULONG:
            huge[here] = _huge(page, at[here])
        if kind[here[0]] != UNKNOWN and not IS_TEXT[each] and not IS_BINARY[each]:
            content[here] = _scalars(page, at[here], each, pool)
    textual = IS_TEXT[code]
    _put_texts(page, pool, quote, np.flatnonzero(textual), code, start, size, content, bad)
    raw = np.flatnonzero(IS_BINARY[code])
    if len(raw):
        content[raw] = pool.texts(value.hex() for value in slices(page, start[raw], size[raw]).to_pylist())
    quoted = textual | IS_BINARY[code]
    head, given = (_heads(pool, kind, names) for names in (TYPE_NAMES, GIVEN_NAMES))
    close = either(quoted, pool.constant('"}'), pool.constant("}"))
    odd |= huge
    if odd.any():
        _put_odd(page, pool, quote, np.flatnonzero(odd), at, start + size, depth, content, bad)
        head[odd] = given[odd] = pool.constant("")
    return ValueCells(code, head, given, content, close, bad, huge)


_QUOTED: Final = ("string", "symbol", "bytes")


def _head(name: str) -> str:
    return f'"type":"{name}","value":{chr(34) * (name in _QUOTED)}'


def _heads(pool: Pool, kind: npt.NDArray[np.int8], names: tuple[str, ...]) -> Codes:
    codes = np.zeros(len(names), np.int32)
    for each in np.flatnonzero(np.bincount(kind, minlength=1)).tolist():
        codes[each] = pool.constant(_head(names[each]))
    heads: Codes = codes[kind]
    return heads


def _flags_or_numbers(pool: Pool, code: int, numbers: Ints) -> Cell:
    if code in BOOLEANS:
        return pool.flags(numbers != 0)
    return pool.numbers(numbers & 0xFFFF if code == 0x73 else numbers)


def _reals(page: PageBytes, pool: Pool, code: int, at: Ints) -> Codes:
    if code == _FLOAT:
        return reals(pool, page.i32(at) & 0xFFFFFFFF, float_of)
    return reals(pool, page.i64(at).view(np.uint64), double_of)


def _put_texts(
    page: PageBytes, pool: Pool, quote: Quote, rows: Ints, code: Bytes, start: Ints, size: Ints, content: Codes,
    bad: Mask,
) -> None:  # fmt: skip
    """Strings and symbols without their quotes."""
    if not len(rows):
        return
    raw = slices(page, start[rows], size[rows])
    if is_plain(value_bytes(raw)):
        content[rows] = pool.add(raw)
        return
    texts, wrong = _texts(raw, code[rows], quote)
    content[rows], bad[rows[wrong]] = pool.add(texts), True


def _texts(raw: pa.BinaryArray, code: Bytes, quote: Quote) -> tuple[pa.Array, Ints]:
    """The inside of JSON strings, and which of them do not decode."""
    try:
        texts = raw.cast(pa.string())
        odd = np.union1d(odd_rows(texts), np.flatnonzero(beyond_ascii(texts) & IS_SYMBOL[code]))
    except pa.ArrowInvalid:
        texts, odd = raw, np.arange(len(raw))
    bad: list[int] = []

    def quoted(n: int) -> str:
        try:
            return quote(text_of(int(code[n]), raw[n].as_py()))
        except UnicodeDecodeError:
            bad.append(n)
            return ""

    found = escaped(texts, odd, quoted)
    return found, np.array(bad, np.int64)


def text_of(code: int, raw: bytes) -> str:
    """A string or symbol as the reference decoder reads it."""
    return raw.decode("latin-1") if code in SYMBOLS else raw.decode("utf-8", "surrogatepass")


def _put_odd(
    page: PageBytes, pool: Pool, quote: Quote, rows: Ints, at: Ints, end: Ints, depth: int, content: Codes, bad: Mask
) -> None:
    texts = []
    for n in rows.tolist():
        value = decoded(page, int(at[n]), int(end[n]), depth)
        bad[n] = value is None
        texts.append("" if value is None else quote(typed_json(value))[1:-1])
    content[rows] = pool.texts(texts)


def decoded(page: PageBytes, at: int, end: int, depth: int) -> TypedValue | None:
    """One value by the reference decoder; None where it does not decode."""
    cursor = ByteReader(memoryview(page.buffer), at, end)
    try:
        value = decode_amqp_value(cursor, depth)
    except Undecodable:
        return None
    return None if cursor.left() else value
