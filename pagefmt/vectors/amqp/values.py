"""AMQP values as Arrow arrays: fields of one kind, and map entries of any (docs/spec/messages.md 9.3).

Compound, described, decimal and uuid values in maps, and unusual types in fields leave their record to the reference
decoder.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.arrays import Bytes, Ints, Mask, value_bytes
from pagefmt.describe.arrow_schema import BINARY
from pagefmt.vectors.amqp.structure import ValueColumn
from pagefmt.vectors.amqp.walk import ABSENT, Pairs, u32, widths
from pagefmt.vectors.arrays.repeated import repeated
from pagefmt.vectors.arrays.strings import distinct, slices, text_of_utf8
from pagefmt.vectors.core.properties import period
from pagefmt.vectors.pages.gather import PageBytes


def integers(page: PageBytes, value: ValueColumn, regular: Mask, *, kinds: tuple[int, ...]) -> tuple[Ints, Mask]:
    """Return the values of the integer-like constructors in ``kinds``, and which messages have one.

    Another constructor clears ``regular``.
    """
    n = len(value.at)
    if value.code in kinds:
        return read_integer(page, value.code, value.at + 1), np.ones(n, bool)
    out, valid = np.zeros(n, np.int64), np.zeros(n, bool)
    if value.code == ABSENT:
        return out, valid
    rows = np.flatnonzero(value.at != ABSENT)
    code = page.byte(value.at[rows])
    for constructor, some in by_code(code):
        if constructor not in kinds:
            regular[rows[some]] = False
            continue
        out[rows[some]], valid[rows[some]] = read_integer(page, constructor, value.at[rows[some]] + 1), True
    return out, valid


def by_code(code: Bytes) -> Iterator[tuple[int, Ints]]:
    """Yield each constructor that occurs, and the rows that have it."""
    for constructor in np.flatnonzero(np.bincount(code, minlength=1)).tolist():
        yield constructor, np.flatnonzero(code == constructor)


def number_array(numbers: npt.NDArray[np.generic], valid: Mask) -> pa.Array:
    """Return the numbers, null where they are not ``valid``."""
    if valid.all():
        return pa.array(numbers)
    kind = pa.from_numpy_dtype(numbers.dtype)
    if not valid.any():
        return pa.nulls(len(numbers), kind)
    bits = np.packbits(valid, bitorder="little")
    return pa.Array.from_buffers(kind, len(numbers), [pa.py_buffer(bits), pa.py_buffer(numbers)])


def read_integer(page: PageBytes, code: int, at: Ints) -> Ints:
    """Return the number after an integer, boolean, char or timestamp constructor."""
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


def texts(page: PageBytes, value: ValueColumn, regular: Mask, *, kinds: tuple[int, ...]) -> pa.StringArray:
    """Return string or symbol fields as text; another constructor or malformed text clears ``regular``."""
    if value.same is not None:
        text, bad = text_of_utf8(pa.array([value.same], BINARY))
        if value.code not in kinds or bad[0] or (kinds == SYMBOLS and not value.same.isascii()):
            regular[:] = False
        return repeated((text[0].as_py() or "",), len(value.at))
    text, bad = text_of_utf8(_content(page, value, regular, kinds))
    regular[bad] = False
    if kinds == SYMBOLS:
        regular[beyond_ascii(text)] = False
    return text


def beyond_ascii(text: pa.StringArray) -> Mask:
    """Return which texts are not ASCII: brokers read each byte of a symbol as a character, but not of a string."""
    raw = value_bytes(text)
    if not len(raw) or int(raw.max()) < 128:
        return np.zeros(len(text), bool)
    more = pc.not_equal(pc.utf8_length(text), pc.binary_length(text))
    return np.asarray(pc.fill_null(more, False))


def binaries(page: PageBytes, value: ValueColumn, regular: Mask) -> pa.BinaryArray:
    """Binary fields as bytes; another constructor clears ``regular``."""
    return _content(page, value, regular, BINARIES)


def _content(page: PageBytes, value: ValueColumn, regular: Mask, kinds: tuple[int, ...]) -> pa.BinaryArray:
    if value.code == ABSENT:
        return pa.nulls(len(value.at), BINARY)
    if value.code in kinds and value.content is not None:
        return slices(page, *value.content)
    present = value.at != ABSENT
    code, content, size = widths(page, value.at if present.all() else np.where(present, value.at, 0))
    fits = _TABLES[kinds][code]
    regular[present & ~fits] = False
    return slices(page, content, size, present & fits)


TYPE_NAMES: Final = (
    "null",
    "boolean",
    "ubyte",
    "byte",
    "ushort",
    "short",
    "uint",
    "int",
    "ulong",
    "long",
    "float",
    "double",
    "char",
    "timestamp",
    "uuid",
    "bytes",
    "string",
    "symbol",
    "",
)
GIVEN_NAMES: Final = tuple("long" if name in ("ubyte", "ushort", "uint", "ulong") else name for name in TYPE_NAMES)
UNKNOWN: Final = len(TYPE_NAMES) - 1
TYPE_OF: Final = np.full(256, UNKNOWN, np.int8)
for _name, _codes in (
    ("null", (0x40,)),
    ("boolean", BOOLEANS),
    ("ubyte", UBYTES),
    ("byte", (0x51,)),
    ("ushort", (0x60,)),
    ("short", (0x61,)),
    ("uint", UINTS),
    ("int", (0x54, 0x71)),
    ("ulong", (0x44, 0x53, 0x80)),
    ("long", (0x55, 0x81)),
    ("float", (0x72,)),
    ("double", (0x82,)),
    ("char", (0x73,)),
    ("timestamp", TIMESTAMPS),
    ("bytes", BINARIES),
    ("string", STRINGS),
    ("symbol", SYMBOLS),
):
    for _code in _codes:
        TYPE_OF[_code] = TYPE_NAMES.index(_name)
_OTHER_NAMES: Final = {
    0x00: "described", 0x45: "list", 0x74: "decimal32", 0x84: "decimal64", 0x94: "decimal128", 0x98: "uuid",
    0xC0: "list", 0xC1: "map", 0xD0: "list", 0xD1: "map", 0xE0: "array", 0xF0: "array",
}  # fmt: skip
# By constructor: the type of its values, including those that only the reference decoder reads.
CONSTRUCTOR_NAMES: Final = tuple(TYPE_NAMES[TYPE_OF[_code]] or _OTHER_NAMES.get(_code, "") for _code in range(256))
# By constructor: the type that the broker hands out for values in application properties.
GIVEN_CONSTRUCTOR_NAMES: Final = tuple(GIVEN_NAMES[TYPE_OF[_code]] or CONSTRUCTOR_NAMES[_code] for _code in range(256))
WHOLE: Final = frozenset(
    (0x41, 0x42, 0x43, 0x44, 0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x60, 0x61, 0x70, 0x71, 0x73, 0x80, 0x81, 0x83)
)


def raw_keys(page: PageBytes, pairs: Pairs, regular: Mask) -> pa.DictionaryArray:
    """Return the names of the entries as bytes, dictionary-encoded. Names that are not texts clear ``regular``."""
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


def pair_keys(page: PageBytes, pairs: Pairs, regular: Mask) -> tuple[pa.StringArray, pa.DictionaryArray]:
    """Return the names of the entries as text, and as ``raw_keys`` returns them."""
    coded = raw_keys(page, pairs, regular)
    names, bad = text_of_utf8(coded.dictionary)
    if bad.any():
        regular[pairs.owners()[bad[np.asarray(coded.indices)]]] = False
        names = names.fill_null("")
    return names.take(coded.indices), coded
