"""The sections of an encoded AMQP message field by field (docs/spec/messages.md 9.3).

00 53 7x      section          c0 / d0, size, count     list: its fields by position
                               c1 / d1, size, count     map: one field for each pair
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pagefmt.codec.messages.amqp_sections import (
    ANNOTATIONS,
    APPLICATION,
    DATA,
    DELIVERY,
    FOOTER,
    HEADER,
    PROPERTIES,
    PROPERTY_FIELDS,
    SEQUENCE,
    VALUE,
    section_code,
)
from pagefmt.codec.messages.amqp_text import uuid_text
from pagefmt.codec.messages.amqp_values import decode_amqp_value
from pagefmt.codec.messages.values import TypedValue, ValueKind
from pagefmt.codec.wire import ByteReader, Undecodable
from pagefmt.describe.field import Field, plain

NAMES: Final = {
    HEADER: "header", DELIVERY: "delivery annotations", ANNOTATIONS: "message annotations", PROPERTIES: "properties",
    APPLICATION: "application properties", DATA: "data", SEQUENCE: "sequence", VALUE: "value", FOOTER: "footer",
}  # fmt: skip
_FIELDS: Final = {
    HEADER: ("durable", "priority", "ttl", "first_acquirer", "delivery_count"),
    PROPERTIES: PROPERTY_FIELDS,
}
_MAPS: Final = frozenset((DELIVERY, ANNOTATIONS, APPLICATION, FOOTER))
_SHORT: Final = frozenset((0xC0, 0xC1))
_LONG: Final = frozenset((0xD0, 0xD1))


def section_fields(buf: bytes | memoryview, start: int, end: int) -> Iterator[Field]:
    """Yield the fields of the sections of an encoded message. What does not decode is one field up to the end."""
    cursor = ByteReader(buf, start, end)
    while cursor.left():
        at = cursor.pos
        try:
            yield from list(_section(cursor))
        except Undecodable as err:
            yield Field(at, end - at, "not understood", bytes(buf[at:end]), err.detail)
            return


def _section(cursor: ByteReader) -> Iterator[Field]:
    at = cursor.pos
    if cursor.u8("described") != 0:
        raise Undecodable(at, "an AMQP section is expected")
    code = section_code(decode_amqp_value(cursor), at)
    yield Field(at, cursor.pos - at, f"section {NAMES[code]}")
    if code in _FIELDS or code in _MAPS:
        yield from _compound(cursor, code)
    else:
        yield _value(cursor, NAMES[code])


def _compound(cursor: ByteReader, code: int) -> Iterator[Field]:
    """Yield the head of a list or map section, then one field for each item or pair.

    A section with any other value, such as a null, is a single field.
    """
    at = cursor.pos
    constructor = cursor.u8("constructor")
    if constructor not in _SHORT | _LONG:
        cursor.pos = at
        yield _value(cursor, NAMES[code])
        return
    short = constructor in _SHORT
    size = cursor.u8("size") if short else cursor.i32("size")
    items = cursor.sub(size, "section")
    count = items.u8("count") if short else items.i32("count")
    yield Field(at, items.pos - at, "map" if code in _MAPS else "list", None, f"{size} bytes, {count} items")
    if code in _MAPS:
        yield from _pairs(items)
    else:
        yield from _listed(items, _FIELDS[code])


def _pairs(items: ByteReader) -> Iterator[Field]:
    while items.left():
        at = items.pos
        key = decode_amqp_value(items)
        value = decode_amqp_value(items)
        yield Field(at, items.pos - at, shown(key), None, shown(value))


def _listed(items: ByteReader, names: tuple[str, ...]) -> Iterator[Field]:
    n = 0
    while items.left():
        yield _value(items, names[n] if n < len(names) else f"field {n}")
        n += 1


def _value(cursor: ByteReader, name: str) -> Field:
    at = cursor.pos
    typed = decode_amqp_value(cursor)
    return Field(at, cursor.pos - at, name, None, shown(typed))


def shown(typed: TypedValue) -> str:
    """Return a value as text on one line."""
    match typed.kind:
        case ValueKind.NULL:
            return "null"
        case ValueKind.UUID:
            return uuid_text(typed.value)
        case ValueKind.BYTES:
            return f"{len(typed.value)} bytes"
        case ValueKind.DECIMAL32 | ValueKind.DECIMAL64 | ValueKind.DECIMAL128:
            return f"{typed.kind} {typed.value.hex()}"
        case ValueKind.LIST | ValueKind.ARRAY:
            return f"[{', '.join(map(shown, typed.value))}]"
        case ValueKind.MAP:
            return "{" + ", ".join(f"{shown(key)}: {shown(value)}" for key, value in typed.value) + "}"
        case ValueKind.DESCRIBED:
            return f"@{shown(typed.value[0])} {shown(typed.value[1])}"
        case ValueKind.BOOLEAN:
            return "true" if typed.value else "false"
        case _:
            return plain(typed.value)
