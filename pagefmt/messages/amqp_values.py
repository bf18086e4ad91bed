"""AMQP 1.0 values: one constructor byte, then the payload (spec/messages.md 9.3).

    40 null   41 true   42 false   43 uint 0   44 ulong 0   45 empty list      00 described: descriptor, value
    50 ubyte  51 byte   52 uint    53 ulong    54 int       55 long   56 boolean (one byte each)
    60 ushort 61 short                                                           (two)
    70 uint   71 int    72 float   73 char     74 decimal32                      (four)
    80 ulong  81 long   82 double  83 timestamp 84 decimal64                     (eight)
    94 decimal128  98 uuid                                                       (sixteen)
    a0 binary a1 string a3 symbol: u8 size     b0 b1 b3: u32 size
    c0 list   c1 map: u8 size, u8 count        d0 d1: u32 size, u32 count
    e0 array: u8 size, u8 count, constructor   f0: u32

The size of a compound counts what follows the size field. ``Typed.wire`` keeps the constructor, so that what was
decoded encodes to the same bytes; of an array it keeps the constructor of the items in the bits above 8. Nesting and
the number of items without bytes are limited.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import pack
from typing import Final

from pagefmt.bytes.wire import Builder, Cursor, Undecodable
from pagefmt.messages.properties import double_of, float_of
from pagefmt.messages.values import NULL, Kind, Typed

MAX_DEPTH: Final = 64
MAX_EMPTY_ITEMS: Final = 65536
U32: Final = 0xFFFFFFFF
U64: Final = 0xFFFFFFFFFFFFFFFF


def _bool(cursor: Cursor) -> Typed:
    byte = cursor.u8("boolean")
    return Typed(Kind.BOOLEAN, byte != 0, 0x56 | byte << 8)


def _u8_size(cursor: Cursor) -> int:
    return cursor.u8("size")


def _u32_size(cursor: Cursor) -> int:
    return cursor.i32("size") & U32


def _utf8(cursor: Cursor, size: int, what: str) -> str:
    at = cursor.pos
    try:
        return cursor.take(size, what).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as err:
        raise Undecodable(at + err.start, f"{what}: not UTF-8") from err


def _char(cursor: Cursor) -> Typed:
    return Typed(Kind.CHAR, cursor.i32("char") & U32, 0x73)


def _text(code: int, size: Callable[[Cursor], int]) -> Callable[[Cursor], Typed]:
    return lambda cursor: Typed(Kind.STRING, _utf8(cursor, size(cursor), "string"), code)


def _symbol(code: int, size: Callable[[Cursor], int]) -> Callable[[Cursor], Typed]:
    return lambda cursor: Typed(Kind.SYMBOL, cursor.take(size(cursor), "symbol").decode("latin-1"), code)


def _binary(code: int, size: Callable[[Cursor], int]) -> Callable[[Cursor], Typed]:
    return lambda cursor: Typed(Kind.BYTES, cursor.take(size(cursor), "binary"), code)


def _raw(kind: Kind, code: int, size: int) -> Callable[[Cursor], Typed]:
    return lambda cursor: Typed(kind, cursor.take(size, kind.value), code)


FIXED: Final[dict[int, Callable[[Cursor], Typed]]] = {
    0x40: lambda cursor: Typed(Kind.NULL, None, 0x40),
    0x41: lambda cursor: Typed(Kind.BOOLEAN, True, 0x41),
    0x42: lambda cursor: Typed(Kind.BOOLEAN, False, 0x42),
    0x43: lambda cursor: Typed(Kind.UINT, 0, 0x43),
    0x44: lambda cursor: Typed(Kind.ULONG, 0, 0x44),
    0x45: lambda cursor: Typed(Kind.LIST, (), 0x45),
    0x50: lambda cursor: Typed(Kind.UBYTE, cursor.u8("ubyte"), 0x50),
    0x51: lambda cursor: Typed(Kind.BYTE, cursor.i8("byte"), 0x51),
    0x52: lambda cursor: Typed(Kind.UINT, cursor.u8("uint"), 0x52),
    0x53: lambda cursor: Typed(Kind.ULONG, cursor.u8("ulong"), 0x53),
    0x54: lambda cursor: Typed(Kind.INT, cursor.i8("int"), 0x54),
    0x55: lambda cursor: Typed(Kind.LONG, cursor.i8("long"), 0x55),
    0x56: _bool,
    0x60: lambda cursor: Typed(Kind.USHORT, cursor.u16("ushort"), 0x60),
    0x61: lambda cursor: Typed(Kind.SHORT, cursor.i16("short"), 0x61),
    0x70: lambda cursor: Typed(Kind.UINT, cursor.i32("uint") & U32, 0x70),
    0x71: lambda cursor: Typed(Kind.INT, cursor.i32("int"), 0x71),
    0x72: lambda cursor: float_of(cursor.i32("float") & U32),
    0x73: _char,
    0x74: _raw(Kind.DECIMAL32, 0x74, 4),
    0x80: lambda cursor: Typed(Kind.ULONG, cursor.i64("ulong") & U64, 0x80),
    0x81: lambda cursor: Typed(Kind.LONG, cursor.i64("long"), 0x81),
    0x82: lambda cursor: double_of(cursor.i64("double") & U64),
    0x83: lambda cursor: Typed(Kind.TIMESTAMP, cursor.i64("timestamp"), 0x83),
    0x84: _raw(Kind.DECIMAL64, 0x84, 8),
    0x94: _raw(Kind.DECIMAL128, 0x94, 16),
    0x98: _raw(Kind.UUID, 0x98, 16),
    0xA0: _binary(0xA0, _u8_size),
    0xA1: _text(0xA1, _u8_size),
    0xA3: _symbol(0xA3, _u8_size),
    0xB0: _binary(0xB0, _u32_size),
    0xB1: _text(0xB1, _u32_size),
    0xB3: _symbol(0xB3, _u32_size),
}
NO_BYTES: Final = frozenset((0x40, 0x41, 0x42, 0x43, 0x44, 0x45))


def decode_amqp_value(cursor: Cursor, depth: int = 0) -> Typed:
    """One value. Raises ``Undecodable`` where bytes, sizes or counts do not fit, or nesting is too deep."""
    at = cursor.pos
    return _payload(cursor, cursor.u8("constructor"), at, depth)


def _payload(cursor: Cursor, code: int, at: int, depth: int) -> Typed:
    fixed = FIXED.get(code)
    if fixed is not None:
        return fixed(cursor)
    if depth >= MAX_DEPTH:
        raise Undecodable(at, f"nested deeper than {MAX_DEPTH}")
    match code:
        case 0x00:
            return Typed(Kind.DESCRIBED, (decode_amqp_value(cursor, depth + 1), decode_amqp_value(cursor, depth + 1)))
        case 0xC0 | 0xD0:
            items, count = _compound(cursor, code == 0xC0)
            return Typed(Kind.LIST, _items(items, count, depth), code)
        case 0xC1 | 0xD1:
            items, count = _compound(cursor, code == 0xC1)
            return _map(items, count, code, depth)
        case 0xE0 | 0xF0:
            items, count = _compound(cursor, code == 0xE0)
            return _array(items, count, code, depth)
        case _:
            raise Undecodable(at, f"unknown AMQP constructor 0x{code:02x}")


def _compound(cursor: Cursor, small: bool) -> tuple[Cursor, int]:
    items = cursor.sub(_u8_size(cursor) if small else _u32_size(cursor), "compound")
    return items, items.u8("count") if small else items.i32("count") & U32


def _items(items: Cursor, count: int, depth: int) -> tuple[Typed, ...]:
    if count > items.left():
        raise Undecodable(items.pos, f"{count} items cannot fit into {items.left()} bytes")
    decoded = tuple(decode_amqp_value(items, depth + 1) for _ in range(count))
    items.finish("list or map")
    return decoded


def _map(items: Cursor, count: int, code: int, depth: int) -> Typed:
    if count % 2:
        raise Undecodable(items.pos, f"map with an odd count {count}")
    flat = _items(items, count, depth)
    return Typed(Kind.MAP, tuple(zip(flat[::2], flat[1::2], strict=True)), code)


def _array(items: Cursor, count: int, code: int, depth: int) -> Typed:
    at = items.pos
    item_code = items.u8("constructor of the items")
    descriptor = decode_amqp_value(items, depth + 1) if item_code == 0 else None
    inner = items.u8("constructor of the items") if descriptor is not None else item_code
    if count > (MAX_EMPTY_ITEMS if inner in NO_BYTES else items.left()):
        raise Undecodable(at, f"{count} items cannot fit into {items.left()} bytes")
    decoded = tuple(_payload(items, inner, items.pos, depth + 1) for _ in range(count))
    items.finish("array")
    if descriptor is not None:
        decoded = tuple(Typed(Kind.DESCRIBED, (descriptor, item)) for item in decoded)
    return Typed(Kind.ARRAY, decoded, code | inner << 8)


# -- writing ----------------------------------------------------------------------------------------------------------

_SMALLEST: Final = {
    Kind.NULL: 0x40,
    Kind.BOOLEAN: 0x56,
    Kind.UBYTE: 0x50,
    Kind.BYTE: 0x51,
    Kind.USHORT: 0x60,
    Kind.SHORT: 0x61,
    Kind.UINT: 0x70,
    Kind.INT: 0x71,
    Kind.ULONG: 0x80,
    Kind.LONG: 0x81,
    Kind.FLOAT: 0x72,
    Kind.DOUBLE: 0x82,
    Kind.CHAR: 0x73,
    Kind.TIMESTAMP: 0x83,
    Kind.DECIMAL32: 0x74,
    Kind.DECIMAL64: 0x84,
    Kind.DECIMAL128: 0x94,
    Kind.UUID: 0x98,
    Kind.BYTES: 0xB0,
    Kind.STRING: 0xB1,
    Kind.SYMBOL: 0xB3,
    Kind.LIST: 0xD0,
    Kind.MAP: 0xD1,
    Kind.ARRAY: 0xF0,
    Kind.DESCRIBED: 0x00,
}
_WIDTHS: Final = {0x4: 0, 0x5: 1, 0x6: 2, 0x7: 4, 0x8: 8}


def constructor_of(typed: Typed) -> int:
    """As decoded; for a value made by hand the widest form of its kind."""
    if typed.kind in (Kind.FLOAT, Kind.DOUBLE):
        return _SMALLEST[typed.kind]
    return typed.wire & 0xFF or _SMALLEST[typed.kind]


def encode_amqp_value(out: Builder, typed: Typed) -> None:
    code = constructor_of(typed)
    out.u8(code)
    _write_payload(out, typed, code)


def _write_payload(out: Builder, typed: Typed, code: int) -> None:
    value = typed.value
    match typed.kind:
        case Kind.BOOLEAN:
            if code == 0x56:
                out.u8(typed.wire >> 8 or int(value))
        case Kind.FLOAT:
            out.raw(pack(">I", typed.wire))
        case Kind.DOUBLE:
            out.raw(pack(">Q", typed.wire))
        case Kind.STRING:
            _write_sized(out, value.encode("utf-8", "surrogatepass"), code)
        case Kind.SYMBOL:
            _write_sized(out, value.encode("latin-1"), code)
        case Kind.BYTES:
            _write_sized(out, value, code)
        case Kind.UUID | Kind.DECIMAL32 | Kind.DECIMAL64 | Kind.DECIMAL128:
            out.raw(value)
        case Kind.DESCRIBED:
            encode_amqp_value(out, value[0])
            encode_amqp_value(out, value[1])
        case Kind.LIST | Kind.MAP:
            _write_compound(out, typed, code)
        case Kind.ARRAY:
            _write_array(out, typed, code)
        case Kind.NULL:
            pass
        case _:
            width = _WIDTHS[code >> 4]
            out.raw((value & (1 << 8 * width) - 1).to_bytes(width, "big"))


def _write_size(out: Builder, size: int, code: int) -> None:
    if code >> 4 in (0xA, 0xC, 0xE):
        if size > 0xFF:
            raise ValueError(f"{size} does not fit into one byte of constructor 0x{code:02x}")
        out.u8(size)
    else:
        out.raw(pack(">I", size))


def _write_sized(out: Builder, raw: bytes, code: int) -> None:
    _write_size(out, len(raw), code)
    out.raw(raw)


def _write_compound(out: Builder, typed: Typed, code: int) -> None:
    if code == 0x45:
        return
    items = typed.value if typed.kind is Kind.LIST else [side for pair in typed.value for side in pair]
    inner = Builder()
    _write_size(inner, len(items), code)
    for item in items:
        encode_amqp_value(inner, item)
    _write_sized(out, inner.done(), code)


def _write_array(out: Builder, typed: Typed, code: int) -> None:
    inner = Builder()
    _write_size(inner, len(typed.value), code)
    items: tuple[Typed, ...] = typed.value
    if items and items[0].kind is Kind.DESCRIBED:
        inner.u8(0)
        encode_amqp_value(inner, items[0].value[0])
        items = tuple(item.value[1] for item in items)
    item_code = typed.wire >> 8 or (constructor_of(items[0]) if items else constructor_of(NULL))
    inner.u8(item_code)
    for item in items:
        _write_payload(inner, item, item_code)
    _write_sized(out, inner.done(), code)
