"""An AMQP message as a client encodes it: header, ``to``, application properties, one data section.

Source: docs/spec/messages.md 9.3, docs/spec/protocols.md 1.1.
"""

from __future__ import annotations

from functools import lru_cache
from struct import pack

from pageengine.model.sizes import payload_bytes
from pageengine.trace.operations import MessageProperties, MessageProperty, Send
from pagefmt.codec.messages.values import ValueKind

DURABLE = bytes.fromhex("005370c0020141")
PROPERTIES = bytes.fromhex("005373d0")
APPLICATION_PROPERTIES = bytes.fromhex("005374d1")
DATA = bytes.fromhex("005375")
NULL = b"\x40"
# Bytes; up to this length, the length of a text or of bytes is encoded in one byte.
SHORT = 255
_FIXED = {
    ValueKind.BYTE: (b"\x51", ">b"),
    ValueKind.SHORT: (b"\x61", ">h"),
    ValueKind.INT: (b"\x71", ">i"),
    ValueKind.LONG: (b"\x81", ">q"),
    ValueKind.FLOAT: (b"\x72", ">f"),
    ValueKind.DOUBLE: (b"\x82", ">d"),
}


def amqp_bytes(send: Send, *, anonymous: bool) -> int:
    """Return the size of the encoded message in bytes."""
    body = payload_bytes(send)
    before = sections_before_body(send.durable, send.address if anonymous else None, send.props)
    return sum(map(len, before)) + len(data_start(body)) + body


def body_bytes_within(encoded: int, address: str, durable: bool, props: MessageProperties) -> int:
    """Return the bytes of the body of a message with ``encoded`` bytes in all; negative if the rest alone is larger."""
    body = encoded - amqp_bytes(Send(address, 0, durable=durable, props=props), anonymous=False)
    if body > SHORT:
        # the empty body of that has a short data section
        body -= len(data_start(body)) - len(data_start(0))
    return body


@lru_cache(maxsize=4096)
def sections_before_body(
    durable: bool, to: str | None, props: tuple[MessageProperty, ...]
) -> tuple[bytes, bytes, bytes]:
    """Return header, properties with only the field ``to``, and application properties; each empty if absent.

    A message that is not durable has no header.
    """
    header, properties, application = DURABLE if durable else b"", b"", b""
    if to is not None:
        properties = PROPERTIES + _compound(3, NULL + NULL + _variable(to.encode(), b"\xa1", b"\xb1"))
    if props:
        items = [_variable(item.name.encode(), b"\xa1", b"\xb1") + _value(item) for item in props]
        application = APPLICATION_PROPERTIES + _compound(2 * len(items), b"".join(items))
    return header, properties, application


def data_start(size: int) -> bytes:
    """Return the bytes before a body of this size."""
    return DATA + (b"\xa0" + bytes([size]) if size <= SHORT else b"\xb0" + size.to_bytes(4, "big"))


def _compound(count: int, items: bytes) -> bytes:
    return (4 + len(items)).to_bytes(4, "big") + count.to_bytes(4, "big") + items


def _variable(content: bytes, short: bytes, long: bytes) -> bytes:
    if len(content) <= SHORT:
        return short + bytes([len(content)]) + content
    return long + len(content).to_bytes(4, "big") + content


def _value(item: MessageProperty) -> bytes:
    value = item.value
    fixed = _FIXED.get(item.type)
    if fixed is not None:
        return fixed[0] + pack(fixed[1], value)
    if isinstance(value, bool):
        return b"\x41" if value else b"\x42"
    if isinstance(value, bytes):
        return _variable(value, b"\xa0", b"\xb0")
    if not isinstance(value, str):
        return NULL
    if item.type is ValueKind.CHAR:
        return b"\x73" + ord(value).to_bytes(4, "big")
    return _variable(value.encode("utf-8", "replace"), b"\xa1", b"\xb1")
