"""A message as a JSON object: the keys that ``pagectl pages decode`` promises, in their order.

Values are what a broker's own reader reports. If brokers differ about the same bytes (AMQP, before it is scanned), the
edition decides; without one, the newest.
"""

from __future__ import annotations

import base64
import hashlib
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pagefmt.codec.messages.amqp_message import AmqpLargeMessage, AmqpMessage
from pagefmt.codec.messages.amqp_sections import decode_sections
from pagefmt.codec.messages.bodies import LARGE_SIZE, inflated, is_compressed, map_of, stream_of, text_of
from pagefmt.codec.messages.body_text import READABLE, amqp_text, readable
from pagefmt.codec.messages.core_fields import MAP, STREAM, TEXT
from pagefmt.codec.messages.core_message import CoreLargeMessage, CoreMessage
from pagefmt.codec.messages.core_message_old import OldCoreMessage
from pagefmt.codec.messages.large import BODY_LIMIT, LargeFile, LargeMessages, content_of, sha256_of
from pagefmt.codec.messages.persisted import Message
from pagefmt.codec.messages.values import TypedValue, last_wins
from pagefmt.codec.pages.page import OddRecord
from pagefmt.codec.pages.record import PageRecord
from pagefmt.codec.wire import ByteReader, Undecodable
from pagefmt.describe.amqp_json import amqp_json
from pagefmt.describe.values_json import Json, property_map_json, property_types_json, property_values_json, typed_json
from pagefmt.editions import NEWEST, Edition
from pagefmt.storage.files import NotPermitted, NotReadable

# keys of every message in their order, without those of its record, bodies and ``amqp``
MESSAGE_KEYS: Final = (
    "large_type", "persister", "protocol", "id", "address", "durable", "priority", "timestamp", "expiration", "user_id",
    "type", "type_name", "large", "large_id", "large_file", "large_size", "properties",
    "property_types",
)  # fmt: skip


class BodyForm(StrEnum):
    """What ``decode`` can show of a body."""

    SIZE = "size"
    SHA256 = "sha256"
    TEXT = "text"
    VALUE = "value"
    BASE64 = "base64"
    HEX = "hex"


_CONTENT: Final = frozenset((BodyForm.TEXT, BodyForm.VALUE, BodyForm.BASE64, BodyForm.HEX))


@dataclass(frozen=True, slots=True)
class MessageOptions:
    """What to show: body forms, bodies of large messages from ``large``, inflated or not, up to ``limit`` bytes."""

    forms: frozenset[BodyForm] = frozenset((BodyForm.SIZE,))
    large: LargeMessages | None = None
    edition: Edition = NEWEST
    inflate: bool = False
    limit: int = BODY_LIMIT

    @property
    def shows_values(self) -> bool:
        """Return whether AMQP body sections are shown in full, which serves both text and value."""
        return bool(self.forms & {BodyForm.TEXT, BodyForm.VALUE})


def record_json(page: int, number: int | None, record: PageRecord, wanted: MessageOptions) -> Json:
    """Return a page record as JSON, without ``acked_by``, which a caller with the journal adds.

    ``number`` is None for a record recovered after damage.
    """
    return {
        "page": page,
        "number": number,
        "offset": record.offset,
        "length": record.length,
        "tx": record.tx,
        "queues": list(record.queues),
        "large_type": record.large_type,
        "persister": record.persister,
    } | message_json(record.message, wanted)


def odd_json(page: int, number: int | None, odd: OddRecord, wanted: MessageOptions) -> Json:
    """Return a record that is not fully understood as JSON: null for what is not known, and the damage.

    ``number`` is None for a record without a position, as in ``record_json``.
    """
    _, _, length, tx, large_type, message_id, queues = odd.route
    place: Json = {
        "page": page,
        "number": number,
        "offset": odd.damage.offset,
        "length": length,
        "tx": tx,
        "queues": list(queues),
        "large_type": large_type,
    }
    message_fields: Json = dict.fromkeys(MESSAGE_KEYS[1:]) | {"id": message_id}
    message_fields |= {f"body_{form}": None for form in (BodyForm.SIZE, BodyForm.SHA256) if form in wanted.forms}
    if odd.record is not None:
        message = odd.record.message
        message_fields |= {"persister": odd.record.persister, "protocol": message.protocol, "large": message.large}
        with suppress(Undecodable):
            message_fields |= _facts(message, wanted.edition)
            message_fields |= message_json(message, wanted)
    damage = {"kind": odd.damage.kind.value, "offset": odd.damage.offset, "detail": odd.damage.detail}
    return place | message_fields | {"damage": damage}


