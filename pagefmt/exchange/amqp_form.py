"""A core message as an AMQP message, as a broker makes one for AMQP consumers (docs/spec/messages.md 15).

What an AMQP message cannot hold is named in ``lost``. A body that no AMQP reader would understand goes as its bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from pagefmt.codec.messages.amqp_sections import (
    ANNOTATIONS,
    APPLICATION,
    DATA,
    DELIVERY,
    FOOTER,
    HEADER,
    PROPERTIES,
    SEQUENCE,
    VALUE,
)
from pagefmt.codec.messages.amqp_values import encode_amqp_value
from pagefmt.codec.messages.bodies import map_of, stream_of, text_of
from pagefmt.codec.messages.core_fields import BYTES, DEFAULT, MAP, OBJECT, STREAM, TEXT
from pagefmt.codec.messages.values import NULL, TypedValue, ValueKind, java_long, long
from pagefmt.codec.wire import ByteWriter, Undecodable
from pagefmt.exchange.core_form import CoreForm

U32: Final = 0xFFFFFFFF
DEFAULT_PRIORITY: Final = 4
_OBJECT_TYPE: Final = "application/x-java-serialized-object"
# x-opt-jms-msg-type
_KINDS: Final = {DEFAULT: 0, OBJECT: 1, MAP: 2, BYTES: 3, STREAM: 4, TEXT: 5}
# JMS_AMQP_ORIGINAL_ENCODING
_DATA, _SEQUENCE, _NULL, _BINARY = 2, 3, 4, 6
_PREFIXES: Final = {"queue://": 0, "topic://": 1, "temp-queue://": 2, "temp-topic://": 3}
_INTERNAL: Final = (
    "JMS_AMQP_HEADER", "JMS_AMQP_NATIVE", "JMS_AMQP_ORIGINAL_ENCODING", "NATIVE_MESSAGE_ID", "_AMQ_SCHED_DELIVERY",
    "_AMQ_ROUTING_TYPE", "_AMQ_LARGE_COMPRESSED", "_AMQ_LARGE_SIZE", "__AMQ_CID",
)  # fmt: skip
_FIELD_NAMES: Final = (
    "message_id", "user_id", "to", "subject", "reply_to", "correlation_id", "content_type", "content_encoding",
    "absolute_expiry_time", "creation_time", "group_id", "group_sequence", "reply_to_group_id",
)  # fmt: skip
_TEXT_FIELDS: Final = {
    "JMSXGroupID": "group_id", "_AMQ_GROUP_ID": "group_id", "JMS_AMQP_ReplyToGroupID": "reply_to_group_id",
    "JMSType": "subject",
}  # fmt: skip
_SYMBOL_FIELDS: Final = {"JMS_AMQP_ContentType": "content_type", "JMS_AMQP_ContentEncoding": "content_encoding"}


class AmqpForm(NamedTuple):
    """A core message as AMQP sections.

    ``content``: all sections; if the body is ``streamed``, those before it, up to the bytes of the body. ``lost``: what
    this form cannot hold, one sentence each.
    """

    content: bytes
    lost: tuple[str, ...]


class _AmqpParts:
    """The sections that properties go to."""

    def __init__(self) -> None:
        self.fields: dict[str, TypedValue] = {}
        self.delivery: dict[str, TypedValue] = {}
        self.annotations: dict[str, TypedValue] = {}
        self.application: dict[str, TypedValue] = {}
        self.footer: dict[str, TypedValue] = {}
        self.header = False
        self.durable: bool | None = None
        self.priority: int | None = None
        self.first: bool | None = None
        self.lost: list[str] = []

    def put(self, name: str, typed: TypedValue, form: CoreForm) -> None:
        """Store one property of the core message in the section or field where the broker puts it."""
        text = str(typed.value)
        if name in _TEXT_FIELDS:
            self.fields[_TEXT_FIELDS[name]] = _string(text)
        elif name in _SYMBOL_FIELDS:
            self.fields[_SYMBOL_FIELDS[name]] = _symbol(text)
        elif name == "JMSCorrelationID":
            self.fields["correlation_id"] = _identifier(text) if typed.kind is ValueKind.STRING else typed
            if typed.kind is ValueKind.BYTES:
                self.lost.append(
                    "a binary correlation id: brokers before 2.33 turn it into text for core clients (ID:AMQP_BINARY:…)"
                )
        elif name == "JMSReplyTo":
            self._reply(text)
        elif name in ("_AMQ_VALIDATED_USER", "JMSXUserID"):
            self.fields["user_id"] = TypedValue(ValueKind.BYTES, text.encode("utf-8", "surrogatepass"))
        elif name in ("_AMQ_GROUP_SEQUENCE", "JMSXGroupSeq") and isinstance(typed.value, int):
            self.fields["group_sequence"] = TypedValue(ValueKind.UINT, typed.value & U32)
        elif name == "_AMQ_INGRESS_TIMESTAMP":
            self.annotations["x-opt-ingress-time"] = typed
        elif name == "JMS_AMQP_FirstAcquirer":
            self.first = bool(typed.value)
        elif name.startswith("JMS_AMQP_"):
            self._of_amqp(name.removeprefix("JMS_AMQP_"), typed, form)
        elif name.startswith("JMS") and not name.startswith(("JMSX", "JMS_")):
            self.lost.append(f"property {name}: names that begin with JMS are reserved for the broker")
        elif not name.startswith(("__AMQ_CID", "_AMQ_ROUTE_TO")):
            self.application[name] = _plain(typed)

    def _reply(self, text: str) -> None:
        prefix = next((candidate for candidate in _PREFIXES if text.startswith(candidate)), "")
        self.fields["reply_to"] = _string(text.removeprefix(prefix))
        self.annotations["x-opt-jms-reply-to"] = TypedValue(ValueKind.BYTE, _PREFIXES.get(prefix, 0))

    def _of_amqp(self, name: str, typed: TypedValue, form: CoreForm) -> None:
        """Store a property in which a broker keeps a part of a converted AMQP message. ``name``: without ``JMS_AMQP_``.

        It restores a header field, or an entry of the delivery annotations (DA), message annotations (MA) or footer
        (FT), whose ``ENCODED_`` values are AMQP bytes. Other names are dropped.
        """
        self.header |= name.startswith("HEADER")
        if name == "HEADERDURABLE":
            self.durable = form.durable
        elif name == "HEADERPRIORITY":
            self.priority = form.priority
        for prefix, section in (("DA_", self.delivery), ("MA_", self.annotations), ("FT_", self.footer)):
            if name.startswith(prefix):
                section[name.removeprefix(prefix)] = _plain(typed)
            elif name.startswith(f"ENCODED_{prefix}") and typed.kind is ValueKind.BYTES:
                from pagefmt.codec.messages.amqp_values import decode_amqp_value
                from pagefmt.codec.wire import ByteReader

                section[name.removeprefix(f"ENCODED_{prefix}")] = decode_amqp_value(ByteReader(typed.value))


def amqp_form(form: CoreForm, address: str | None, now: int, streamed: int | None = None) -> AmqpForm:
    """Return the core message as AMQP sections, encoded as the broker does.

    Args:
        form: of the core message.
        address: of the message.
        now: ms since 1970.
        streamed: number of bytes that follow as the body; None if the body is in the form.

    Raises:
        Undecodable: the body does not have the form of the message's type.
    """
    parts = _AmqpParts()
    parts.lost += form.lost
    for name, typed in form.properties.items():
        if name not in _INTERNAL or name == "JMS_AMQP_HEADER":
            parts.put(name, typed, form)
    parts.annotations["x-opt-jms-msg-type"] = TypedValue(ValueKind.BYTE, _KINDS.get(form.type, 0))
    _fields(parts, form, address)
    ttl = _times(parts, form, now)
    if form.type == OBJECT:
        parts.fields.setdefault("content_type", _symbol(_OBJECT_TYPE))
    out = ByteWriter()
    _header(out, parts, form, ttl)
    for code, entries in ((DELIVERY, parts.delivery), (ANNOTATIONS, parts.annotations)):
        _map(out, code, entries, symbols=True)
    _list(out, PROPERTIES, [parts.fields.get(name, NULL) for name in _FIELD_NAMES])
    _map(out, APPLICATION, parts.application, symbols=False)
    if streamed is not None:
        if parts.footer:
            parts.lost.append("a footer after a large body")
        out.raw(bytes((0, 0x53, DATA, 0xB0)) + streamed.to_bytes(4, "big"))
    else:
        _body(out, parts, form)
        _map(out, FOOTER, parts.footer, symbols=True)
    return AmqpForm(out.done(), tuple(parts.lost))


def _fields(parts: _AmqpParts, form: CoreForm, address: str | None) -> None:
    native = form.properties.get("NATIVE_MESSAGE_ID")
    if native is not None:
        parts.fields["message_id"] = _identifier(str(native.value))
    elif form.user_id is not None:
        parts.fields["message_id"] = _string(f"ID:{form.user_id}")
    routing = form.properties.get("_AMQ_ROUTING_TYPE")
    if address:
        parts.fields["to"] = _string(address)
        topic = routing is not None and routing.value == 0
        parts.annotations["x-opt-jms-dest"] = TypedValue(ValueKind.BYTE, int(topic))


def _times(parts: _AmqpParts, form: CoreForm, now: int) -> int | None:
    """Set creation, delivery and expiry times. Return the header's time to live in ms, None without expiration."""
    if form.timestamp:
        parts.fields["creation_time"] = TypedValue(ValueKind.TIMESTAMP, form.timestamp)
    scheduled = java_long(form.properties.get("_AMQ_SCHED_DELIVERY", NULL))
    if scheduled is not None and scheduled > 0:
        parts.annotations["x-opt-delivery-time"] = long(scheduled)
    if not form.expiration:
        return None
    parts.fields["absolute_expiry_time"] = TypedValue(ValueKind.TIMESTAMP, form.expiration)
    return min(max(1, form.expiration - now), U32)


