"""Any message as a core message, as a broker makes one for core clients and its XML (docs/spec/messages.md 12).

What a core message cannot hold is listed in ``lost``: the broker itself fails on some of it, here it becomes text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha1
from typing import Final
from uuid import NAMESPACE_OID

from pagefmt.codec.messages.amqp_message import AmqpLargeMessage, AmqpMessage, AmqpMessageBase
from pagefmt.codec.messages.amqp_sections import DATA, SEQUENCE, AmqpSections, BodySection
from pagefmt.codec.messages.amqp_text import uuid_text
from pagefmt.codec.messages.bodies import write_nullable
from pagefmt.codec.messages.core_fields import BYTES, DEFAULT, MAP, OBJECT, PROPERTY_CODES, STREAM, TEXT
from pagefmt.codec.messages.core_message import CoreMessageBase
from pagefmt.codec.messages.properties import encode_value, properties_bytes
from pagefmt.codec.messages.values import INTEGRAL, Property, TypedValue, ValueKind, java_long, long
from pagefmt.codec.wire import ByteWriter, string_bytes

_OBJECT_TYPE: Final = "application/x-java-serialized-object"
_OCTETS: Final = "application/octet-stream"
_TEXTUAL: Final = (
    "application/ecmascript", "application/javascript", "application/json", "application/xml",
    "application/xml-dtd",
)  # fmt: skip
# JMS_AMQP_ORIGINAL_ENCODING
_NO_BODY, _DATA, _SEQUENCE, _NULL, _STRING, _BINARY, _MAP, _LIST = 1, 2, 3, 4, 5, 6, 7, 8
_REPLY: Final = {0: "queue://", 1: "topic://", 2: "temp-queue://", 3: "temp-topic://"}
_ROUTING: Final = {0: 1, 2: 1, 1: 0, 3: 0}  # x-opt-jms-dest → routing type: anycast is 1, multicast 0
_RENAMED: Final = {
    "JMSXGroupID": "_AMQ_GROUP_ID", "JMSXGroupSeq": "_AMQ_GROUP_SEQUENCE", "JMSXUserID": "_AMQ_VALIDATED_USER",
}  # fmt: skip

_NAMESPACE: Final = NAMESPACE_OID.bytes
_TEXT_FIELDS: Final = {
    "subject": "JMSType", "content_type": "JMS_AMQP_ContentType", "content_encoding": "JMS_AMQP_ContentEncoding",
    "group_id": "_AMQ_GROUP_ID", "reply_to_group_id": "JMS_AMQP_ReplyToGroupID",
}  # fmt: skip
_PLAIN: Final = frozenset(PROPERTY_CODES) - {ValueKind.BOOLEAN}  # kinds that core messages store unchanged


@dataclass(slots=True)
class CoreForm:
    """A message in the form of core messages.

    ``user_id``: None if it has none. ``properties`` by name. ``body``: empty for a large core message. ``lost``: what
    this form cannot hold, one sentence each.
    """

    id: int
    type: int
    durable: bool
    priority: int
    expiration: int
    timestamp: int
    user_id: str | None
    body: bytes
    properties: dict[str, TypedValue] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)

    def put(self, name: str, typed: TypedValue) -> None:
        """Set a property, in the kind that core messages have for it. A broker keeps the last of one name."""
        self.properties[_RENAMED.get(name, name)] = typed if typed.kind in _PLAIN else self.fitting(name, typed)

    def fitting(self, name: str, typed: TypedValue) -> TypedValue:
        """Return the value in a kind of core messages. One without such a kind becomes text and is noted as lost."""
        narrowed = _narrowed(typed)
        if narrowed is None:
            self.lost.append(f"{name}: {typed.kind.value} becomes text")
            return _string(_value_text(typed))
        return narrowed


def core_form(message: CoreMessageBase | AmqpMessageBase, body: bytes = b"") -> CoreForm:
    """Return a message as core form. Raise ``Undecodable``.

    ``body``: of a large AMQP message, the bytes of its file.
    """
    if isinstance(message, CoreMessageBase):
        return CoreForm(
            message.id,
            message.type,
            message.durable,
            message.priority,
            message.expiration,
            message.timestamp,
            message.user_id,
            getattr(message, "body", None) or b"",
            message.properties(),
        )
    assert isinstance(message, AmqpMessage | AmqpLargeMessage)
    return form_of_sections(message, _whole(message, body))


def _whole(message: AmqpMessage | AmqpLargeMessage, body: bytes) -> AmqpSections:
    if isinstance(message, AmqpMessage):
        return message.sections()
    from pagefmt.codec.messages.amqp_sections import decode_sections
    from pagefmt.codec.wire import ByteReader

    return decode_sections(ByteReader(body))


def form_of_sections(message: AmqpMessage | AmqpLargeMessage, sections: AmqpSections) -> CoreForm:
    """Return the form of an AMQP message with these sections instead of its own."""
    form = CoreForm(message.id, DEFAULT, message.durable, message.priority, message.expiration, 0, None, b"")
    encoding = _body(form, sections)
    if encoding is not None:
        form.put("JMS_AMQP_ORIGINAL_ENCODING", TypedValue(ValueKind.SHORT, encoding))
    _header(form, sections)
    _annotations(form, sections)
    for name, value in sections.application():
        form.put(name, value)
    _fields(form, sections)
    for name, value in _entries(sections.footer):
        form.put(f"JMS_AMQP_FT_{name}", value)
    for entry in message.extra.entries or ():
        if entry.name != "_AMQ_AD":
            form.properties[entry.name] = entry.value
    routing = _routing(sections)
    if routing is not None:
        form.properties["_AMQ_ROUTING_TYPE"] = TypedValue(ValueKind.BYTE, routing)
    return form


def _header(form: CoreForm, sections: AmqpSections) -> None:
    header = sections.header
    if header is None:
        return
    yes = TypedValue(ValueKind.BOOLEAN, True)
    form.put("JMS_AMQP_HEADER", yes)
    if header.durable is not None:
        form.put("JMS_AMQP_HEADERDURABLE", yes)
    if header.priority is not None:
        form.put("JMS_AMQP_HEADERPRIORITY", yes)
    if header.first_acquirer is not None:
        form.put("JMS_AMQP_FirstAcquirer", TypedValue(ValueKind.BOOLEAN, header.first_acquirer))
    if header.delivery_count is not None:
        form.put("JMSXDeliveryCount", TypedValue(ValueKind.LONG, header.delivery_count + 1))


def _annotations(form: CoreForm, sections: AmqpSections) -> None:
    for name, value in _entries(sections.message_annotations):
        number = java_long(value)
        if name == "x-opt-delivery-time" and number is not None:
            form.put("_AMQ_SCHED_DELIVERY", long(number))
        elif name == "x-opt-delivery-delay":
            form.lost.append("x-opt-delivery-delay: starts again when the message is sent")
        elif name == "x-opt-ingress-time" and number is not None:
            form.put("_AMQ_INGRESS_TIMESTAMP", long(number))
        form.put(f"JMS_AMQP_MA_{name}", value)


def _fields(form: CoreForm, sections: AmqpSections) -> None:
    fields = sections.properties
    if (field := fields.get("message_id")) is not None:
        native, form.user_id = message_ids(field)
        form.put("NATIVE_MESSAGE_ID", _string(native))
    for name, key in _TEXT_FIELDS.items():
        if (field := fields.get(name)) is not None:
            form.put(key, _string(str(field.value)))
    if (field := fields.get("user_id")) is not None:
        text = field.value.decode("utf-8", "replace") if isinstance(field.value, bytes) else _value_text(field)
        form.put("JMSXUserID", _string(text))
    if (field := fields.get("reply_to")) is not None:
        kind = dict(_entries(sections.message_annotations)).get("x-opt-jms-reply-to")
        number = kind.value if kind is not None and isinstance(kind.value, int) else 0
        form.put("JMSReplyTo", _string(f"{_REPLY.get(number, _REPLY[0])}{field.value}"))
    if (field := fields.get("correlation_id")) is not None:
        plain = field.kind is ValueKind.BYTES or (field.kind is ValueKind.STRING and not field.value.startswith("ID:"))
        form.put("JMSCorrelationID", field if plain else _string(jms_id(field)))
    if (whole := _number(form, fields, "creation_time")) is not None:
        form.timestamp = whole
    if (whole := _number(form, fields, "group_sequence")) is not None:
        form.put("_AMQ_GROUP_SEQUENCE", TypedValue(ValueKind.INT, _signed(whole & 0xFFFFFFFF, 32)))
    if (whole := _number(form, fields, "absolute_expiry_time")) is not None:
        form.expiration = whole


def _number(form: CoreForm, fields: Mapping[str, TypedValue], name: str) -> int | None:
    """Return the number in a field, or None; a value of another kind is noted as lost."""
    field = fields.get(name)
    if field is None:
        return None
    if field.kind not in INTEGRAL:
        form.lost.append(f"{name}: {field.kind.value} is no number")
        return None
    return int(field.value)


def message_ids(typed: TypedValue) -> tuple[str, str]:
    """Return an AMQP message id as the broker writes it for JMS, and the user id for it."""
    text = jms_id(typed)
    return text, uuid_text(typed.value if typed.kind is ValueKind.UUID else name_uuid(text.encode("utf-8", "replace")))


def name_uuid(name: bytes) -> bytes:
    """Return the 16 bytes of the UUID of version 5 for a name, as ``uuid.uuid5(NAMESPACE_OID, name)``."""
    raw = bytearray(name_digest(name)[:16])
    raw[6], raw[8] = raw[6] & 0x0F | 0x50, raw[8] & 0x3F | 0x80
    return bytes(raw)


def name_digest(name: bytes) -> bytes:
    """Return the 20 bytes of which the first 16 become the UUID of a name."""
    return sha1(_NAMESPACE + name, usedforsecurity=False).digest()


def jms_id(typed: TypedValue) -> str:
    """Return an AMQP message id as the broker writes it for JMS: with its kind, unless it is a JMS string."""
    match typed.kind:
        case ValueKind.UUID:
            return f"ID:AMQP_UUID:{uuid_text(typed.value)}"
        case ValueKind.BYTES:
            return f"ID:AMQP_BINARY:{typed.value.hex().upper()}"
        case ValueKind.STRING:
            text = str(typed.value)
            if not text.startswith("ID:"):
                return f"ID:AMQP_NO_PREFIX:{text}"
            prefixes = ("STRING:", "ULONG:", "UUID:", "BINARY:", "NO_PREFIX:")
            without_prefix = text.removeprefix("ID:AMQP_")
            return f"ID:AMQP_STRING:{text}" if without_prefix != text and without_prefix.startswith(prefixes) else text
        case _:
            return f"ID:AMQP_ULONG:{typed.value}"


def _routing(sections: AmqpSections) -> int | None:
    entries = dict(_entries(sections.message_annotations))
    if (annotation := entries.get("x-opt-routing-type")) is not None and isinstance(annotation.value, int):
        return int(annotation.value)
    annotation = entries.get("x-opt-jms-dest")
    return None if annotation is None or not isinstance(annotation.value, int) else _ROUTING.get(annotation.value)


def _entries(section: TypedValue | None) -> Iterator[tuple[str, TypedValue]]:
    if section is not None and section.kind is ValueKind.MAP:
        for key, value in section.value:
            yield str(key.value), value


def _body(form: CoreForm, sections: AmqpSections) -> int | None:
    """Set type and body. Return the broker's code of the original encoding, or None."""
    kind = _content_type(sections)
    if not sections.body:
        form.type = _type_of_nothing(kind)
        return _NO_BODY
    first = sections.body[0]
    if len(sections.body) > 1:
        form.lost.append(f"{len(sections.body) - 1} more sections of the body")
    if first.descriptor == DATA:
        _data(form, bytes(first.value.value), kind)
        return _DATA
    if first.descriptor == SEQUENCE:
        _stream(form, first.value)
        return _SEQUENCE
    return _value(form, first, kind)


