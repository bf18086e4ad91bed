"""A core message as an AMQP message, as a broker makes one for AMQP consumers (docs/spec/messages.md 15).

What an AMQP message cannot hold is named in ``lost``. A body that no AMQP reader would understand goes as its bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from pagefmt.bytes.wire import ByteWriter, Undecodable
from pagefmt.exchange.core_form import BYTES, DEFAULT, MAP, OBJECT, STREAM, TEXT, CoreForm
from pagefmt.messages.amqp_sections import (
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
from pagefmt.messages.amqp_values import encode_amqp_value
from pagefmt.messages.bodies import map_of, stream_of, text_of
from pagefmt.messages.values import NULL, TypedValue, ValueKind, java_long, long

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
    """``content``: all sections; of a message whose body is ``streamed`` those in front, up to the bytes of the body.

    ``lost``: what this form cannot hold, a sentence each.
    """

    content: bytes
    lost: tuple[str, ...]


class _Making:
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
        """One property of the core message to where the broker puts it."""
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
        prefix = next((each for each in _PREFIXES if text.startswith(each)), "")
        self.fields["reply_to"] = _string(text.removeprefix(prefix))
        self.annotations["x-opt-jms-reply-to"] = TypedValue(ValueKind.BYTE, _PREFIXES.get(prefix, 0))

    def _of_amqp(self, name: str, typed: TypedValue, form: CoreForm) -> None:
        self.header |= name.startswith("HEADER")
        if name == "HEADERDURABLE":
            self.durable = form.durable
        elif name == "HEADERPRIORITY":
            self.priority = form.priority
        for prefix, section in (("DA_", self.delivery), ("MA_", self.annotations), ("FT_", self.footer)):
            if name.startswith(prefix):
                section[name.removeprefix(prefix)] = _plain(typed)
            elif name.startswith(f"ENCODED_{prefix}") and typed.kind is ValueKind.BYTES:
                from pagefmt.bytes.wire import ByteReader
                from pagefmt.messages.amqp_values import decode_amqp_value

                section[name.removeprefix(f"ENCODED_{prefix}")] = decode_amqp_value(ByteReader(typed.value))


def amqp_form(form: CoreForm, address: str | None, now: int, streamed: int | None = None) -> AmqpForm:
    """``address``: that of the message. ``now``: ms. ``streamed``: so many bytes follow as the body.

    Raises ``Undecodable`` where the body is not what the type of the message says.
    """
    made = _Making()
    made.lost += form.lost
    for name, typed in form.properties.items():
        if name not in _INTERNAL or name == "JMS_AMQP_HEADER":
            made.put(name, typed, form)
    made.annotations["x-opt-jms-msg-type"] = TypedValue(ValueKind.BYTE, _KINDS.get(form.type, 0))
    _fields(made, form, address)
    ttl = _times(made, form, now)
    if form.type == OBJECT:
        made.fields.setdefault("content_type", _symbol(_OBJECT_TYPE))
    out = ByteWriter()
    _header(out, made, form, ttl)
    for code, entries in ((DELIVERY, made.delivery), (ANNOTATIONS, made.annotations)):
        _map(out, code, entries, symbols=True)
    _list(out, PROPERTIES, [made.fields.get(name, NULL) for name in _FIELD_NAMES])
    _map(out, APPLICATION, made.application, symbols=False)
    if streamed is not None:
        if made.footer:
            made.lost.append("a footer after a large body")
        out.raw(bytes((0, 0x53, DATA, 0xB0)) + streamed.to_bytes(4, "big"))
    else:
        _body(out, made, form)
        _map(out, FOOTER, made.footer, symbols=True)
    return AmqpForm(out.done(), tuple(made.lost))


def _fields(made: _Making, form: CoreForm, address: str | None) -> None:
    native = form.properties.get("NATIVE_MESSAGE_ID")
    if native is not None:
        made.fields["message_id"] = _identifier(str(native.value))
    elif form.user_id is not None:
        made.fields["message_id"] = _string(f"ID:{form.user_id}")
    routing = form.properties.get("_AMQ_ROUTING_TYPE")
    if address:
        made.fields["to"] = _string(address)
        topic = routing is not None and routing.value == 0
        made.annotations["x-opt-jms-dest"] = TypedValue(ValueKind.BYTE, int(topic))


def _times(made: _Making, form: CoreForm, now: int) -> int | None:
    """The time to live of the header."""
    if form.timestamp:
        made.fields["creation_time"] = TypedValue(ValueKind.TIMESTAMP, form.timestamp)
    scheduled = java_long(form.properties.get("_AMQ_SCHED_DELIVERY", NULL))
    if scheduled is not None and scheduled > 0:
        made.annotations["x-opt-delivery-time"] = long(scheduled)
    if not form.expiration:
        return None
    made.fields["absolute_expiry_time"] = TypedValue(ValueKind.TIMESTAMP, form.expiration)
    return min(max(1, form.expiration - now), U32)


def _header(out: ByteWriter, made: _Making, form: CoreForm, ttl: int | None) -> None:
    durable = True if form.durable else made.durable
    priority = form.priority if form.priority != DEFAULT_PRIORITY else made.priority
    if durable is None and priority is None and ttl is None and made.first is None and not made.header:
        return
    header = header_fields(durable, priority, ttl, made.first, None)
    _list(out, HEADER, header)


def header_fields(
    durable: bool | None, priority: int | None, ttl: int | None, first: bool | None, count: int | None
) -> list[TypedValue]:
    """The fields of a header section; None: null."""
    kinds = (ValueKind.BOOLEAN, ValueKind.UBYTE, ValueKind.UINT, ValueKind.BOOLEAN, ValueKind.UINT)
    values = (durable, priority, ttl, first, count)
    return [NULL if value is None else TypedValue(kind, value) for kind, value in zip(kinds, values, strict=True)]


def _body(out: ByteWriter, made: _Making, form: CoreForm) -> None:
    found = form.properties.get("JMS_AMQP_ORIGINAL_ENCODING")
    encoding = int(found.value) if found is not None and isinstance(found.value, int) else None
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
            if any(each.kind is ValueKind.BYTES for each in items.value):
                made.lost.append("bytes in a stream: brokers cannot convert these back for a core client")
            _section(out, SEQUENCE if encoding == _SEQUENCE else VALUE, items)
        case 0:
            _default(out, made, form.body)
        case _:
            payload = form.body[4:] if form.type == OBJECT else form.body
            if encoding != _NULL:
                _section(out, VALUE if encoding == _BINARY else DATA, _bytes(payload))


def _default(out: ByteWriter, made: _Making, body: bytes) -> None:
    """A broker looks for a string there, and passes on nothing else."""
    if not body:
        made.lost.append("a message without a body: core clients receive a bytes message with none")
        return
    try:
        text = text_of(body)
    except Undecodable:
        text = None
    if text is not None and len(body) == 5 + 2 * len(text.encode("utf-16-le", "surrogatepass")) // 2:
        _section(out, VALUE, _string(text))
        return
    made.lost.append("a body of type default is sent as its bytes")
    _section(out, DATA, _bytes(body))


def _identifier(text: str) -> TypedValue:
    """An id of JMS as the AMQP id that it was made of."""
    from uuid import UUID

    rest = text.removeprefix("ID:AMQP_")
    if rest == text:
        return _string(text)
    kind, _, value = rest.partition(":")
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
    """The value in a kind of AMQP; ``wire`` of core values means something else."""
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
    found = list(fields)
    while found and found[-1].kind is ValueKind.NULL:
        found.pop()
    if found or code == HEADER:
        _section(out, code, TypedValue(ValueKind.LIST, tuple(found)))


def _map(out: ByteWriter, code: int, entries: dict[str, TypedValue], *, symbols: bool) -> None:
    if entries:
        name = _symbol if symbols else _string
        _section(out, code, TypedValue(ValueKind.MAP, tuple((name(key), value) for key, value in entries.items())))