def _header(out: ByteWriter, parts: _AmqpParts, form: CoreForm, ttl: int | None) -> None:
    durable = True if form.durable else parts.durable
    priority = form.priority if form.priority != DEFAULT_PRIORITY else parts.priority
    if durable is None and priority is None and ttl is None and parts.first is None and not parts.header:
        return
    header = header_fields(durable, priority, ttl, parts.first, None)
    _list(out, HEADER, header)


def header_fields(
    durable: bool | None, priority: int | None, ttl: int | None, first: bool | None, count: int | None
) -> list[TypedValue]:
    """Return the fields of a header section; None becomes null."""
    kinds = (ValueKind.BOOLEAN, ValueKind.UBYTE, ValueKind.UINT, ValueKind.BOOLEAN, ValueKind.UINT)
    values = (durable, priority, ttl, first, count)
    return [NULL if value is None else TypedValue(kind, value) for kind, value in zip(kinds, values, strict=True)]


def _body(out: ByteWriter, parts: _AmqpParts, form: CoreForm) -> None:
    original_encoding = form.properties.get("JMS_AMQP_ORIGINAL_ENCODING")
    encoding = (
        int(original_encoding.value)
        if original_encoding is not None and isinstance(original_encoding.value, int)
        else None
    )
    match form.type:
        case 3:
            text = text_of(form.body)
            if encoding == _DATA:
                _section(out, DATA, _bytes((text or "").encode("utf-8", "surrogatepass")))
            elif encoding != _NULL:
                _section(out, VALUE, NULL if text is None else _string(text))
        case 5:
            pairs = tuple((_string(entry.name), _plain(entry.value)) for entry in map_of(form.body))
            _section(out, VALUE, TypedValue(ValueKind.MAP, pairs))
        case 6:
            items = TypedValue(ValueKind.LIST, tuple(map(_plain, stream_of(form.body))))
            if any(item.kind is ValueKind.BYTES for item in items.value):
                parts.lost.append("bytes in a stream: brokers cannot convert these back for a core client")
            _section(out, SEQUENCE if encoding == _SEQUENCE else VALUE, items)
        case 0:
            _default(out, parts, form.body)
        case _:
            payload = form.body[4:] if form.type == OBJECT else form.body
            if encoding != _NULL:
                _section(out, VALUE if encoding == _BINARY else DATA, _bytes(payload))


