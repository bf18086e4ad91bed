"""Any message as a core message, as a broker makes one for core clients and its XML (docs/spec/messages.md 12).

What a core message cannot hold is named in ``lost``: the broker itself fails at some of it, here it becomes text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha1
from typing import Final
from uuid import NAMESPACE_OID

from pagefmt.bytes.wire import ByteWriter
from pagefmt.messages.amqp_message import AmqpLargeMessage, AmqpMessage, AmqpMessageBase
from pagefmt.messages.amqp_sections import DATA, SEQUENCE, AmqpSections, BodySection
from pagefmt.messages.amqp_text import uuid_text
from pagefmt.messages.bodies import write_nullable
from pagefmt.messages.core_message import CoreMessageBase
from pagefmt.messages.properties import CODES, encode_value, properties_bytes
from pagefmt.messages.values import INTEGRAL, Property, TypedValue, ValueKind, java_long, long

DEFAULT, OBJECT, TEXT, BYTES, MAP, STREAM = 0, 2, 3, 4, 5, 6
_OBJECT_TYPE: Final = "application/x-java-serialized-object"
_OCTETS: Final = "application/octet-stream"
_TEXTUAL: Final = (
    "application/ecmascript", "application/javascript", "application/json", "application/xml",
    "application/xml-dtd",
)  # fmt: skip
# JMS_AMQP_ORIGINAL_ENCODING
_NO_BODY, _DATA, _SEQUENCE, _NULL, _STRING, _BINARY, _MAP, _LIST = 1, 2, 3, 4, 5, 6, 7, 8
_REPLY: Final = {0: "queue://", 1: "topic://", 2: "temp-queue://", 3: "temp-topic://"}
_ROUTING: Final = {0: 1, 2: 1, 1: 0, 3: 0}
"""By x-opt-jms-dest: anycast is 1, multicast 0."""
_RENAMED: Final = {
    "JMSXGroupID": "_AMQ_GROUP_ID", "JMSXGroupSeq": "_AMQ_GROUP_SEQUENCE", "JMSXUserID": "_AMQ_VALIDATED_USER",
}  # fmt: skip

_TEXT_FIELDS: Final = {
    "subject": "JMSType", "content_type": "JMS_AMQP_ContentType", "content_encoding": "JMS_AMQP_ContentEncoding",
    "group_id": "_AMQ_GROUP_ID", "reply_to_group_id": "JMS_AMQP_ReplyToGroupID",
}  # fmt: skip
_PLAIN: Final = frozenset(CODES) - {ValueKind.BOOLEAN}
"""Kinds that core messages have as they are."""


@dataclass(slots=True)
class CoreForm:
    """``user_id`` None: has none. ``properties`` by name; ``body`` without that of a large core message.

    ``lost``: what this form cannot hold, a sentence each.
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
        """A property, in the kind that core messages have for it; a broker keeps the last of a name."""
        self.properties[_RENAMED.get(name, name)] = typed if typed.kind in _PLAIN else self.fitting(name, typed)

    def fitting(self, name: str, typed: TypedValue) -> TypedValue:
        """The value in a kind of core messages; what has none becomes text, and is lost."""
        found = _narrowed(typed)
        if found is None:
            self.lost.append(f"{name}: {typed.kind.value} becomes text")
            return _string(_said(typed))
        return found


def core_form(message: CoreMessageBase | AmqpMessageBase, body: bytes = b"") -> CoreForm:
    """``body``: of a large AMQP message, the bytes of its file. Raises ``Undecodable``."""
    if isinstance(message, CoreMessageBase):
        return CoreForm(
            message.id, message.type, message.durable, message.priority, message.expiration, message.timestamp,
            message.user_id, getattr(message, "body", None) or b"", message.properties(),
        )  # fmt: skip
    assert isinstance(message, AmqpMessage | AmqpLargeMessage)
    return form_of_sections(message, _whole(message, body))


def _whole(message: AmqpMessage | AmqpLargeMessage, body: bytes) -> AmqpSections:
    if isinstance(message, AmqpMessage):
        return message.sections()
    from pagefmt.bytes.wire import ByteReader
    from pagefmt.messages.amqp_sections import decode_sections

    return decode_sections(ByteReader(body))


def form_of_sections(message: AmqpMessage | AmqpLargeMessage, sections: AmqpSections) -> CoreForm:
    """Return the form of an AMQP message with these sections in the place of its own."""
    made = CoreForm(message.id, DEFAULT, message.durable, message.priority, message.expiration, 0, None, b"")
    encoding = _body(made, sections)
    if encoding is not None:
        made.put("JMS_AMQP_ORIGINAL_ENCODING", TypedValue(ValueKind.SHORT, encoding))
    _header(made, sections)
    _annotations(made, sections)
    for name, value in sections.application():
        made.put(name, value)
    _fields(made, sections)
    for name, value in _entries(sections.footer):
        made.put(f"JMS_AMQP_FT_{name}", value)
    for entry in message.extra.entries or ():
        if entry.name != "_AMQ_AD":
            made.properties[entry.name] = entry.value
    routing = _routing(sections)
    if routing is not None:
        made.properties["_AMQ_ROUTING_TYPE"] = TypedValue(ValueKind.BYTE, routing)
    return made