def message_json(message: Message, wanted: MessageOptions) -> Json:
    """Return the fields that a message has wherever it is stored. Raise ``Undecodable`` for unreadable properties."""
    properties = message.properties()
    file, closed = _large_file(message, wanted)
    common = _facts(message, wanted.edition) | {
        "large_id": message.id if message.large else None,
        "large_file": file.name if file else None,
        "large_size": declared_size(message, properties),
        "properties": property_values_json(properties),
        "property_types": property_types_json(properties),
    }
    match message:
        case AmqpMessage() | AmqpLargeMessage():
            sections = {"amqp": amqp_json(message, bodies=wanted.shows_values)}
            return common | _amqp_body(message, file, wanted) | closed | sections
        case CoreMessage() | OldCoreMessage() | CoreLargeMessage():
            return common | _core_body(message, properties, file, wanted) | closed


def _large_file(message: Message, wanted: MessageOptions) -> tuple[LargeFile | None, Json]:
    """Return the file of a large body, and why it is not known, if its content is wanted."""
    if not message.large or wanted.large is None:
        return None, {}
    try:
        return wanted.large.find(message.id), {}
    except NotPermitted as err:
        return None, {"body_error": str(err)} if wanted.forms - {BodyForm.SIZE} else {}


def _facts(message: Message, edition: Edition) -> Json:
    facts = stored_facts(message)
    if isinstance(message, AmqpMessage):
        facts |= unscanned(edition)
    return facts


def stored_facts(message: Message) -> Json:
    """Return the facts stored in a message. See ``unscanned`` for what a broker reports of AMQP before scanning."""
    return {
        "protocol": message.protocol,
        "id": message.id,
        "address": message.address,
        "durable": message.durable,
        "priority": message.priority,
        "timestamp": message.timestamp,
        "expiration": message.expiration,
        "user_id": message.user_id,
        "type": message.type,
        "type_name": message.type_name,
        "large": message.large,
    }


def unscanned(edition: Edition) -> Json:
    """Return the fields of an ordinary AMQP message that a broker's reader reports before it has scanned the sections.

    They take the place of the decoded message's own values.
    """
    match edition:
        case Edition.ARTEMIS_2_17:
            return {}
        case Edition.ARTEMIS_2_28:
            return {"durable": True, "priority": 4, "timestamp": 0, "user_id": None}
        case _:
            return {"durable": True}


def declared_size(message: Message, properties: dict[str, TypedValue]) -> int | None:
    """Return the bytes of a large body according to its message, or None."""
    if not message.large or isinstance(message, AmqpLargeMessage):
        return None
    for name in LARGE_SIZE:
        if name in properties and isinstance(properties[name].value, int):
            return int(properties[name].value)
    return None


def _amqp_body(message: AmqpMessage | AmqpLargeMessage, file: LargeFile | None, wanted: MessageOptions) -> Json:
    """Return the wanted forms of an AMQP body.

    Hex and base64 are those of the whole encoded message. Its body has no size of its own: ``body_size`` is null.
    ``file``: of a large message, None if it is missing.
    """
    fields: Json = {}
    if BodyForm.SIZE in wanted.forms:
        fields["body_size"] = None
    if BodyForm.SHA256 in wanted.forms:
        fields |= _digest(file)
    forms = wanted.forms & {BodyForm.TEXT, BodyForm.BASE64, BodyForm.HEX}
    if forms:
        content: bytes | None = None
        try:
            content = message.encoded if isinstance(message, AmqpMessage) else content_of(file, wanted.limit)
            fields |= _amqp_text(message, content, forms) | _raw_forms(content, forms)
        except (NotReadable, Undecodable) as err:
            fields |= _raw_forms(content, forms) | {"body_error": _why(err)}
    return fields


