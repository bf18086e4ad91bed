"""A small page of each record layout with a message of each protocol, and every cut and flipped bit of a page."""

from __future__ import annotations

from collections.abc import Iterator

from pagefmt.codec.messages.core_message import CoreLargeMessage, CoreMessage, HeaderBlock
from pagefmt.codec.messages.core_message_old import OldCoreMessage
from pagefmt.codec.messages.persisted import Message
from pagefmt.codec.messages.properties import properties_bytes
from pagefmt.codec.messages.values import Property, TypedValue, ValueKind, string
from pagefmt.codec.pages.record import Layout, PageRecord, encode_payload, frame

AMQP = bytes.fromhex(
    "7b000000ceffffffffffffffff000500000000000007d10000000000000000010000000c6f0072006400650072007300"
    "0000005f005370c0020141005372c11f02a313782d6f70742d64656c69766572792d74696d65810000018bcfe56800"
    "005373d00000000e000000034040a1066f7264657273005374c11204a1016e5407a105636f6c6f72a103726564005377a1026869"
    "0000002801000000010000000e5f0041004d0051005f00410044000a0000000c6f00720064006500720073000000000000000000"
    "0000000100000000000000077d"
)


def header(kind: int) -> HeaderBlock:
    block = properties_bytes((Property("n", TypedValue(ValueKind.INT, 7)), Property("s", string("é"))))
    return HeaderBlock(9, 1, "a", 1, bytes(range(16)), kind, 1, 0, 1700000000000, 4, block)


def record(layout: Layout, message: Message, large: int = 0) -> bytes:
    stated = 44 if isinstance(message, OldCoreMessage) else None
    made = PageRecord(0, 0, -1, large, layout, None, message, (3, 4), stated)
    payload = bytearray(encode_payload(made))
    if stated is not None:  # as written: the real size of the message
        payload[9:13] = (len(payload) - 13 - 20).to_bytes(4, "big")
    return frame(bytes(payload))


TEXT = b"\x01\x00\x00\x00\x04h\x00i\x00"
NEW_PAGE = (
    record(Layout.NEW, CoreMessage(9, 1, "a", TEXT, header(3)))
    + AMQP
    + record(Layout.NEW, CoreLargeMessage(header(4)), 1)
    + record(Layout.NEW, CoreMessage(10, 0, None, b"", header(0)))
)
OLD_PAGE = (
    record(Layout.OLD, OldCoreMessage(TEXT, header(3)))
    + record(Layout.OLD, CoreLargeMessage(header(4)), -1)
    + record(Layout.OLD, OldCoreMessage(b"", header(0)))
)


def cuts(page: bytes) -> Iterator[tuple[int, bytes]]:
    return ((at, page[:at]) for at in range(len(page)))


def flips(page: bytes) -> Iterator[tuple[int, bytes]]:
    for bit in range(8 * len(page)):
        flipped = bytearray(page)
        flipped[bit // 8] ^= 1 << bit % 8
        yield bit // 8, bytes(flipped)