def _content_type(sections: AmqpSections) -> str | None:
    return str(sections.properties["content_type"].value) if "content_type" in sections.properties else None


def amqp_bodies(
    section: BodySection, sections: AmqpSections, contents: Iterable[str | bytes]
) -> Iterator[tuple[int, bytes]]:
    """Yield type and body of core messages for body sections that differ from ``section`` in their content alone."""
    form, kind = CoreForm(0, DEFAULT, True, 0, 0, 0, None, b""), _content_type(sections)
    for content in contents:
        if section.descriptor == DATA:
            _data(form, bytes(content) if isinstance(content, bytes) else b"", kind)
        elif isinstance(content, str):
            form.type, form.body = TEXT, string_bytes(content)
        else:
            _value(form, replace(section, value=section.value._replace(value=content)), kind)
        yield form.type, form.body


def type_of_bodies(section: BodySection, sections: AmqpSections) -> int | None:
    """Return the core type that bodies of this section's kind get whatever they hold, or None if it depends on them.

    Bodies of type ``BYTES`` stay as they are. ``TEXT`` is for texts, and for bytes as far as they are UTF-8.
    """
    kind, data = _content_type(sections), section.descriptor == DATA
    if section.value.kind is ValueKind.STRING:
        return None if data else TEXT
    if section.value.kind is not ValueKind.BYTES or kind == _OBJECT_TYPE:
        return None
    return TEXT if data and kind != _OCTETS and _textual(kind) == "utf-8" else BYTES


