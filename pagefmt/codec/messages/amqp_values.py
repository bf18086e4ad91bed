"""AMQP 1.0 values: one constructor byte, then the payload (docs/spec/messages.md 9.3).

    40 null   41 true   42 false   43 uint 0   44 ulong 0   45 empty list      00 described: descriptor, value
    50 ubyte  51 byte   52 uint    53 ulong    54 int       55 long   56 boolean (one byte each)
    60 ushort 61 short                                                           (two)
    70 uint   71 int    72 float   73 char     74 decimal32                      (four)
    80 ulong  81 long   82 double  83 timestamp 84 decimal64                     (eight)
    94 decimal128  98 uuid                                                       (sixteen)
    a0 binary a1 string a3 symbol: u8 size     b0 b1 b3: u32 size
    c0 list   c1 map: u8 size, u8 count        d0 d1: u32 size, u32 count
    e0 array: u8 size, u8 count, constructor   f0: u32

The size of a compound counts what follows the size field. ``TypedValue.wire`` keeps the constructor, so that what was
decoded encodes to the same bytes; of an array it keeps the constructor of the items in the bits above 8. Nesting and
the number of items without bytes are limited.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import pack
from typing import Final

from pagefmt.codec.messages.properties import double_of, float_of
from pagefmt.codec.messages.values import NULL, TypedValue, ValueKind
from pagefmt.codec.wire import ByteReader, ByteWriter, Undecodable

MAX_DEPTH: Final = 64
MAX_EMPTY_ITEMS: Final = 65536
U32: Final = 0xFFFFFFFF
U64: Final = 0xFFFFFFFFFFFFFFFF


def _bool(reader: ByteReader) -> TypedValue:
    byte = reader.u8("boolean")
    return TypedValue(ValueKind.BOOLEAN, byte != 0, 0x56 | byte << 8)


def _u8_size(reader: ByteReader) -> int:
    return reader.u8("size")


def _u32_size(reader: ByteReader) -> int:
    return reader.i32("size") & U32


def _utf8(reader: ByteReader, size: int, what: str) -> str:
    at = reader.pos
    try:
        return reader.take(size, what).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as err:
        raise Undecodable(at + err.start, f"{what}: not UTF-8") from err


def _char(reader: ByteReader) -> TypedValue:
    return TypedValue(ValueKind.CHAR, reader.i32("char") & U32, 0x73)


def _text(code: int, size: Callable[[ByteReader], int]) -> Callable[[ByteReader], TypedValue]:
    return lambda reader: TypedValue(ValueKind.STRING, _utf8(reader, size(reader), "string"), code)


def _symbol(code: int, size: Callable[[ByteReader], int]) -> Callable[[ByteReader], TypedValue]:
    return lambda reader: TypedValue(ValueKind.SYMBOL, reader.take(size(reader), "symbol").decode("latin-1"), code)


def _binary(code: int, size: Callable[[ByteReader], int]) -> Callable[[ByteReader], TypedValue]:
    return lambda reader: TypedValue(ValueKind.BYTES, reader.take(size(reader), "binary"), code)


def _raw(kind: ValueKind, code: int, size: int) -> Callable[[ByteReader], TypedValue]:
    return lambda reader: TypedValue(kind, reader.take(size, kind.value), code)


FIXED: Final[dict[int, Callable[[ByteReader], TypedValue]]] = {
    0x40: lambda reader: TypedValue(ValueKind.NULL, None, 0x40),
    0x41: lambda reader: TypedValue(ValueKind.BOOLEAN, True, 0x41),
    0x42: lambda reader: TypedValue(ValueKind.BOOLEAN, False, 0x42),
    0x43: lambda reader: TypedValue(ValueKind.UINT, 0, 0x43),
    0x44: lambda reader: TypedValue(ValueKind.ULONG, 0, 0x44),
    0x45: lambda reader: TypedValue(ValueKind.LIST, (), 0x45),
    0x50: lambda reader: TypedValue(ValueKind.UBYTE, reader.u8("ubyte"), 0x50),
    0x51: lambda reader: TypedValue(ValueKind.BYTE, reader.i8("byte"), 0x51),
    0x52: lambda reader: TypedValue(ValueKind.UINT, reader.u8("uint"), 0x52),
    0x53: lambda reader: TypedValue(ValueKind.ULONG, reader.u8("ulong"), 0x53),
    0x54: lambda reader: TypedValue(ValueKind.INT, reader.i8("int"), 0x54),
    0x55: lambda reader: TypedValue(ValueKind.LONG, reader.i8("long"), 0x55),
    0x56: _bool,
    0x60: lambda reader: TypedValue(ValueKind.USHORT, reader.u16("ushort"), 0x60),
    0x61: lambda reader: TypedValue(ValueKind.SHORT, reader.i16("short"), 0x61),
    0x70: lambda reader: TypedValue(ValueKind.UINT, reader.i32("uint") & U32, 0x70),
    0x71: lambda reader: TypedValue(ValueKind.INT, reader.i32("int"), 0x71),
    0x72: lambda reader: float_of(reader.i32("float") & U32),
    0x73: _char,
    0x74: _raw(ValueKind.DECIMAL32, 0x74, 4),
    0x80: lambda reader: TypedValue(ValueKind.ULONG, reader.i64("ulong") & U64, 0x80),
    0x81: lambda reader: TypedValue(ValueKind.LONG, reader.i64("long"), 0x81),
    0x82: lambda reader: double_of(reader.i64("double") & U64),
    0x83: lambda reader: TypedValue(ValueKind.TIMESTAMP, reader.i64("timestamp"), 0x83),
    0x84: _raw(ValueKind.DECIMAL64, 0x84, 8),
    0x94: _raw(ValueKind.DECIMAL128, 0x94, 16),
    0x98: _raw(ValueKind.UUID, 0x98, 16),
    0xA0: _binary(0xA0, _u8_size),
    0xA1: _text(0xA1, _u8_size),
    0xA3: _symbol(0xA3, _u8_size),
    0xB0: _binary(0xB0, _u32_size),
    0xB1: _text(0xB1, _u32_size),
    0xB3: _symbol(0xB3, _u32_size),
}
NO_BYTES: Final = frozenset((0x40, 0x41, 0x42, 0x43, 0x44, 0x45))


def decode_amqp_value(reader: ByteReader, depth: int = 0) -> TypedValue:
    """Decode a value. Raise ``Undecodable`` if bytes, sizes or counts do not fit, or nesting is too deep."""
    at = reader.pos
    return _payload(reader, reader.u8("constructor"), at, depth)


def _payload(reader: ByteReader, code: int, at: int, depth: int) -> TypedValue:
    fixed = FIXED.get(code)
    if fixed is not None:
        return fixed(reader)
    if depth >= MAX_DEPTH:
        raise Undecodable(at, f"nested deeper than {MAX_DEPTH}")
    match code:
        case 0x00:
            return TypedValue(
                ValueKind.DESCRIBED, (decode_amqp_value(reader, depth + 1), decode_amqp_value(reader, depth + 1))
            )
        case 0xC0 | 0xD0:
            items, count = _compound(reader, code == 0xC0)
            return TypedValue(ValueKind.LIST, _items(items, count, depth), code)
        case 0xC1 | 0xD1:
            items, count = _compound(reader, code == 0xC1)
            return _map(items, count, code, depth)
        case 0xE0 | 0xF0:
            items, count = _compound(reader, code == 0xE0)
            return _array(items, count, code, depth)
        case _:
            raise Undecodable(at, f"unknown AMQP constructor 0x{code:02x}")


def _compound(reader: ByteReader, small: bool) -> tuple[ByteReader, int]:
    items = reader.sub(_u8_size(reader) if small else _u32_size(reader), "compound")
    return items, items.u8("count") if small else items.i32("count") & U32


def _items(items: ByteReader, count: int, depth: int) -> tuple[TypedValue, ...]:
    if count > items.left():
        raise Undecodable(items.pos, f"{count} items cannot fit into {items.left()} bytes")
    decoded = tuple(decode_amqp_value(items, depth + 1) for _ in range(count))
    items.finish("list or map")
    return decoded


def _map(items: ByteReader, count: int, code: int, depth: int) -> TypedValue:
    if count % 2:
        raise Undecodable(items.pos, f"map with an odd count {count}")
    flat = _items(items, count, depth)
    return TypedValue(ValueKind.MAP, tuple(zip(flat[::2], flat[1::2], strict=True)), code)


def _array(items: ByteReader, count: int, code: int, depth: int) -> TypedValue:
    at = items.pos
    item_code = items.u8("constructor of the items")
    descriptor = decode_amqp_value(items, depth + 1) if item_code == 0 else None
    inner = items.u8("constructor of the items") if descriptor is not None else item_code
    if count > (MAX_EMPTY_ITEMS if inner in NO_BYTES else items.left()):
        raise Undecodable(at, f"{count} items cannot fit into {items.left()} bytes")
    decoded = tuple(_payload(items, inner, items.pos, depth + 1) for _ in range(count))
    items.finish("array")
    if descriptor is not None:
        decoded = tuple(TypedValue(ValueKind.DESCRIBED, (descriptor, item)) for item in decoded)
    return TypedValue(ValueKind.ARRAY, decoded, code | inner << 8)


# -- writing ----------------------------------------------------------------------------------------------------------

_SMALLEST: Final = {
    ValueKind.NULL: 0x40,
    ValueKind.BOOLEAN: 0x56,
    ValueKind.UBYTE: 0x50,
    ValueKind.BYTE: 0x51,
    ValueKind.USHORT: 0x60,
    ValueKind.SHORT: 0x61,
    ValueKind.UINT: 0x70,
    ValueKind.INT: 0x71,
    ValueKind.ULONG: 0x80,
    ValueKind.LONG: 0x81,
    ValueKind.FLOAT: 0x72,
    ValueKind.DOUBLE: 0x82,
    ValueKind.CHAR: 0x73,
    ValueKind.TIMESTAMP: 0x83,
    ValueKind.DECIMAL32: 0x74,
    ValueKind.DECIMAL64: 0x84,
    ValueKind.DECIMAL128: 0x94,
    ValueKind.UUID: 0x98,
    ValueKind.BYTES: 0xB0,
    ValueKind.STRING: 0xB1,
    ValueKind.SYMBOL: 0xB3,
    ValueKind.LIST: 0xD0,
    ValueKind.MAP: 0xD1,
    ValueKind.ARRAY: 0xF0,
    ValueKind.DESCRIBED: 0x00,
}
_WIDTHS: Final = {0x4: 0, 0x5: 1, 0x6: 2, 0x7: 4, 0x8: 8}


def constructor_of(typed: TypedValue) -> int:
    """Return the constructor that was decoded; for a value built in code the widest one of its kind."""
    if typed.kind in (ValueKind.FLOAT, ValueKind.DOUBLE):
        return _SMALLEST[typed.kind]
    return typed.wire & 0xFF or _SMALLEST[typed.kind]


def encode_amqp_value(out: ByteWriter, typed: TypedValue) -> None:
    """Append constructor byte and payload."""
    code = constructor_of(typed)
    out.u8(code)
    _write_payload(out, typed, code)


def _write_payload(out: ByteWriter, typed: TypedValue, code: int) -> None:
    value = typed.value
    match typed.kind:
        case ValueKind.BOOLEAN:
            if code == 0x56:
                out.u8(typed.wire >> 8 or int(value))
        case ValueKind.FLOAT:
            out.raw(pack(">I", typed.wire))
        case ValueKind.DOUBLE:
            out.raw(pack(">Q", typed.wire))
        case ValueKind.STRING:
            _write_sized(out, value.encode("utf-8", "surrogatepass"), code)
        case ValueKind.SYMBOL:
            _write_sized(out, value.encode("latin-1"), code)
        case ValueKind.BYTES:
            _write_sized(out, value, code)
        case ValueKind.UUID | ValueKind.DECIMAL32 | ValueKind.DECIMAL64 | ValueKind.DECIMAL128:
            out.raw(value)
        case ValueKind.DESCRIBED:
            encode_amqp_value(out, value[0])
            encode_amqp_value(out, value[1])
        case ValueKind.LIST | ValueKind.MAP:
            _write_compound(out, typed, code)
        case ValueKind.ARRAY:
            _write_array(out, typed, code)
        case ValueKind.NULL:
            pass
        case _:
            width = _WIDTHS[code >> 4]
            out.raw((value & (1 << 8 * width) - 1).to_bytes(width, "big"))


def _write_size(out: ByteWriter, size: int, code: int) -> None:
    if code >> 4 in (0xA, 0xC, 0xE):
        if size > 0xFF:
            raise ValueError(f"{size} does not fit into one byte of constructor 0x{code:02x}")
        out.u8(size)
    else:
        out.raw(pack(">I", size))


def _write_sized(out: ByteWriter, raw: bytes, code: int) -> None:
    _write_size(out, len(raw), code)
    out.raw(raw)


def _write_compound(out: ByteWriter, typed: TypedValue, code: int) -> None:
    if code == 0x45:
        return
    items = typed.value if typed.kind is ValueKind.LIST else [side for pair in typed.value for side in pair]
    inner = ByteWriter()
    _write_size(inner, len(items), code)
    for item in items:
        encode_amqp_value(inner, item)
    _write_sized(out, inner.done(), code)


def _write_array(out: ByteWriter, typed: TypedValue, code: int) -> None:
    inner = ByteWriter()
    _write_size(inner, len(typed.value), code)
    items: tuple[TypedValue, ...] = typed.value
    if items and items[0].kind is ValueKind.DESCRIBED:
        inner.u8(0)
        encode_amqp_value(inner, items[0].value[0])
        items = tuple(item.value[1] for item in items)
    item_code = typed.wire >> 8 or (constructor_of(items[0]) if items else constructor_of(NULL))
    inner.u8(item_code)
    for item in items:
        _write_payload(inner, item, item_code)
    _write_sized(out, inner.done(), code)
