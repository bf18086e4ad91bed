"""The ``amqp`` object of a message: its sections, and what the broker keeps beside them."""

from __future__ import annotations

import hashlib
from typing import Final

from pagefmt.codec.messages.amqp_message import AmqpLargeMessage, AmqpMessage
from pagefmt.codec.messages.amqp_sections import PROPERTY_FIELDS, AmqpHeader, AmqpSections, BodySection
from pagefmt.codec.messages.persisters import ADDING_ADDRESS
from pagefmt.codec.messages.values import Property, TypedValue, ValueKind, last_wins, string
from pagefmt.describe.values_json import (
    Json,
    annotations_json,
    plain_value,
    property_types_json,
    property_values_json,
    typed_json,
)

ADDRESS: Final = "_AMQ_AD"


def amqp_json(message: AmqpMessage | AmqpLargeMessage, *, bodies: bool = True) -> Json:
    """Return the sections of an AMQP message as JSON. Raise ``Undecodable`` if a section cannot be read.

    ``bodies``: show body sections in full.
    """
    sections = message.sections()
    encoded = message.encoded if isinstance(message, AmqpMessage) else None
    summed = None if bodies else encoded
    extra = _extra_properties(message)
    return {
        "message_format": message.message_format,
        "encoded_size": None if encoded is None else len(encoded),
        "encoded_sha256": None if encoded is None else hashlib.sha256(encoded).hexdigest(),
        "header": header_json(sections.header),
        "delivery_annotations": annotations_json(sections.delivery_annotations),
        "message_annotations": annotations_json(sections.message_annotations),
        "properties": _properties_json(sections),
        "application_properties": annotations_json(sections.application_properties),
        "footer": annotations_json(sections.footer),
        "body": None if encoded is None else [body_section_json(section, summed) for section in sections.body],
        "extra_properties": None if extra is None else property_values_json(extra),
        "extra_property_types": None if extra is None else property_types_json(extra),
    }


def header_json(header: AmqpHeader | None) -> Json | None:
    """Return the fields of the header section by name, or None without that section."""
    if header is None:
        return None
    return {
        "durable": header.durable,
        "priority": header.priority,
        "ttl": header.ttl,
        "first_acquirer": header.first_acquirer,
        "delivery_count": header.delivery_count,
    }


def _properties_json(sections: AmqpSections) -> Json | None:
    fields = sections.property_fields
    if fields is None:
        return None
    return {name: typed_json(fields[name]) if name in fields else None for name in PROPERTY_FIELDS}


def body_section_json(section: BodySection, message: bytes | None = None) -> Json:
    """Return one body section as JSON (docs/spec/messages.md 9.3).

    Data is shown by size in bytes and SHA-256. A sequence or a value is shown in full if ``message`` is None; given
    the encoded message that contains the section, it is shown by size and SHA-256 of its encoded value.
    """
    value = section.value
    kind = {0x75: "data", 0x76: "sequence"}.get(section.descriptor, "value")
    if kind == "data" or message is not None:
        content = section.encoded(message) if kind != "data" and message is not None else _content(value)
        return {"kind": kind, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    return {"kind": kind} | ({"value": plain_value(value)} if kind == "sequence" else typed_json(value))


def _content(value: TypedValue) -> bytes:
    return value.value if value.kind is ValueKind.BYTES else b""


def _extra_properties(message: AmqpMessage | AmqpLargeMessage) -> dict[str, TypedValue] | None:
    """Return the broker's extra properties, or None, with the address that readers of some persisters add."""
    entries: tuple[Property, ...] | None = message.extra.entries
    properties: dict[str, TypedValue] | None = None if entries is None else last_wins(entries)
    if message.persister in ADDING_ADDRESS and message.stored_address is not None:
        properties = (properties or {}) | {ADDRESS: string(message.stored_address)}
    return properties