def _type_of_nothing(kind: str | None) -> int:
    if kind == _OBJECT_TYPE:
        return OBJECT
    if kind in (None, _OCTETS):
        return BYTES
    return TEXT if _textual(kind) else DEFAULT


def _data(form: CoreForm, payload: bytes, kind: str | None) -> None:
    if kind == _OBJECT_TYPE:
        form.type, form.body = OBJECT, len(payload).to_bytes(4, "big") + payload
        return
    if kind != _OCTETS and _textual(kind) == "utf-8":
        try:
            form.type, form.body = TEXT, string_bytes(payload.decode("utf-8"))
            return
        except UnicodeDecodeError:
            pass
    form.type, form.body = BYTES, payload


def _value(form: CoreForm, section: BodySection, kind: str | None) -> int | None:
    content = section.value
    match content.kind:
        case ValueKind.NULL:
            form.type, form.body = TEXT, string_bytes(None)
            return _NULL
        case ValueKind.STRING:
            form.type, form.body = TEXT, string_bytes(content.value)
            return _STRING
        case ValueKind.BYTES:
            _data(form, bytes(content.value), kind if kind == _OBJECT_TYPE else _OCTETS)
            return _BINARY
        case ValueKind.LIST:
            _stream(form, content)
            return _LIST
        case ValueKind.MAP:
            entries = tuple(
                Property(str(key.value), form.fitting(str(key.value), value)) for key, value in content.value
            )
            form.type, form.body = MAP, properties_bytes(entries)
            return _MAP
        case _:
            form.type = BYTES
            form.lost.append(f"a body that is an AMQP value ({content.kind.value}) is kept as text")
            form.body = _value_text(content).encode()
            return None


