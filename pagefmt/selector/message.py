"""A message as the broker's filter sees it: header fields under their ``AMQ`` names, then properties.

AMQP messages answer some ``JMS`` names from their sections, ``m.`` names from their annotations, and hand unsigned
numbers out as long. What cannot be decoded lets the broker's filter fail: the message does not match.
"""

from __future__ import annotations

from typing import Final

from pagefmt.codec.messages.amqp_message import AmqpLargeMessage, AmqpMessage
from pagefmt.codec.messages.amqp_sections import delivery_annotations_size
from pagefmt.codec.messages.amqp_text import annotation_name, identifier_text
from pagefmt.codec.messages.core_fields import HEADER_FIELDS
from pagefmt.codec.messages.core_message import CoreLargeMessage, CoreMessage, HeaderBlock
from pagefmt.codec.messages.core_message_old import OldCoreMessage
from pagefmt.codec.messages.persisted import Message
from pagefmt.codec.messages.values import TypedValue, ValueKind
from pagefmt.codec.wire import Undecodable
from pagefmt.selector.arithmetic import java_text
from pagefmt.selector.nodes import MessageFact
from pagefmt.selector.values import EvaluationFailed, JavaClass, Number, Opaque, Value, wrapped

ANNOTATIONS: Final = "m."
HOPS: Final = "_AMQ_Hops"
# properties that AMQP messages answer from their sections
OF_AMQP: Final = ("JMSType", "JMSXGroupSeq", "JMSXUserID", "JMSCorrelationID", "__AMQ_CID")
_NUMBERS: Final = {
    **{
        kind: JavaClass[kind.name]
        for kind in (ValueKind.BYTE, ValueKind.SHORT, ValueKind.INT, ValueKind.LONG, ValueKind.FLOAT, ValueKind.DOUBLE)
    },
    **dict.fromkeys((ValueKind.UBYTE, ValueKind.USHORT, ValueKind.UINT, ValueKind.ULONG), JavaClass.OTHER),
}
_OPAQUE: Final = {
    ValueKind.CHAR: ("Character", True), ValueKind.SYMBOL: ("Symbol", True), ValueKind.TIMESTAMP: ("Date", True),
    ValueKind.UUID: ("UUID", True), ValueKind.BYTES: ("byte[]", False),
}  # fmt: skip
_HEADER_FIXED: Final = 8 + 1 + 1 + HEADER_FIELDS.size  # message id, mark of the address, mark of the user id


def selector_value(typed: TypedValue | None) -> Value:
    """Return a typed value as a value of the classes that selectors distinguish; None for null."""
    if typed is None or typed.kind is ValueKind.NULL:
        return None
    if typed.kind in (ValueKind.STRING, ValueKind.BOOLEAN):
        return str(typed.value) if typed.kind is ValueKind.STRING else bool(typed.value)
    if typed.kind in _NUMBERS:
        return Number(_NUMBERS[typed.kind], typed.value)
    name, comparable = _OPAQUE.get(typed.kind, (typed.kind.value, False))
    return Opaque(name, comparable, typed.value)


class _Headers:
    """Header fields; the kinds of message say where their properties are."""

    __slots__ = ("_properties", "message")
    message: Message

    def __init__(self) -> None:
        self._properties: dict[str, TypedValue] | None = None

    def property(self, name: str) -> Value:
        """Return the value, or None if the message has none. Raise ``EvaluationFailed`` if it cannot be decoded."""
        try:
            value = self._header(name) if name.startswith("AMQ") else None
            if value is None and name.startswith(HOPS):
                value = _number_of(self._hops())
            return self._plain(name) if value is None else value
        except Undecodable as err:
            raise EvaluationFailed(str(err)) from err

    def fact(self, fact: MessageFact) -> bool:
        """Return whether the fact is true of the message. Raise ``EvaluationFailed`` if it cannot be decoded."""
        try:
            return fact.of(self.message)
        except Undecodable as err:
            raise EvaluationFailed(str(err)) from err

    def _known(self) -> dict[str, TypedValue]:
        """Return the message's properties, which are decoded once."""
        if self._properties is None:
            self._properties = self.message.properties()
        return self._properties

    def _header(self, name: str) -> Value:
        message = self.message
        match name:
            case "AMQPriority":
                return Number(JavaClass.INT, message.priority)
            case "AMQTimestamp":
                return Number(JavaClass.LONG, message.timestamp)
            case "AMQExpiration":
                return Number(JavaClass.LONG, message.expiration)
            case "AMQDurable":
                return "DURABLE" if message.durable else "NON_DURABLE"
            case "AMQSize":
                return Number(JavaClass.INT, encoded_size(message))
            case "AMQAddress":
                return message.address
            case "AMQUserID":
                return self._user_id()
            case "AMQGroupID":
                return self._group_id()
            case _:
                return None

    def _user_id(self) -> Value:
        user_id = self.message.user_id
        if user_id is None:
            return selector_value(self._known().get("NATIVE_MESSAGE_ID"))
        return user_id if user_id.startswith("ID:") else f"ID:{user_id}"

    def _group_id(self) -> Value:
        raise NotImplementedError

    def _hops(self) -> TypedValue | None:
        raise NotImplementedError

    def _plain(self, name: str) -> Value:
        raise NotImplementedError