def _header(made: CoreForm, sections: AmqpSections) -> None:
    header = sections.header
    if header is None:
        return
    yes = TypedValue(ValueKind.BOOLEAN, True)
    made.put("JMS_AMQP_HEADER", yes)
    if header.durable is not None:
        made.put("JMS_AMQP_HEADERDURABLE", yes)
    if header.priority is not None:
        made.put("JMS_AMQP_HEADERPRIORITY", yes)
    if header.first_acquirer is not None:
        made.put("JMS_AMQP_FirstAcquirer", TypedValue(ValueKind.BOOLEAN, header.first_acquirer))
    if header.delivery_count is not None:
        made.put("JMSXDeliveryCount", TypedValue(ValueKind.LONG, header.delivery_count + 1))


def _annotations(made: CoreForm, sections: AmqpSections) -> None:
    for name, value in _entries(sections.message_annotations):
        number = java_long(value)
        if name == "x-opt-delivery-time" and number is not None:
            made.put("_AMQ_SCHED_DELIVERY", long(number))
        elif name == "x-opt-delivery-delay":
            made.lost.append("x-opt-delivery-delay: starts again when the message is sent")
        elif name == "x-opt-ingress-time" and number is not None:
            made.put("_AMQ_INGRESS_TIMESTAMP", long(number))
        made.put(f"JMS_AMQP_MA_{name}", value)


def _fields(made: CoreForm, sections: AmqpSections) -> None:
    fields = sections.properties
    if (found := fields.get("message_id")) is not None:
        native, made.user_id = message_ids(found)
        made.put("NATIVE_MESSAGE_ID", _string(native))
    for name, key in _TEXT_FIELDS.items():
        if (found := fields.get(name)) is not None:
            made.put(key, _string(str(found.value)))
    if (found := fields.get("user_id")) is not None:
        text = found.value.decode("utf-8", "replace") if isinstance(found.value, bytes) else _said(found)
        made.put("JMSXUserID", _string(text))
    if (found := fields.get("reply_to")) is not None:
        kind = dict(_entries(sections.message_annotations)).get("x-opt-jms-reply-to")
        number = kind.value if kind is not None and isinstance(kind.value, int) else 0
        made.put("JMSReplyTo", _string(f"{_REPLY.get(number, _REPLY[0])}{found.value}"))
    if (found := fields.get("correlation_id")) is not None:
        plain = found.kind is ValueKind.BYTES or (found.kind is ValueKind.STRING and not found.value.startswith("ID:"))
        made.put("JMSCorrelationID", found if plain else _string(_id_text(found)))
    if (whole := _number(made, fields, "creation_time")) is not None:
        made.timestamp = whole
    if (whole := _number(made, fields, "group_sequence")) is not None:
        made.put("_AMQ_GROUP_SEQUENCE", TypedValue(ValueKind.INT, _signed(whole & 0xFFFFFFFF, 32)))
    if (whole := _number(made, fields, "absolute_expiry_time")) is not None:
        made.expiration = whole


def _number(made: CoreForm, fields: Mapping[str, TypedValue], name: str) -> int | None:
    """Return the number in a field; what is none is lost."""
    found = fields.get(name)
    if found is None:
        return None
    if found.kind not in INTEGRAL:
        made.lost.append(f"{name}: {found.kind.value} is no number")
        return None
    return int(found.value)


def message_ids(typed: TypedValue) -> tuple[str, str]:
    """Return an AMQP message id as the broker writes it for JMS, and the user id that stands for it."""
    text = _id_text(typed)
    return text, uuid_text(typed.value) if typed.kind is ValueKind.UUID else _made_uuid(text)


def _made_uuid(text: str) -> str:
    """As ``uuid.uuid5(NAMESPACE_OID, text)``, in half the time and of any text."""
    raw = bytearray(sha1(NAMESPACE_OID.bytes + text.encode("utf-8", "replace"), usedforsecurity=False).digest()[:16])
    raw[6], raw[8] = raw[6] & 0x0F | 0x50, raw[8] & 0x3F | 0x80
    return uuid_text(bytes(raw))


def _id_text(typed: TypedValue) -> str:
    """As the broker writes an AMQP id for JMS: with its kind, unless it is a string that JMS made."""
    match typed.kind:
        case ValueKind.UUID:
            return f"ID:AMQP_UUID:{uuid_text(typed.value)}"
        case ValueKind.BYTES:
            return f"ID:AMQP_BINARY:{typed.value.hex().upper()}"
        case ValueKind.STRING:
            text = str(typed.value)
            if not text.startswith("ID:"):
                return f"ID:AMQP_NO_PREFIX:{text}"
            known = ("STRING:", "ULONG:", "UUID:", "BINARY:", "NO_PREFIX:")
            rest = text.removeprefix("ID:AMQP_")
            return f"ID:AMQP_STRING:{text}" if rest != text and rest.startswith(known) else text
        case _:
            return f"ID:AMQP_ULONG:{typed.value}"


