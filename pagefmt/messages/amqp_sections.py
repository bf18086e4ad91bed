"""The sections of an AMQP message: described values in any order (spec/messages.md 9.2, 9.3).

70 header   71 delivery annotations   72 message annotations   73 properties   74 application properties
75 data     76 sequence               77 value                 78 footer
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from pagefmt.bytes.wire import Cursor, Undecodable
from pagefmt.messages.amqp_values import decode_amqp_value
from pagefmt.messages.values import Kind, Typed

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
class Header:
    """None: the field is absent or null."""

    durable: bool | None
    priority: int | None
    ttl: int | None
    first_acquirer: bool | None
    delivery_count: int | None


@dataclass(frozen=True, slots=True)
class BodySection:
    descriptor: int
    value: Typed


@dataclass(frozen=True, slots=True)
class Sections:
    """None: the section is absent. ``property_fields`` holds what is not null, by name.

    ``late``: a section stands behind the application properties or the body where the broker does not look for it.
    """

    header: Header | None = None
    delivery_annotations: Typed | None = None
    message_annotations: Typed | None = None
    property_fields: dict[str, Typed] | None = None
    application_properties: Typed | None = None
    footer: Typed | None = None
    body: tuple[BodySection, ...] = ()
    late: bool = False

    @property
    def properties(self) -> dict[str, Typed]:
        return self.property_fields or {}

    def application(self) -> Iterator[tuple[str, Typed]]:
        """Name and value of each application property."""
        section = self.application_properties
        if section is not None and section.kind is Kind.MAP:
            for key, value in section.value:
                yield str(key.value), value


NO_SECTIONS: Final = Sections()


def section_code(descriptor: Typed, at: int) -> int:
    if descriptor.kind is Kind.ULONG and HEADER <= descriptor.value <= FOOTER:
        return int(descriptor.value)
    if descriptor.kind is Kind.SYMBOL and descriptor.value in SYMBOLS:
        return SYMBOLS[descriptor.value]
    raise Undecodable(at, f"no AMQP section has the descriptor {descriptor.value!r}")


def _each(cursor: Cursor) -> Iterator[tuple[int, Typed, int]]:
    while cursor.left():
        at = cursor.pos
        described = decode_amqp_value(cursor)
        if described.kind is not Kind.DESCRIBED:
            raise Undecodable(at, f"an AMQP section is expected, found {described.kind}")
        yield section_code(described.value[0], at), described.value[1], at


def decode_sections(cursor: Cursor) -> Sections:
    """All sections up to the cursor's end; of repeated ones the last counts, bodies add up."""
    sections, ended, late = NO_SECTIONS, False, False
    for code, value, at in _each(cursor):
        late = late or (ended and code <= APPLICATION)
        ended = ended or code >= APPLICATION
        sections = with_section(sections, code, value, at)
    return replace(sections, late=True) if late else sections


def scanned_sections(cursor: Cursor) -> Sections:
    """What the broker reads on arrival: up to the application properties or the body, whichever is first."""
    sections = NO_SECTIONS
    for code, value, at in _each(cursor):
        if code in BODY or code == FOOTER:
            break
        sections = with_section(sections, code, value, at)
        if code == APPLICATION:
            break
    return sections


def delivery_annotations_size(encoded: bytes) -> int:
    """Bytes of the delivery annotations, which are not passed on; 0 without."""
    cursor, size = Cursor(encoded), 0
    for code, _, at in _each(cursor):
        if code == DELIVERY:
            size = cursor.pos - at
        elif code == APPLICATION or code in BODY:
            break
    return size


def with_section(sections: Sections, code: int, value: Typed, at: int) -> Sections:
    match code:
        case 0x70:
            return replace(sections, header=_header(_fields(value, at), at))
        case 0x71:
            return replace(sections, delivery_annotations=_map(value, at))
        case 0x72:
            return replace(sections, message_annotations=_map(value, at))
        case 0x73:
            return replace(sections, property_fields=_property_fields(_fields(value, at)))
        case 0x74:
            return replace(sections, application_properties=_map(value, at))
        case 0x78:
            return replace(sections, footer=_map(value, at))
        case _:
            return replace(sections, body=(*sections.body, BodySection(code, value)))


def _fields(value: Typed, at: int) -> tuple[Typed, ...]:
    if value.kind is not Kind.LIST:
        raise Undecodable(at, f"a list is expected, found {value.kind}")
    fields: tuple[Typed, ...] = value.value
    return fields


def _map(value: Typed, at: int) -> Typed:
    if value.kind not in (Kind.MAP, Kind.NULL):
        raise Undecodable(at, f"a map is expected, found {value.kind}")
    return value


def _header(fields: tuple[Typed, ...], at: int) -> Header:
    def field(n: int, kind: Kind) -> Typed | None:
        if n >= len(fields) or fields[n].kind is Kind.NULL:
            return None
        if fields[n].kind is not kind:
            raise Undecodable(at, f"header field {n}: {kind} is expected, found {fields[n].kind}")
        return fields[n]

    def value_of(typed: Typed | None) -> int | None:
        return None if typed is None else int(typed.value)

    durable, acquirer = field(0, Kind.BOOLEAN), field(3, Kind.BOOLEAN)
    return Header(
        durable=None if durable is None else bool(durable.value),
        priority=value_of(field(1, Kind.UBYTE)),
        ttl=value_of(field(2, Kind.UINT)),
        first_acquirer=None if acquirer is None else bool(acquirer.value),
        delivery_count=value_of(field(4, Kind.UINT)),
    )


def _property_fields(fields: tuple[Typed, ...]) -> dict[str, Typed]:
    return {name: value for name, value in zip(PROPERTY_FIELDS, fields, strict=False) if value.kind is not Kind.NULL}


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
    sections: Sections


def decode_saved_sections(cursor: Cursor) -> SavedSections:
    start = cursor.pos
    header_position, header_size = cursor.i32("header position"), cursor.i32("header size")
    sections = _saved(cursor, NO_SECTIONS, HEADER)
    delivery_position, delivery_size = cursor.i32("delivery annotations position"), cursor.i32("their size")
    annotations_position = cursor.i32("message annotations position")
    sections = _saved(cursor, sections, ANNOTATIONS)
    properties_position = cursor.i32("properties position")
    sections = _saved(cursor, sections, PROPERTIES)
    application_position = cursor.i32("application properties position")
    body_position = cursor.i32("remaining body position")
    sections = _saved(cursor, sections, APPLICATION)
    return SavedSections(
        raw=bytes(cursor.buf[start : cursor.pos]),
        header_position=header_position,
        header_size=header_size,
        delivery_position=delivery_position,
        delivery_size=delivery_size,
        annotations_position=annotations_position,
        properties_position=properties_position,
        application_position=application_position,
        body_position=body_position,
        sections=sections,
    )


def _saved(cursor: Cursor, sections: Sections, expected: int) -> Sections:
    at = cursor.pos
    value = decode_amqp_value(cursor)
    if value.kind is Kind.NULL:
        return sections
    if value.kind is not Kind.DESCRIBED or section_code(value.value[0], at) != expected:
        raise Undecodable(at, f"the saved section 0x{expected:02x} or null is expected")
    return with_section(sections, expected, value.value[1], at)