class CoreSource(_Headers):
    """The values of a core message that selectors ask for."""

    __slots__ = ()

    def __init__(self, message: CoreMessage | OldCoreMessage | CoreLargeMessage) -> None:
        super().__init__()
        self.message = message

    def _group_id(self) -> Value:
        properties = self._known()
        value = selector_value(properties.get("_AMQ_GROUP_ID", properties.get("_HQ_GROUP_ID")))
        return None if value is None else java_text(value)

    def _hops(self) -> TypedValue | None:
        return self._known().get(HOPS)

    def _plain(self, name: str) -> Value:
        return selector_value(self._known().get(name))


class AmqpSource(_Headers):
    """The values of an AMQP message that selectors ask for."""

    __slots__ = ("_amqp",)

    def __init__(self, message: AmqpMessage | AmqpLargeMessage) -> None:
        super().__init__()
        self.message = self._amqp = message

    def _group_id(self) -> Value:
        return selector_value(self._amqp.scanned().properties.get("group_id"))

    def _hops(self) -> TypedValue | None:
        return self._extra(HOPS)

    def _plain(self, name: str) -> Value:
        if name.startswith(ANNOTATIONS):
            return selector_value(_annotation(self._amqp, name.removeprefix(ANNOTATIONS)))
        value = self._field(name)
        return selector_value(self._extra(name)) if value is None else value

    def _field(self, name: str) -> Value:
        """Return what the broker answers from the AMQP sections for a JMS name."""
        fields = self._amqp.scanned().properties
        match name:
            case "JMSType":
                return selector_value(fields.get("subject"))
            case "JMSXGroupSeq":
                typed = fields.get("group_sequence")
                return Number(JavaClass.INT, 0 if typed is None else wrapped(typed.value, 32))
            case "JMSXUserID":
                typed = fields.get("user_id")
                return None if typed is None else bytes(typed.value).decode("utf-8", "replace")
            case "JMSCorrelationID":
                return _correlation(fields.get("correlation_id"))
            case "__AMQ_CID":
                return None
            case _:
                return selector_value(self._known().get(name))

    def _extra(self, name: str) -> TypedValue | None:
        values = [entry.value for entry in self._amqp.extra.entries or () if entry.name == name]
        return values[-1] if values else None


def source_of(message: Message) -> CoreSource | AmqpSource:
    """Return the source of values that a selector asks for about this message."""
    match message:
        case AmqpMessage() | AmqpLargeMessage():
            return AmqpSource(message)
        case CoreMessage() | OldCoreMessage() | CoreLargeMessage():
            return CoreSource(message)


def _number_of(typed: TypedValue | None) -> Value:
    """Return the number of hops between federated brokers, which is in the first four bytes."""
    if typed is None or typed.kind is not ValueKind.BYTES:
        return None
    return Number(JavaClass.INT, wrapped(int.from_bytes(typed.value[:4], "big"), 32))


def _annotation(message: AmqpMessage | AmqpLargeMessage, name: str) -> TypedValue | None:
    section, annotation = message.scanned().message_annotations, annotation_name(name)
    if section is None or section.kind is not ValueKind.MAP:
        return None
    return next((value for key, value in section.value if key.value == annotation), None)


_TYPE_PREFIXES: Final = ("AMQP_UUID:", "AMQP_ULONG:", "AMQP_BINARY:", "AMQP_STRING:", "AMQP_NO_PREFIX:")


def _correlation(typed: TypedValue | None) -> Value:
    """Return the correlation id as JMS shows it: with its type in front if it is not text."""
    if typed is None:
        return None
    match typed.kind:
        case ValueKind.STRING:
            text = str(typed.value)
            marked = text.startswith("ID:") and text[3:].startswith(_TYPE_PREFIXES)
            return f"ID:AMQP_STRING:{text}" if marked else text
        case ValueKind.UUID:
            return f"ID:AMQP_UUID:{identifier_text(typed)}"
        case ValueKind.ULONG:
            return f"ID:AMQP_ULONG:{typed.value}"
        case _:
            return selector_value(typed)


def encoded_size(message: Message) -> int:
    """Return ``AMQSize`` in bytes.

    For a core message this is its buffer, for a large one its headers, for AMQP what a receiver gets.
    """
    match message:
        case CoreMessage():
            return 4 + len(message.body) + _header_size(message.header)
        case OldCoreMessage():
            return 8 + len(message.body) + _header_size(message.header)
        case CoreLargeMessage():
            return _header_size(message.header)
        case AmqpMessage():
            return len(message.encoded) - delivery_annotations_size(message.encoded)
        case AmqpLargeMessage():
            return 0


def _header_size(header: HeaderBlock) -> int:
    address = 0 if header.address is None else 4 + len(header.address.encode("utf-16-le", "surrogatepass"))
    return _HEADER_FIXED + address + len(header.user_bytes or b"") + len(header.properties_bytes)
