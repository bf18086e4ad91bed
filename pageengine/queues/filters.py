"""Filters of queues and selectors of consumers, over the engine's own messages."""

from __future__ import annotations

from collections.abc import Callable

from pageengine.model.message import GROUP_ID, Message
from pageengine.trace.operations import NS_PER_MS, MessageProperty
from pagefmt.messages.values import ValueKind
from pagefmt.selector import Value, parse
from pagefmt.selector.values import JavaClass, Number, Opaque

NUMBERS = {
    ValueKind.BYTE: JavaClass.BYTE,
    ValueKind.SHORT: JavaClass.SHORT,
    ValueKind.INT: JavaClass.INT,
    ValueKind.LONG: JavaClass.LONG,
    ValueKind.FLOAT: JavaClass.FLOAT,
    ValueKind.DOUBLE: JavaClass.DOUBLE,
}


class MessageSource:
    """What a selector asks of a message: header fields by their ``AMQ`` names, then properties."""

    __slots__ = ("message",)

    def __init__(self, message: Message) -> None:
        self.message = message

    def property(self, name: str) -> Value:
        """The value a selector sees under this name, None: there is none."""
        if name.startswith("AMQ"):
            value = self._header(name)
            if value is not None:
                return value
        for one in self.message.props:
            if one.name == name:
                return _value(one)
        return None

    def _header(self, name: str) -> Value:
        message = self.message
        match name:
            case "AMQPriority":
                return Number(JavaClass.INT, message.priority)
            case "AMQExpiration":
                return Number(JavaClass.LONG, message.expiration // NS_PER_MS)
            case "AMQDurable":
                return "DURABLE" if message.durable else "NON_DURABLE"
            case "AMQSize":
                return Number(JavaClass.INT, message.enc)
            case "AMQAddress":
                return message.address
            case "AMQGroupID":
                return self.property(GROUP_ID)
            case _:
                return None


def _value(one: MessageProperty) -> Value:
    if one.type in NUMBERS:
        assert isinstance(one.value, int | float)
        return Number(NUMBERS[one.type], one.value)
    if one.type is ValueKind.CHAR:
        return Opaque("Character", True, one.value)
    if isinstance(one.value, bytes):
        return Opaque("byte[]", False, one.value)
    return one.value if isinstance(one.value, bool | str) else None


def compiled(text: str | None) -> Callable[[Message], bool] | None:
    """A test for messages, None where there is no text. Raises SelectorError as the broker refuses the text."""
    if text is None or not text.strip():
        return None
    selector = parse(text)
    return lambda message: selector.matches(MessageSource(message))