def _amqp_text(message: AmqpMessage | AmqpLargeMessage, content: bytes | None, forms: frozenset[BodyForm]) -> Json:
    if BodyForm.TEXT not in forms or content is None:
        return {}
    sections = message.sections() if isinstance(message, AmqpMessage) else decode_sections(ByteReader(content))
    text = amqp_text(sections)
    return {} if text is None else {"body_text": text}


def _core_body(
    message: CoreMessage | OldCoreMessage | CoreLargeMessage,
    properties: dict[str, TypedValue],
    file: LargeFile | None,
    wanted: MessageOptions,
) -> Json:
    body = message.body
    fields: Json = {}
    if BodyForm.SIZE in wanted.forms:
        fields["body_size"] = len(body) if body is not None else (file.size if file else None)
    if BodyForm.SHA256 in wanted.forms:
        fields |= _digest(file) if body is None else {"body_sha256": hashlib.sha256(body).hexdigest()}
    if wanted.forms & _CONTENT:
        fields |= _content(message.type, body, properties, file, wanted)
    return fields


def _digest(file: LargeFile | None) -> Json:
    try:
        return {"body_sha256": sha256_of(file) if file else None}
    except NotReadable as err:
        return {"body_sha256": None, "body_error": str(err)}


def _content(
    kind: int, body: bytes | None, properties: dict[str, TypedValue], file: LargeFile | None, wanted: MessageOptions
) -> Json:
    """Return the wanted forms of a core body.

    One that does not fit its type gives ``body_error`` and is shown as hex.
    """
    fields: Json = {}
    content: bytes | None = None
    try:
        content = body if body is not None else content_of(file, wanted.limit)
        packed = content is not None and is_compressed(properties)
        if packed and content is not None and wanted.inflate:
            content, packed = inflated(content, wanted.limit), False
        if packed and _by_type(kind, None, wanted.forms):
            raise Undecodable(0, "the body is compressed, and is inflated only on request")
        fields |= {} if packed else _by_type(kind, content, wanted.forms)
    except (NotReadable, Undecodable) as err:
        fields |= _by_type(kind, None, wanted.forms) | {"body_error": _why(err)}
        if content is not None and len(content) <= wanted.limit:
            fields["body_hex"] = content.hex()
    return fields | _raw_forms(content, wanted.forms & {BodyForm.BASE64, BodyForm.HEX})


def _why(err: NotReadable | Undecodable) -> str:
    return err.detail if isinstance(err, Undecodable) else str(err)


def _by_type(kind: int, content: bytes | None, forms: frozenset[BodyForm]) -> Json:
    """Return the text or the value of a core body, if its message type has one and it is wanted; else nothing.

    ``kind``: the message type. ``content`` None: the key with null. Raise ``Undecodable``.
    """
    if kind == TEXT and BodyForm.TEXT in forms:
        return {"body_text": None if content is None else text_of(content)}
    if kind in READABLE and BodyForm.TEXT in forms:
        text = None if content is None else readable(content)
        return {} if text is None else {"body_text": text}
    if kind == MAP and BodyForm.VALUE in forms:
        return {"body_value": None if content is None else property_map_json(last_wins(map_of(content)))}
    if kind == STREAM and BodyForm.VALUE in forms:
        return {"body_value": None if content is None else [typed_json(item) for item in stream_of(content)]}
    return {}


def _raw_forms(content: bytes | None, forms: frozenset[BodyForm]) -> Json:
    fields: Json = {}
    if BodyForm.BASE64 in forms:
        fields["body_base64"] = None if content is None else base64.b64encode(content).decode("ascii")
    if BodyForm.HEX in forms:
        fields["body_hex"] = None if content is None else content.hex()
    return fields