def _stream(form: CoreForm, items: TypedValue) -> None:
    out = ByteWriter()
    for item in items.value:
        fitting = form.fitting("an item of the body", item)
        if fitting.kind in (ValueKind.NULL, ValueKind.STRING):
            out.u8(PROPERTY_CODES[ValueKind.STRING])
            write_nullable(out, None if fitting.kind is ValueKind.NULL else str(fitting.value))
            continue
        out.u8(PROPERTY_CODES[fitting.kind])
        encode_value(out, fitting)
    form.type, form.body = STREAM, out.done()


def _textual(kind: str | None) -> str | None:
    """Return the character set of a textual content type; None if it is not textual."""
    if kind is None:
        return None
    mime, *parameters = (part.strip() for part in kind.split(";"))
    if not (mime.startswith("text/") or mime in _TEXTUAL or mime.endswith(("+xml", "+json"))):
        return None
    named = next((part[8:].strip("\"'") for part in parameters if part.lower().startswith("charset=")), "utf-8")
    return named.lower()


def _string(text: str) -> TypedValue:
    return TypedValue(ValueKind.STRING, text)


def _signed(number: int, bits: int) -> int:
    return number - (1 << bits) if number >= 1 << (bits - 1) else number


def _narrowed(typed: TypedValue) -> TypedValue | None:
    """Return the value in the smallest kind of core properties that holds it; None if no kind does."""
    match typed.kind:
        case ValueKind.ULONG:
            return TypedValue(ValueKind.LONG, _signed(typed.value, 64))
        case ValueKind.UINT:
            return TypedValue(ValueKind.INT if typed.value < 1 << 31 else ValueKind.LONG, typed.value)
        case ValueKind.USHORT:
            return TypedValue(ValueKind.SHORT if typed.value < 1 << 15 else ValueKind.INT, typed.value)
        case ValueKind.UBYTE:
            return TypedValue(ValueKind.BYTE if typed.value < 1 << 7 else ValueKind.SHORT, typed.value)
        case ValueKind.SYMBOL:
            return _string(str(typed.value))
        case ValueKind.BOOLEAN:
            return TypedValue(ValueKind.BOOLEAN, typed.value, int(typed.value))
        case _:
            return typed if typed.kind in PROPERTY_CODES else None


def _value_text(typed: TypedValue) -> str:
    match typed.kind:
        case ValueKind.UUID:
            return uuid_text(typed.value)
        case ValueKind.LIST | ValueKind.ARRAY:
            return f"[{', '.join(_value_text(item) for item in typed.value)}]"
        case ValueKind.MAP:
            return f"{{{', '.join(f'{_value_text(key)}={_value_text(value)}' for key, value in typed.value)}}}"
        case ValueKind.DESCRIBED:
            return _value_text(typed.value[1])
        case _ if isinstance(typed.value, bytes):
            return typed.value.hex()
        case _:
            return str(typed.value)
