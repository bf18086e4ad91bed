"""Rows of the table one by one, by the reference decoder: for records that are not regular, and to judge the rest."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from pagefmt.codec.messages.amqp_message import AmqpLargeMessage, AmqpMessage, AmqpMessageBase
from pagefmt.codec.messages.amqp_sections import VALUE, AmqpSections
from pagefmt.codec.messages.amqp_text import identifier_text
from pagefmt.codec.messages.bodies import is_compressed
from pagefmt.codec.messages.body_text import amqp_text, core_text
from pagefmt.codec.messages.core_fields import TEXT
from pagefmt.codec.messages.properties import PropertiesBlock
from pagefmt.codec.messages.values import INTEGRAL, TypedValue, ValueKind, last_wins
from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page import OddRecord, Page
from pagefmt.codec.pages.record import PageRecord
from pagefmt.codec.pages.routes import Route
from pagefmt.codec.wire import Undecodable
from pagefmt.describe.arrow_schema import Detail
from pagefmt.describe.message_json import stored_facts
from pagefmt.describe.values_json import typed_json

Row = dict[str, Any]

_LONG_MAX = (1 << 63) - 1


def row_of(record: PageRecord, page: int, number: int, level: Detail) -> Row:
    """Return one row with the columns of ``level``. Reads nothing outside the record."""
    row: Row = {"page": page, "number": number, "offset": record.offset, "length": record.length}
    for wanted, read in _PARTS:
        if level >= wanted:
            row |= read(record)
    return row


def handed_out_row(opened: Page, route: Route, page: int, level: Detail) -> tuple[Row, Damage | None]:
    """Return the row of a record that the broker hands out, with null for undecodable parts, and their damage."""
    record = opened.understood(route)
    if not isinstance(record, OddRecord):
        return row_of(record, page, route[0], level), None
    row: Row = {"page": page, "number": route[0], "offset": record.damage.offset, "length": route[2]}
    if level >= Detail.TIMES:
        row |= {"tx": route[3], "queues": list(route[6]), "large_type": route[4], "id": route[5]}
    for wanted, read in _PARTS:
        if record.record is not None and level >= wanted:
            with suppress(Undecodable):
                row |= read(record.record)
    return row, record.damage


def _headers(record: PageRecord) -> Row:
    message = record.message
    body = getattr(message, "body", None)
    return {
        "tx": record.tx,
        "queues": list(record.queues),
        "large_type": record.large_type,
        "persister": record.persister,
        **{name: _text(value) if isinstance(value, str) else value for name, value in stored_facts(message).items()},
        "body_size": None if body is None or isinstance(message, AmqpMessage) else len(body),
    }


def _text(text: str | None) -> str | None:
    """Return the text with U+FFFD for lone surrogates, which Arrow's UTF-8 cannot hold."""
    return None if text is None else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _properties(record: PageRecord) -> Row:
    message = record.message
    return {
        "properties": [(_text(name), value_row(value)) for name, value in message.properties().items()],
        "amqp": _amqp(message) if isinstance(message, AmqpMessage | AmqpLargeMessage) else None,
    }


def value_row(typed: TypedValue) -> Row:
    """Return the value as a VALUE struct."""
    row: Row = dict.fromkeys(("long", "double", "string", "bytes", "json"))
    row["type"] = str(typed.kind)
    kind, value = typed.kind, typed.value
    if kind in INTEGRAL and int(value) <= _LONG_MAX:
        row["long"] = int(value)
    elif kind in (ValueKind.FLOAT, ValueKind.DOUBLE):
        row["double"] = value
    elif kind is ValueKind.BYTES:
        row["bytes"] = value
    elif kind in (ValueKind.LIST, ValueKind.MAP, ValueKind.ARRAY, ValueKind.DESCRIBED):
        row["json"] = _text(json.dumps(typed_json(typed)["value"], ensure_ascii=False, separators=(",", ":")))
    elif kind is not ValueKind.NULL:
        row["string"] = _text(value if isinstance(value, str) else str(typed_json(typed)["value"]))
    return row


