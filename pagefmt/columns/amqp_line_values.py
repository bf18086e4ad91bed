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

from pagefmt.amqp_values import decode_amqp_value
from pagefmt.columns.amqp_values import (
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
    read_integer,
)
from pagefmt.columns.amqp_walk import widths
from pagefmt.columns.fragments import Cell, Codes, Pool, either
from pagefmt.columns.gather import Bytes, Ints, Mask, PageBytes
from pagefmt.columns.json_text import Quote, is_plain, odd_rows, replaced
from pagefmt.columns.property_lines import reals
from pagefmt.columns.strings import slices, value_bytes
from pagefmt.properties import double_of, float_of
from pagefmt.values import Typed
from pagefmt.values_json import typed_json
from pagefmt.wire import Cursor, Undecodable

_FLOAT, _DOUBLE = 0x72, 0x82


@dataclass(frozen=True, slots=True)
class ValueTexts:
    """For each value ``"type":T,"value":``, its content, and what closes it up to the brace of its object.

    ``given``: the first with the type by which the broker hands out application properties. ``bad``: values that do
    not decode. ``odd``: those that were decoded one by one (``given`` is not true for them).
    """

    head: Codes
    given: Codes
    content: Codes
    close: Cell
    code: Bytes
    odd: Mask
    bad: Mask


def value_texts(page: PageBytes, at: Ints, depth: int, pool: Pool, quote: Quote) -> ValueTexts:
    """The values at the positions ``at``. ``depth``: how deep in their message they lie."""
    if not len(at):
        nothing = np.empty(0, np.int32)
        return ValueTexts(nothing, nothing, nothing, nothing, np.empty(0, np.uint8), *[np.empty(0, bool)] * 2)
    code, start, size = widths(page, at)
    kind = TYPE_OF[code]
    content = np.empty(len(at), np.int32)
    odd, bad = kind == UNKNOWN, np.zeros(len(at), bool)
    for each in np.flatnonzero(np.bincount(code, minlength=1)).tolist():
        here = np.flatnonzero(code == each)
        if each in WHOLE:
            numbers = read_integer(page, each, at[here] + 1)
            if each == ULONG:
                odd[here[numbers < 0]] = True
            content[here] = _flags_or_numbers(pool, each, numbers)
        elif each == 0x40:
            content[here] = pool.constant("null")
        elif each in (_FLOAT, _DOUBLE):
            content[here] = _reals(page, pool, each, at[here] + 1)
    textual = IS_TEXT[code]
    _put_texts(page, pool, quote, np.flatnonzero(textual), code, start, size, content, bad)
    raw = np.flatnonzero(IS_BINARY[code])
    if len(raw):
        content[raw] = pool.texts(value.hex() for value in slices(page, start[raw], size[raw]).to_pylist())
    quoted = textual | IS_BINARY[code]
    head, given = (_heads(pool, kind, names) for names in (TYPE_NAMES, GIVEN_NAMES))
    close = either(quoted, pool.constant('"}'), pool.constant("}"))
    if odd.any():
        _put_odd(page, pool, quote, np.flatnonzero(odd), at, start + size, depth, content, bad)
        head[odd] = given[odd] = pool.constant("")
    return ValueTexts(head, given, content, close, code, odd, bad)


_QUOTED: Final = ("string", "symbol", "bytes")


def _heads(pool: Pool, kind: npt.NDArray[np.int8], names: tuple[str, ...]) -> Codes:
    codes = np.zeros(len(names), np.int32)
    for each in np.flatnonzero(np.bincount(kind, minlength=1)).tolist():
        codes[each] = pool.constant(f'"type":"{names[each]}","value":{chr(34) * (names[each] in _QUOTED)}')
    heads: Codes = codes[kind]
    return heads


def _flags_or_numbers(pool: Pool, code: int, numbers: Ints) -> Cell:
    if code in (0x41, 0x42, 0x56):
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
    try:
        texts = raw.cast(pa.string())
        unsafe = np.union1d(odd_rows(texts), np.flatnonzero(beyond_ascii(texts) & IS_SYMBOL[code[rows]]))
    except pa.ArrowInvalid:
        texts, unsafe = raw, np.arange(len(rows))
    fresh: list[bytes] = []
    for n in unsafe.tolist():
        try:
            fresh.append(quote(text_of(int(code[rows[n]]), raw[n].as_py()))[1:-1].encode())
        except UnicodeDecodeError:
            bad[rows[n]] = True
            fresh.append(b"")
    content[rows] = pool.add(replaced(raw, unsafe, fresh) if len(unsafe) else texts)


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


def decoded(page: PageBytes, at: int, end: int, depth: int) -> Typed | None:
    """One value by the reference decoder; None where it does not decode."""
    cursor = Cursor(memoryview(page.buffer), at, end)
    try:
        value = decode_amqp_value(cursor, depth)
    except Undecodable:
        return None
    return None if cursor.left() else value