def _routing(sections: AmqpSections) -> int | None:
    entries = dict(_entries(sections.message_annotations))
    if (found := entries.get("x-opt-routing-type")) is not None and isinstance(found.value, int):
        return int(found.value)
    found = entries.get("x-opt-jms-dest")
    return None if found is None or not isinstance(found.value, int) else _ROUTING.get(found.value)


def _entries(section: TypedValue | None) -> Iterator[tuple[str, TypedValue]]:
    if section is not None and section.kind is ValueKind.MAP:
        for key, value in section.value:
            yield str(key.value), value


def _body(made: CoreForm, sections: AmqpSections) -> int | None:
    """Sets type and body; returns what the broker calls the original encoding."""
    kind = _content_type(sections)
    if not sections.body:
        made.type = _type_of_nothing(kind)
        return _NO_BODY
    first = sections.body[0]
    if len(sections.body) > 1:
        made.lost.append(f"{len(sections.body) - 1} more sections of the body")
    if first.descriptor == DATA:
        _data(made, bytes(first.value.value), kind)
        return _DATA
    if first.descriptor == SEQUENCE:
        _stream(made, first.value)
        return _SEQUENCE
    return _value(made, first, kind)


def _content_type(sections: AmqpSections) -> str | None:
    return str(sections.properties["content_type"].value) if "content_type" in sections.properties else None


def amqp_bodies(
    section: BodySection, sections: AmqpSections, contents: Iterable[str | bytes]
) -> Iterator[tuple[int, bytes]]:
    """Yield type and body of core messages for body sections that differ from ``section`` in their content alone."""
    made, kind = CoreForm(0, DEFAULT, True, 0, 0, 0, None, b""), _content_type(sections)
    for content in contents:
        if section.descriptor == DATA:
            _data(made, bytes(content) if isinstance(content, bytes) else b"", kind)
        else:
            _value(made, replace(section, value=section.value._replace(value=content)), kind)
        yield made.type, made.body


def _type_of_nothing(kind: str | None) -> int:
    if kind == _OBJECT_TYPE:
        return OBJECT
    if kind in (None, _OCTETS):
        return BYTES
    return TEXT if _textual(kind) else DEFAULT


def _data(made: CoreForm, payload: bytes, kind: str | None) -> None:
    if kind == _OBJECT_TYPE:
        made.type, made.body = OBJECT, len(payload).to_bytes(4, "big") + payload
        return
    if kind != _OCTETS and _textual(kind) == "utf-8":
        try:
            made.type, made.body = TEXT, _text(payload.decode("utf-8"))
            return
        except UnicodeDecodeError:
            pass
    made.type, made.body = BYTES, payload


def _value(made: CoreForm, section: BodySection, kind: str | None) -> int | None:
    found = section.value
    match found.kind:
        case ValueKind.NULL:
            made.type, made.body = TEXT, _text(None)
            return _NULL
        case ValueKind.STRING:
            made.type, made.body = TEXT, _text(found.value)
            return _STRING
        case ValueKind.BYTES:
            _data(made, bytes(found.value), kind if kind == _OBJECT_TYPE else _OCTETS)
            return _BINARY
        case ValueKind.LIST:
            _stream(made, found)
            return _LIST
        case ValueKind.MAP:
            entries = tuple(Property(str(key.value), made.fitting(str(key.value), value)) for key, value in found.value)
            made.type, made.body = MAP, properties_bytes(entries)
            return _MAP
        case _:
            made.type = BYTES
            made.lost.append(f"a body that is an AMQP value ({found.kind.value}) is kept as text")
            made.body = _said(found).encode()
            return None


def _stream(made: CoreForm, items: TypedValue) -> None:
    out = ByteWriter()
    for item in items.value:
        fitting = made.fitting("an item of the body", item)
        if fitting.kind in (ValueKind.NULL, ValueKind.STRING):
            out.u8(CODES[ValueKind.STRING])
            write_nullable(out, None if fitting.kind is ValueKind.NULL else str(fitting.value))
            continue
        out.u8(CODES[fitting.kind])
        encode_value(out, fitting)
    made.type, made.body = STREAM, out.done()


def _text(text: str | None) -> bytes:
    out = ByteWriter()
    out.nsstr(text)
    return out.done()


def _textual(kind: str | None) -> str | None:
    """The character set of textual content, None where it is none."""
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
    """The smallest kind of core properties that holds the value; None where no kind does."""
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
            return typed if typed.kind in CODES else None


def _said(typed: TypedValue) -> str:
    match typed.kind:
        case ValueKind.UUID:
            return uuid_text(typed.value)
        case ValueKind.LIST | ValueKind.ARRAY:
            return f"[{', '.join(_said(item) for item in typed.value)}]"
        case ValueKind.MAP:
            return f"{{{', '.join(f'{_said(key)}={_said(value)}' for key, value in typed.value)}}}"
        case ValueKind.DESCRIBED:
            return _said(typed.value[1])
        case _ if isinstance(typed.value, bytes):
            return typed.value.hex()
        case _:
            return str(typed.value)