def _amqp(message: AmqpMessage | AmqpLargeMessage) -> Row:
    sections = message.scanned()
    header = sections.header
    return {
        "message_format": message.message_format,
        "encoded_size": len(message.encoded) if isinstance(message, AmqpMessage) else None,
        "header": None if header is None else {name: getattr(header, name) for name in header.__slots__},
        "delivery_annotations": _map(sections.delivery_annotations),
        "message_annotations": _map(sections.message_annotations),
        "properties": _property_fields(sections),
        "footer": _map(_footer(message)),
        "extra_properties": _extra(message.extra.block),
    }


def _footer(message: AmqpMessage | AmqpLargeMessage) -> TypedValue | None:
    """Return the footer, or None if a body before it does not decode: the broker does not read that far on arrival."""
    try:
        return message.sections().footer
    except Undecodable:
        return None


def _map(section: TypedValue | None) -> list[tuple[str | None, Row]] | None:
    if section is None or section.kind is not ValueKind.MAP:
        return None
    entries = {str(key.value): value for key, value in section.value}
    return [(_text(name), value_row(value)) for name, value in entries.items()]


def _extra(block: PropertiesBlock | None) -> list[tuple[str | None, Row]] | None:
    if block is None:
        return None
    return [(_text(name), value_row(value)) for name, value in last_wins(block.entries).items()]


_NUMBERS = ("absolute_expiry_time", "creation_time", "group_sequence")
_TEXTS = ("to", "subject", "reply_to", "content_type", "content_encoding", "group_id", "reply_to_group_id")


def _property_fields(sections: AmqpSections) -> Row | None:
    fields = sections.property_fields
    if fields is None:
        return None
    row: Row = {}
    for name in ("message_id", "correlation_id"):
        value = fields.get(name)
        row[name] = None if value is None else _text(identifier_text(value))
        row[f"{name}_type"] = None if value is None else str(value.kind)
    for name in _TEXTS:
        value = fields.get(name)
        row[name] = None if value is None else _text(str(value.value))
    for name in _NUMBERS:
        value = fields.get(name)
        number = value is not None and value.kind in INTEGRAL and int(value.value) <= _LONG_MAX
        row[name] = int(value.value) if value is not None and number else None
    user = fields.get("user_id")
    row["user_id"] = user.value if user is not None and user.kind is ValueKind.BYTES else None
    return row


def _body_string(record: PageRecord) -> Row:
    """Return the text of text bodies only."""
    message = record.message
    if isinstance(message, AmqpMessageBase):
        strings = isinstance(message, AmqpMessage) and [section.descriptor for section in message.sections().body] == [
            VALUE
        ]
        return _body_text(record) if strings else {"body_text": None}
    return _body_text(record) if message.type == TEXT else {"body_text": None}


def _body_text(record: PageRecord) -> Row:
    """Return the text of a body within the record, whatever the message's type.

    It is null for bodies in files, compressed ones, and those that have no text or do not decode.
    """
    message = record.message
    if isinstance(message, AmqpLargeMessage):
        return {"body_text": None}
    if isinstance(message, AmqpMessage):
        return {"body_text": _text(amqp_text(message.sections()))}
    if message.body is None or is_compressed(message.properties()):
        return {"body_text": None}
    try:
        return {"body_text": _text(core_text(message.type, message.body))}
    except Undecodable:
        return {"body_text": None}


def _body(record: PageRecord) -> Row:
    message = record.message
    if isinstance(message, AmqpLargeMessage):
        return {"body": None}
    return {"body": message.encoded if isinstance(message, AmqpMessage) else message.body}


_PARTS = (
    (Detail.TIMES, _headers),
    (Detail.PROPERTIES, _properties),
    (Detail.STRINGS, _body_string),
    (Detail.TEXTS, _body_text),
    (Detail.BODIES, _body),
)
