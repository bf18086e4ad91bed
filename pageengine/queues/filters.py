"""Filters of queues and selectors of consumers, over the engine's own messages."""

from __future__ import annotations

from collections.abc import Callable

from pageengine.model.message import GROUP_ID, Message
from pageengine.trace.operations import NS_PER_MS, MessageProperty
from pagefmt.codec.messages.values import ValueKind
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
    """Message as a selector sees it: header fields by their ``AMQ`` names, then properties."""

    __slots__ = ("message",)

    def __init__(self, message: Message) -> None:
        self.message = message

    def property(self, name: str) -> Value:
        """Return the value that a selector sees under this name, or None if there is none."""
        if name.startswith("AMQ"):
            value = self._header(name)
            if value is not None:
                return value
        for item in self.message.props:
            if item.name == name:
                return _value(item)
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


def _value(item: MessageProperty) -> Value:
    if item.type in NUMBERS:
        assert isinstance(item.value, int | float)
        return Number(NUMBERS[item.type], item.value)
    if item.type is ValueKind.CHAR:
        return Opaque("Character", True, item.value)
    if isinstance(item.value, bytes):
        return Opaque("byte[]", False, item.value)
    return item.value if isinstance(item.value, bool | str) else None


def compiled(text: str | None) -> Callable[[Message], bool] | None:
    """Return a predicate for messages, or None without a text; raise ``SelectorError`` if the broker refuses it."""
    if text is None or not text.strip():
        return None
    selector = parse(text)
    return lambda message: selector.matches(MessageSource(message))
