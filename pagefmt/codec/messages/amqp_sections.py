"""The sections of an AMQP message: described values in any order (docs/spec/messages.md 9.2, 9.3).

70 header   71 delivery annotations   72 message annotations   73 properties   74 application properties
75 data     76 sequence               77 value                 78 footer
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from pagefmt.codec.messages.amqp_values import decode_amqp_value
from pagefmt.codec.messages.values import TypedValue, ValueKind
from pagefmt.codec.wire import ByteReader, Undecodable

HEADER, DELIVERY, ANNOTATIONS, PROPERTIES, APPLICATION = 0x70, 0x71, 0x72, 0x73, 0x74
DATA, SEQUENCE, VALUE, FOOTER = 0x75, 0x76, 0x77, 0x78
BODY: Final = frozenset((DATA, SEQUENCE, VALUE))
SYMBOLS: Final = {
    "amqp:header:list": HEADER,
    "amqp:delivery-annotations:map": DELIVERY,
    "amqp:message-annotations:map": ANNOTATIONS,
    "amqp:properties:list": PROPERTIES,
    "amqp:application-properties:map": APPLICATION,
    "amqp:data:binary": DATA,
    "amqp:amqp-sequence:list": SEQUENCE,
    "amqp:amqp-value:*": VALUE,
    "amqp:footer:map": FOOTER,
}
PROPERTY_FIELDS: Final = (
    "message_id",
    "user_id",
    "to",
    "subject",
    "reply_to",
    "correlation_id",
    "content_type",
    "content_encoding",
    "absolute_expiry_time",
    "creation_time",
    "group_id",
    "group_sequence",
    "reply_to_group_id",
)


@dataclass(frozen=True, slots=True)
class AmqpHeader:
    """None: the field is absent or null."""

    durable: bool | None
    priority: int | None
    ttl: int | None
    first_acquirer: bool | None
    delivery_count: int | None


@dataclass(frozen=True, slots=True)
class BodySection:
    """A section of the body: its descriptor (0x75 to 0x77), its value, and its position in the message."""

    descriptor: int
    value: TypedValue
    start: int
    end: int

    def encoded(self, message: bytes) -> bytes:
        """Return the bytes of the section's value, without the descriptor."""
        reader = ByteReader(message, self.start + 1, self.end)
        decode_amqp_value(reader)
        return reader.rest()


@dataclass(frozen=True, slots=True)
class AmqpSections:
    """The decoded sections of a message, None where absent. ``property_fields``: fields that are not null, by name.

    ``late``: a section follows the application properties or the body, where the broker does not look for it.
    """

    header: AmqpHeader | None = None
    delivery_annotations: TypedValue | None = None
    message_annotations: TypedValue | None = None
    property_fields: dict[str, TypedValue] | None = None
    application_properties: TypedValue | None = None
    footer: TypedValue | None = None
    body: tuple[BodySection, ...] = ()
    late: bool = False

    @property
    def properties(self) -> dict[str, TypedValue]:
        """Return the fields of the properties section, empty if it is absent."""
        return self.property_fields or {}

    def application(self) -> Iterator[tuple[str, TypedValue]]:
        """Yield name and value of each application property."""
        section = self.application_properties
        if section is not None and section.kind is ValueKind.MAP:
            for key, value in section.value:
                yield str(key.value), value


def section_code(descriptor: TypedValue, at: int) -> int:
    """Return the number of the section with this descriptor. Raise ``Undecodable`` if there is none."""
    if descriptor.kind is ValueKind.ULONG and HEADER <= descriptor.value <= FOOTER:
        return int(descriptor.value)
    if descriptor.kind is ValueKind.SYMBOL and descriptor.value in SYMBOLS:
        return SYMBOLS[descriptor.value]
    raise Undecodable(at, f"no AMQP section has the descriptor {descriptor.value!r}")


def _sections(reader: ByteReader, *, body: bool = True) -> Iterator[tuple[int, TypedValue, int]]:
    """Yield code, value and offset of each section; without ``body`` only of those before the body or the footer.

    Raise ``Undecodable`` at the first byte that does not start a section.
    """
    while reader.left():
        at = reader.pos
        if reader.u8("constructor") != 0:
            reader.pos = at
            raise Undecodable(at, f"an AMQP section is expected, found {decode_amqp_value(reader).kind}")
        code = section_code(decode_amqp_value(reader), at)
        if not body and (code in BODY or code == FOOTER):
            return
        yield code, decode_amqp_value(reader), at


def decode_sections(reader: ByteReader) -> AmqpSections:
    """Decode all sections up to the reader's end. Of repeated sections the last counts; body sections add up."""
    parts: dict[str, Any] = {}
    ended = False
    for code, value, at in _sections(reader):
        if ended and code <= APPLICATION:
            parts["late"] = True
        ended = ended or code >= APPLICATION
        _add_section(parts, code, value, at, reader.pos)
    return AmqpSections(**parts)


