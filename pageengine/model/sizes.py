"""Sizes of a message in bytes: encoded, in the broker's memory estimate, and as a record of a page.

Source: docs/spec/paging-engine.md 1.3 and 2.5. Strings count as UTF-16 code units of two bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from pageengine.trace.operations import MessageProperty, MessageType, Send
from pagefmt.codec.messages.values import ValueKind

RECORD_FRAME = 6
RECORD_FIXED = 18
LARGE_RECORD_FIXED = 17
FIXED_WIDTH = {
    ValueKind.NULL: 1,
    ValueKind.BOOLEAN: 2,
    ValueKind.BYTE: 2,
    ValueKind.SHORT: 3,
    ValueKind.CHAR: 3,
    ValueKind.INT: 5,
    ValueKind.FLOAT: 5,
    ValueKind.LONG: 9,
    ValueKind.DOUBLE: 9,
}
LARGE_SIZE_PROPERTY = "_AMQ_LARGE_SIZE"


def utf16_units(text: str) -> int:
    """Return the length of a text in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def string_bytes(text: str) -> int:
    """Return the bytes of a length-prefixed string."""
    return 4 + 2 * utf16_units(text)


def property_bytes(item: MessageProperty) -> int:
    """Return the encoded bytes of a property."""
    width = FIXED_WIDTH.get(item.type)
    if width is not None:
        return string_bytes(item.name) + width
    if isinstance(item.value, str):
        return string_bytes(item.name) + 1 + string_bytes(item.value)
    assert isinstance(item.value, bytes)
    return string_bytes(item.name) + 5 + len(item.value)


def properties_bytes(properties: Iterable[MessageProperty]) -> int:
    """Return the encoded bytes of properties, without their number."""
    return sum(map(property_bytes, properties))


def header_bytes(address: str, property_total: int, property_count: int) -> int:
    """Return the bytes of headers and properties of an encoded core message without user id."""
    return 8 + 1 + string_bytes(address) + 1 + 1 + 1 + 8 + 8 + 1 + (5 + property_total if property_count else 1)


def body_bytes(send: Send) -> int:
    """Return the bytes of a message's body as its client encodes it."""
    if send.text is not None:
        return 1 + string_bytes(send.text)
    if send.body is not None:
        return len(send.body)
    if send.type is MessageType.TEXT:
        return 5 + 2 * send.size
    return send.size


def large_record_payload(header: int, queues: int) -> int:
    """Return the payload of a large message's page record in bytes: its headers and properties, without the body."""
    return LARGE_RECORD_FIXED + header + 8 * queues


def record_payload(address: str, enc: int, queues: int, old: bool = False) -> int:
    """Return the payload of a page record in bytes; the file has 6 bytes more.

    1.x and HornetQ have no address and no persister in it.
    """
    if old:
        return 8 + 1 + 4 + enc + 4 + 8 * queues
    return _address_bytes(address) + enc + 8 * queues


@lru_cache(maxsize=4096)
def _address_bytes(address: str) -> int:
    return RECORD_FIXED + 1 + string_bytes(address) + 4 + 4


def payload_bytes(send: Send) -> int:
    """Return the bytes of the body that a client passes to its protocol."""
    if send.text is not None:
        return len(send.text.encode())
    return len(send.body) if send.body is not None else send.size
