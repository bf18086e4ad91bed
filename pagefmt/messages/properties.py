"""Typed properties blocks (spec/messages.md 5).

    0    i8    0: none, nothing follows; any other value: present
    1    i32   number of entries
    5    ...   entries: sstr key, i8 value type, value

    type   0 null     none           6 int      i32
           2 boolean  bool8          7 long     i64
           3 byte     i8             8 float    i32 bits
           4 bytes    i32 n, n       9 double   i64 bits
           5 short    i16           10 string   sstr
                                    11 char     u16, big-endian

Order, duplicate keys and odd marks are kept: encode(decode(x)) == x.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from struct import pack, unpack
from typing import Final

from pagefmt.bytes.wire import Builder, Cursor, Undecodable
from pagefmt.messages.values import NULL, Kind, Property, Typed

SMALLEST_ENTRY: Final = 5  # an empty key and a null


@dataclass(frozen=True, slots=True)
class PropertiesBlock:
    """``mark`` is the first byte as found: 0 means that there is no block."""

    mark: int
    entries: tuple[Property, ...]


NO_PROPERTIES: Final = PropertiesBlock(0, ())


def float_of(bits: int) -> Typed:
    return Typed(Kind.FLOAT, unpack(">f", pack(">I", bits))[0], bits)


def double_of(bits: int) -> Typed:
    return Typed(Kind.DOUBLE, unpack(">d", pack(">Q", bits))[0], bits)


def _boolean(cursor: Cursor) -> Typed:
    byte = cursor.u8("boolean value")
    return Typed(Kind.BOOLEAN, byte != 0, byte)


def _bytes(cursor: Cursor) -> Typed:
    return Typed(Kind.BYTES, cursor.take(cursor.i32("bytes length"), "bytes value"))


READERS: Final[dict[int, Callable[[Cursor], Typed]]] = {
    0: lambda cursor: NULL,
    2: _boolean,
    3: lambda cursor: Typed(Kind.BYTE, cursor.i8("byte value")),
    4: _bytes,
    5: lambda cursor: Typed(Kind.SHORT, cursor.i16("short value")),
    6: lambda cursor: Typed(Kind.INT, cursor.i32("int value")),
    7: lambda cursor: Typed(Kind.LONG, cursor.i64("long value")),
    8: lambda cursor: float_of(cursor.i32("float value") & 0xFFFFFFFF),
    9: lambda cursor: double_of(cursor.i64("double value") & 0xFFFFFFFFFFFFFFFF),
    10: lambda cursor: Typed(Kind.STRING, cursor.sstr("string value")),
    11: lambda cursor: Typed(Kind.CHAR, cursor.u16("char value")),
}
CODES: Final[dict[Kind, int]] = {
    Kind.NULL: 0,
    Kind.BOOLEAN: 2,
    Kind.BYTE: 3,
    Kind.BYTES: 4,
    Kind.SHORT: 5,
    Kind.INT: 6,
    Kind.LONG: 7,
    Kind.FLOAT: 8,
    Kind.DOUBLE: 9,
    Kind.STRING: 10,
    Kind.CHAR: 11,
}


def decode_value(cursor: Cursor) -> Typed:
    """Type byte and value."""
    at = cursor.pos
    code = cursor.u8("value type")
    reader = READERS.get(code)
    if reader is None:
        raise Undecodable(at, f"unknown value type {code}")
    return reader(cursor)


def encode_value(out: Builder, typed: Typed) -> None:
    """Value without its type byte."""
    value = typed.value
    match typed.kind:
        case Kind.NULL:
            pass
        case Kind.BOOLEAN:
            out.u8(typed.wire or int(value))
        case Kind.BYTE:
            out.u8(value)
        case Kind.BYTES:
            out.i32(len(value))
            out.raw(value)
        case Kind.SHORT:
            out.i16(value)
        case Kind.INT:
            out.i32(value)
        case Kind.LONG:
            out.i64(value)
        case Kind.FLOAT:
            out.raw(pack(">I", typed.wire))
        case Kind.DOUBLE:
            out.raw(pack(">Q", typed.wire))
        case Kind.STRING:
            out.sstr(value)
        case Kind.CHAR:
            out.u16(value)
        case _:
            raise ValueError(f"{typed.kind} cannot be a typed property")


def decode_properties(cursor: Cursor) -> PropertiesBlock:
    mark = cursor.u8("properties present")
    if mark == 0:
        return NO_PROPERTIES
    at = cursor.pos
    count = cursor.i32("number of properties")
    if count < 0 or count * SMALLEST_ENTRY > cursor.left():
        raise Undecodable(at, f"{count} properties cannot fit into {cursor.left()} bytes")
    entries = tuple(Property(cursor.sstr("property name"), decode_value(cursor)) for _ in range(count))
    return PropertiesBlock(mark, entries)


def decode_whole_block(block: bytes | memoryview) -> PropertiesBlock:
    """A block that must fill ``block`` to its last byte. Offsets in errors count from its start."""
    cursor = Cursor(block)
    decoded = decode_properties(cursor)
    cursor.finish("properties")
    return decoded


def encode_properties(out: Builder, block: PropertiesBlock) -> None:
    out.u8(block.mark)
    if block.mark == 0:
        return
    out.i32(len(block.entries))
    for entry in block.entries:
        out.sstr(entry.name)
        out.u8(CODES[entry.value.kind])
        encode_value(out, entry.value)


def properties_bytes(entries: tuple[Property, ...]) -> bytes:
    """A block as a 2.x broker writes it: no entries means the single byte 0."""
    out = Builder()
    encode_properties(out, PropertiesBlock(1 if entries else 0, entries))
    return out.done()