def scanned_sections(reader: ByteReader) -> AmqpSections:
    """Decode what the broker parses on arrival: up to the application properties or the body, whichever is first."""
    parts: dict[str, Any] = {}
    for code, value, at in _sections(reader, body=False):
        _add_section(parts, code, value, at, reader.pos)
        if code == APPLICATION:
            break
    return AmqpSections(**parts)


def delivery_annotations_size(encoded: bytes) -> int:
    """Return the bytes of the delivery annotations, which a broker does not pass on; 0 without any."""
    reader, size = ByteReader(encoded), 0
    for code, _, at in _sections(reader):
        if code == DELIVERY:
            size = reader.pos - at
        elif code == APPLICATION or code in BODY:
            break
    return size


def _add_section(parts: dict[str, Any], code: int, value: TypedValue, at: int, end: int) -> None:
    """Add a section, which extends from ``at`` to ``end``, to the fields of ``AmqpSections``.

    Raise ``Undecodable``.
    """
    match code:
        case 0x70:
            parts["header"] = _header(_fields(value, at), at)
        case 0x71:
            parts["delivery_annotations"] = _map(value, at)
        case 0x72:
            parts["message_annotations"] = _map(value, at)
        case 0x73:
            parts["property_fields"] = _property_fields(_fields(value, at))
        case 0x74:
            parts["application_properties"] = _map(value, at)
        case 0x78:
            parts["footer"] = _map(value, at)
        case _:
            parts["body"] = (*parts.get("body", ()), BodySection(code, value, at, end))


def _fields(value: TypedValue, at: int) -> tuple[TypedValue, ...]:
    if value.kind is not ValueKind.LIST:
        raise Undecodable(at, f"expected a list, found {value.kind}")
    fields: tuple[TypedValue, ...] = value.value
    return fields


def _map(value: TypedValue, at: int) -> TypedValue:
    if value.kind not in (ValueKind.MAP, ValueKind.NULL):
        raise Undecodable(at, f"expected a map, found {value.kind}")
    return value


_HEADER_KINDS: Final = (ValueKind.BOOLEAN, ValueKind.UBYTE, ValueKind.UINT, ValueKind.BOOLEAN, ValueKind.UINT)


def _header(fields: tuple[TypedValue, ...], at: int) -> AmqpHeader:
    values: list[Any] = [None] * len(_HEADER_KINDS)
    for n, (field, kind) in enumerate(zip(fields, _HEADER_KINDS, strict=False)):
        if field.kind is kind:
            values[n] = field.value
        elif field.kind is not ValueKind.NULL:
            raise Undecodable(at, f"header field {n}: {kind} is expected, found {field.kind}")
    return AmqpHeader(*values)


def _property_fields(fields: tuple[TypedValue, ...]) -> dict[str, TypedValue]:
    return {
        name: value for name, value in zip(PROPERTY_FIELDS, fields, strict=False) if value.kind is not ValueKind.NULL
    }


@dataclass(frozen=True, slots=True)
class SavedSections:
    """What the record of a large AMQP message keeps beside its file. Positions: -1 means that the section is absent."""

    raw: bytes
    header_position: int
    header_size: int
    delivery_position: int
    delivery_size: int
    annotations_position: int
    properties_position: int
    application_position: int
    body_position: int
    sections: AmqpSections


def decode_saved_sections(reader: ByteReader) -> SavedSections:
    """Decode the sections in a large message's record (docs/spec/messages.md 9.2)."""
    start = reader.pos
    header_position, header_size = reader.i32("header position"), reader.i32("header size")
    parts: dict[str, Any] = {}
    _saved(reader, parts, HEADER)
    delivery_position, delivery_size = reader.i32("delivery annotations position"), reader.i32("their size")
    annotations_position = reader.i32("message annotations position")
    _saved(reader, parts, ANNOTATIONS)
    properties_position = reader.i32("properties position")
    _saved(reader, parts, PROPERTIES)
    application_position = reader.i32("application properties position")
    body_position = reader.i32("remaining body position")
    _saved(reader, parts, APPLICATION)
    return SavedSections(
        raw=bytes(reader.buf[start : reader.pos]),
        header_position=header_position,
        header_size=header_size,
        delivery_position=delivery_position,
        delivery_size=delivery_size,
        annotations_position=annotations_position,
        properties_position=properties_position,
        application_position=application_position,
        body_position=body_position,
        sections=AmqpSections(**parts),
    )


def _saved(reader: ByteReader, parts: dict[str, Any], expected: int) -> None:
    at = reader.pos
    value = decode_amqp_value(reader)
    if value.kind is ValueKind.NULL:
        return
    if value.kind is not ValueKind.DESCRIBED or section_code(value.value[0], at) != expected:
        raise Undecodable(at, f"the saved section 0x{expected:02x} or null is expected")
    _add_section(parts, expected, value.value[1], at, reader.pos)