def _default(out: ByteWriter, parts: _AmqpParts, body: bytes) -> None:
    """Write the body of a message of type default: a broker looks for a string there and passes on nothing else."""
    if not body:
        parts.lost.append("a message without a body: core clients receive a bytes message with none")
        return
    try:
        text = text_of(body)
    except Undecodable:
        text = None
    if text is not None and len(body) == 5 + 2 * len(text.encode("utf-16-le", "surrogatepass")) // 2:
        _section(out, VALUE, _string(text))
        return
    parts.lost.append("a body of type default is sent as its bytes")
    _section(out, DATA, _bytes(body))


def _identifier(text: str) -> TypedValue:
    """Return a JMS id as the AMQP id that it was made from."""
    from uuid import UUID

    typed_text = text.removeprefix("ID:AMQP_")
    if typed_text == text:
        return _string(text)
    kind, _, value = typed_text.partition(":")
    try:
        match kind:
            case "UUID":
                return TypedValue(ValueKind.UUID, UUID(value).bytes)
            case "ULONG" if 0 <= int(value) < 1 << 64:
                return TypedValue(ValueKind.ULONG, int(value))
            case "BINARY":
                return _bytes(bytes.fromhex(value))
            case "NO_PREFIX" | "STRING":
                return _string(value)
    except ValueError:
        pass
    return _string(text)


def _plain(typed: TypedValue) -> TypedValue:
    """Return a core value as an AMQP value, without ``wire``, which means something else in core values."""
    keeps = typed.kind in (ValueKind.FLOAT, ValueKind.DOUBLE)
    return (
        typed
        if keeps
        else TypedValue(typed.kind, bool(typed.value) if typed.kind is ValueKind.BOOLEAN else typed.value)
    )


def _string(text: str) -> TypedValue:
    return TypedValue(ValueKind.STRING, text)


def _symbol(text: str) -> TypedValue:
    return TypedValue(ValueKind.SYMBOL, text.encode("ascii", "replace").decode("ascii"))


def _bytes(raw: bytes) -> TypedValue:
    return TypedValue(ValueKind.BYTES, raw)


def _section(out: ByteWriter, code: int, value: TypedValue) -> None:
    out.raw(bytes((0, 0x53, code)))
    encode_amqp_value(out, value)


def _list(out: ByteWriter, code: int, fields: Iterable[TypedValue]) -> None:
    values = list(fields)
    while values and values[-1].kind is ValueKind.NULL:
        values.pop()
    if values or code == HEADER:
        _section(out, code, TypedValue(ValueKind.LIST, tuple(values)))


def _map(out: ByteWriter, code: int, entries: dict[str, TypedValue], *, symbols: bool) -> None:
    if entries:
        name = _symbol if symbols else _string
        _section(out, code, TypedValue(ValueKind.MAP, tuple((name(key), value) for key, value in entries.items())))
