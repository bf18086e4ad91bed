"""Typed properties blocks (docs/spec/messages.md 5).

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
from functools import lru_cache
from struct import pack, unpack
from typing import Final, NamedTuple

from pagefmt.codec.messages.core_fields import PROPERTY_CODES
from pagefmt.codec.messages.values import NULL, Property, TypedValue, ValueKind
from pagefmt.codec.wire import ByteReader, ByteWriter, Undecodable

SMALLEST_ENTRY: Final = 5  # an empty key and a null


class PropertiesBlock(NamedTuple):
    """A block of typed properties as it was read.

    ``mark`` is the first byte as found: 0 means that there is no block.
    """

    mark: int
    entries: tuple[Property, ...]


NO_PROPERTIES: Final = PropertiesBlock(0, ())


def float_of(bits: int) -> TypedValue:
    """Return the float with these 32 bits."""
    return TypedValue(ValueKind.FLOAT, unpack(">f", pack(">I", bits))[0], bits)


def double_of(bits: int) -> TypedValue:
    """Return the double with these 64 bits."""
    return TypedValue(ValueKind.DOUBLE, unpack(">d", pack(">Q", bits))[0], bits)


def _boolean(reader: ByteReader) -> TypedValue:
    byte = reader.u8("boolean value")
    return TypedValue(ValueKind.BOOLEAN, byte != 0, byte)


def _bytes(reader: ByteReader) -> TypedValue:
    return TypedValue(ValueKind.BYTES, reader.take(reader.i32("bytes length"), "bytes value"))


_READERS: Final[dict[ValueKind, Callable[[ByteReader], TypedValue]]] = {
    ValueKind.NULL: lambda reader: NULL,
    ValueKind.BOOLEAN: _boolean,
    ValueKind.BYTE: lambda reader: TypedValue(ValueKind.BYTE, reader.i8("byte value")),
    ValueKind.BYTES: _bytes,
    ValueKind.SHORT: lambda reader: TypedValue(ValueKind.SHORT, reader.i16("short value")),
    ValueKind.INT: lambda reader: TypedValue(ValueKind.INT, reader.i32("int value")),
    ValueKind.LONG: lambda reader: TypedValue(ValueKind.LONG, reader.i64("long value")),
    ValueKind.FLOAT: lambda reader: float_of(reader.i32("float value") & 0xFFFFFFFF),
    ValueKind.DOUBLE: lambda reader: double_of(reader.i64("double value") & 0xFFFFFFFFFFFFFFFF),
    ValueKind.STRING: lambda reader: TypedValue(ValueKind.STRING, reader.sstr("string value")),
    ValueKind.CHAR: lambda reader: TypedValue(ValueKind.CHAR, reader.u16("char value")),
}
READERS: Final = {code: _READERS[kind] for kind, code in PROPERTY_CODES.items()}


def decode_value(reader: ByteReader) -> TypedValue:
    """Decode a type byte and its value. Raise ``Undecodable``."""
    at = reader.pos
    code = reader.u8("value type")
    decode = READERS.get(code)
    if decode is None:
        raise Undecodable(at, f"unknown value type {code}")
    return decode(reader)


def encode_value(out: ByteWriter, typed: TypedValue) -> None:
    """Value without its type byte."""
    value = typed.value
    match typed.kind:
        case ValueKind.NULL:
            pass
        case ValueKind.BOOLEAN:
            out.u8(typed.wire or int(value))
        case ValueKind.BYTE:
            out.u8(value)
        case ValueKind.BYTES:
            out.i32(len(value))
            out.raw(value)
        case ValueKind.SHORT:
            out.i16(value)
        case ValueKind.INT:
            out.i32(value)
        case ValueKind.LONG:
            out.i64(value)
        case ValueKind.FLOAT:
            out.raw(pack(">I", typed.wire))
        case ValueKind.DOUBLE:
            out.raw(pack(">Q", typed.wire))
        case ValueKind.STRING:
            out.sstr(value)
        case ValueKind.CHAR:
            out.u16(value)
        case _:
            raise ValueError(f"{typed.kind} cannot be a typed property")


def decode_properties(reader: ByteReader) -> PropertiesBlock:
    """Decode a block at the reader's position. Raise ``Undecodable``."""
    mark = reader.u8("properties present")
    if mark == 0:
        return NO_PROPERTIES
    at = reader.pos
    count = reader.i32("number of properties")
    if count < 0 or count * SMALLEST_ENTRY > reader.left():
        raise Undecodable(at, f"{count} properties cannot fit into {reader.left()} bytes")
    entries = tuple(Property(reader.sstr("property name"), decode_value(reader)) for _ in range(count))
    return PropertiesBlock(mark, entries)


def decode_whole_block(block: bytes | memoryview) -> PropertiesBlock:
    """Decode a block that must fill ``block`` to its last byte. Offsets in errors count from its start."""
    if isinstance(block, bytes) and len(block) <= _REMEMBERED:
        return _remembered(block)
    return _whole(block)


_REMEMBERED: Final = 1 << 16


@lru_cache(maxsize=1)
def _remembered(block: bytes) -> PropertiesBlock:
    """Decode a block with a cache: a message is first checked, and later asked for its properties."""
    return _whole(block)


def _whole(block: bytes | memoryview) -> PropertiesBlock:
    reader = ByteReader(block)
    decoded = decode_properties(reader)
    reader.finish("properties")
    return decoded


def encode_properties(out: ByteWriter, block: PropertiesBlock) -> None:
    """Append a block as it was read."""
    out.u8(block.mark)
    if block.mark == 0:
        return
    out.i32(len(block.entries))
    for entry in block.entries:
        out.sstr(entry.name)
        out.u8(PROPERTY_CODES[entry.value.kind])
        encode_value(out, entry.value)


def properties_bytes(entries: tuple[Property, ...]) -> bytes:
    """Return a block as a 2.x broker writes it: the single byte 0 if there are no entries."""
    out = ByteWriter()
    encode_properties(out, PropertiesBlock(1 if entries else 0, entries))
    return out.done()
