"""AMQP values as Arrow arrays: fields of one kind, and map entries of any (spec/messages.md 9.3).

Compound, described, decimal and uuid values in maps, and unusual types in fields leave their record to the reference
decoder.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.columns.amqp_walk import ABSENT, Pairs, u32, widths
from pagefmt.columns.gather import Ints, Mask, PageBytes
from pagefmt.columns.properties import period
from pagefmt.columns.schema import BINARY, PROPERTIES, STRING, VALUE
from pagefmt.columns.strings import distinct, slices, text_of_utf8, value_bytes


def integers(page: PageBytes, at: Ints, regular: Mask, *, kinds: tuple[int, ...]) -> tuple[Ints, Mask]:
    """Values of the integer-like constructors in ``kinds``; another constructor clears ``regular``."""
    rows = np.flatnonzero(at != ABSENT)
    valid = np.zeros(len(at), bool)
    out = np.zeros(len(at), np.int64)
    code = page.byte(at[rows])
    for each in np.unique(code):
        here = rows[code == each]
        if int(each) not in kinds:
            regular[here] = False
            continue
        out[here], valid[here] = read_integer(page, int(each), at[here] + 1), True
    return out, valid


def read_integer(page: PageBytes, code: int, at: Ints) -> Ints:
    """The number behind an integer, boolean, char or timestamp constructor."""
    if code in (0x41, 0x42, 0x43, 0x44):
        return np.full(len(at), int(code == 0x41), np.int64)
    if code == 0x56:
        return np.minimum(page.byte(at), 1).astype(np.int64)
    if code in (0x50, 0x52, 0x53):
        return page.byte(at).astype(np.int64)
    if code in (0x51, 0x54, 0x55):
        return page.i8(at)
    if code in (0x60, 0x61):
        return page.i16(at) & 0xFFFF if code == 0x60 else page.i16(at)
    if code in (0x70, 0x73):
        return u32(page, at)
    return page.i32(at) if code == 0x71 else page.i64(at)


ULONG: Final = 0x80
BOOLEANS: Final = (0x41, 0x42, 0x56)
UBYTES: Final = (0x50,)
UINTS: Final = (0x43, 0x52, 0x70)
TIMESTAMPS: Final = (0x83,)
STRINGS: Final = (0xA1, 0xB1)
SYMBOLS: Final = (0xA3, 0xB3)
BINARIES: Final = (0xA0, 0xB0)


def _among(*codes: int) -> Mask:
    table = np.zeros(256, bool)
    table[list(codes)] = True
    return table


# by constructor: an index is ten times as fast as a search
IS_STRING: Final = _among(*STRINGS)
IS_SYMBOL: Final = _among(*SYMBOLS)
IS_TEXT: Final = IS_STRING | IS_SYMBOL
IS_BINARY: Final = _among(*BINARIES)
_TABLES: Final[dict[tuple[int, ...], Mask]] = {STRINGS: IS_STRING, SYMBOLS: IS_SYMBOL, BINARIES: IS_BINARY}


def texts(page: PageBytes, at: Ints, regular: Mask, *, kinds: tuple[int, ...]) -> pa.StringArray:
    """String or symbol fields as text."""
    values, _ = _content(page, at, regular, kinds)
    text, bad = text_of_utf8(values)
    regular[bad] = False
    if kinds == SYMBOLS:
        regular[beyond_ascii(text)] = False
    return text


def beyond_ascii(text: pa.StringArray) -> Mask:
    """Texts that are more than ASCII: in symbols a byte is a character (as brokers read them), in strings it is not."""
    raw = value_bytes(text)
    if not len(raw) or int(raw.max()) < 128:
        return np.zeros(len(text), bool)
    more = pc.not_equal(pc.utf8_length(text), pc.binary_length(text))
    return np.asarray(pc.fill_null(more, False))


def binaries(page: PageBytes, at: Ints, regular: Mask) -> pa.BinaryArray:
    return _content(page, at, regular, BINARIES)[0]


def _content(page: PageBytes, at: Ints, regular: Mask, kinds: tuple[int, ...]) -> tuple[pa.BinaryArray, Mask]:
    present = at != ABSENT
    if not present.any():
        return pa.nulls(len(at), BINARY), present
    code, content, size = widths(page, at if present.all() else np.where(present, at, 0))
    fits = _TABLES[kinds][code]
    regular[present & ~fits] = False
    valid = present & fits
    return slices(page, content, size, valid), valid


TYPE_NAMES: Final = ("null", "boolean", "ubyte", "byte", "ushort", "short", "uint", "int", "ulong", "long", "float",
                      "double", "char", "timestamp", "uuid", "bytes", "string", "symbol", "")  # fmt: skip
GIVEN_NAMES: Final = tuple("long" if name in ("ubyte", "ushort", "uint", "ulong") else name for name in TYPE_NAMES)
UNKNOWN: Final = len(TYPE_NAMES) - 1
TYPE_OF: Final = np.full(256, UNKNOWN, np.int8)
for _name, _codes in (
    ("null", (0x40,)), ("boolean", BOOLEANS), ("ubyte", UBYTES), ("byte", (0x51,)), ("ushort", (0x60,)),
    ("short", (0x61,)), ("uint", UINTS), ("int", (0x54, 0x71)), ("ulong", (0x44, 0x53, 0x80)), ("long", (0x55, 0x81)),
    ("float", (0x72,)), ("double", (0x82,)), ("char", (0x73,)), ("timestamp", TIMESTAMPS), ("bytes", BINARIES),
    ("string", STRINGS), ("symbol", SYMBOLS),
):  # fmt: skip
    for _code in _codes:
        TYPE_OF[_code] = TYPE_NAMES.index(_name)
WHOLE: Final = frozenset((0x41, 0x42, 0x43, 0x44, 0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x60, 0x61, 0x70, 0x71,
                           0x73, 0x80, 0x81, 0x83))  # fmt: skip


def pair_values(page: PageBytes, pairs: Pairs, regular: Mask, *, as_given: bool) -> pa.StructArray:
    """The values as VALUE structs; compound, described, decimal and uuid values leave their message irregular.

    ``as_given``: as the broker hands out application properties, unsigned numbers as long.
    """
    at, n = pairs.value_at, len(pairs.value_at)
    code, content, size = widths(page, at)
    kind = TYPE_OF[code]
    longs, is_long = np.zeros(n, np.int64), np.zeros(n, bool)
    reals, is_real = np.zeros(n), np.zeros(n, bool)
    unfit = kind == UNKNOWN
    for each in np.unique(code):
        here = np.flatnonzero(code == each)
        if int(each) in WHOLE:
            longs[here], is_long[here] = read_integer(page, int(each), at[here] + 1), True
        elif each == 0x72:
            reals[here], is_real[here] = page.f32(at[here] + 1), True
        elif each == 0x82:
            reals[here], is_real[here] = page.f64(at[here] + 1), True
    unfit |= (code == 0x80) & (longs < 0)
    is_text = IS_TEXT[code]
    text, bad = text_of_utf8(slices(page, content, size, is_text))
    unfit |= bad | (IS_SYMBOL[code] & beyond_ascii(text))
    raw = slices(page, content, size, IS_BINARY[code])
    if unfit.any():
        regular[pairs.owners()[unfit]] = False
    type_names = GIVEN_NAMES if as_given else TYPE_NAMES
    names = pa.DictionaryArray.from_arrays(pa.array(kind), pa.array(type_names, STRING)).cast(STRING)
    parts = [names, pa.array(longs, mask=~is_long), pa.array(reals, mask=~is_real), text, raw, pa.nulls(n, STRING)]
    return pa.StructArray.from_arrays(parts, fields=list(VALUE))


def raw_keys(page: PageBytes, pairs: Pairs, regular: Mask) -> pa.DictionaryArray:
    """The names of the entries as the page has them, each distinct one once. Other than texts clear ``regular``."""
    code, content, size = widths(page, pairs.key_at)
    unfit = ~IS_TEXT[code]
    coded = distinct(page, content, np.where(unfit, 0, size), period(pairs.offsets))
    if IS_SYMBOL[code].any():
        # in a symbol a byte is a character
        more = [n for n, raw in enumerate(coded.dictionary.to_pylist()) if not raw.isascii()]
        unfit |= np.isin(np.asarray(coded.indices), more)
    if unfit.any():
        regular[pairs.owners()[unfit]] = False
    return coded


def pair_keys(page: PageBytes, pairs: Pairs, regular: Mask) -> pa.DictionaryArray:
    """The names of the entries, each distinct one decoded once."""
    coded = raw_keys(page, pairs, regular)
    names, bad = text_of_utf8(coded.dictionary)
    if bad.any():
        regular[pairs.owners()[bad[np.asarray(coded.indices)]]] = False
        names = names.fill_null("")
    return pa.DictionaryArray.from_arrays(coded.indices, names)


def map_array(pairs: Pairs, names: pa.DictionaryArray, values: pa.StructArray) -> pa.MapArray:
    """A map for each message, null where the section is absent."""
    offsets = pa.array(pairs.offsets.astype(np.int32), mask=np.append(~pairs.present, False))
    return pa.MapArray.from_arrays(offsets, names.cast(STRING), values).cast(PROPERTIES)
