"""Every truncation and every flipped bit of a small page of each layout: damage or a value, never anything else.

A sample runs by default, all of them with ``-m slow``.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pagefmt.describe.message_json import BodyForm, Wanted, record_json
from pagefmt.editions import Edition
from pagefmt.messages.core_message import CoreLargeMessage, CoreMessage, HeaderBlock
from pagefmt.messages.core_message_old import OldCoreMessage
from pagefmt.messages.persisters import Message
from pagefmt.messages.properties import properties_bytes
from pagefmt.messages.values import Kind, Property, Typed, string
from pagefmt.pages.frames import Damage, DamageKind
from pagefmt.pages.page import Page
from pagefmt.pages.record import Layout, PageRecord, encode_payload, encode_record, frame
from pagefmt.verify.broker_reader import read_as_broker
from pagefmt.verify.broker_verdict import Place
from pagefmt.verify.pages import verify_bytes
from pagefmt.verify.quick_check import proves_sound

AMQP = bytes.fromhex(
    "7b000000ceffffffffffffffff000500000000000007d10000000000000000010000000c6f0072006400650072007300"
    "0000005f005370c0020141005372c11f02a313782d6f70742d64656c69766572792d74696d65810000018bcfe56800"
    "005373d00000000e000000034040a1066f7264657273005374c11204a1016e5407a105636f6c6f72a103726564005377a1026869"
    "0000002801000000010000000e5f0041004d0051005f00410044000a0000000c6f00720064006500720073000000000000000000"
    "0000000100000000000000077d"
)
EVERYTHING = Wanted(frozenset(BodyForm))


def header(kind: int) -> HeaderBlock:
    block = properties_bytes((Property("n", Typed(Kind.INT, 7)), Property("s", string("é"))))
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
PAGES = {"2.x": NEW_PAGE, "1.x": OLD_PAGE}


def cuts(page: bytes) -> Iterator[tuple[int, bytes]]:
    return ((at, page[:at]) for at in range(len(page)))


def flips(page: bytes) -> Iterator[tuple[int, bytes]]:
    for bit in range(8 * len(page)):
        flipped = bytearray(page)
        flipped[bit // 8] ^= 1 << bit % 8
        yield bit // 8, bytes(flipped)


def look_at(raw: bytes, sound: bytes, hurt: int) -> None:
    """``hurt``: the first byte that is not as it was."""
    page = Page(raw)
    verdict = verify_bytes(page, "x.page", Place(last=True))
    assert verdict.bytes_read <= len(raw)
    assert verdict.sound == (verdict.decoded == page.count and verdict.bytes_read == len(raw) and not page.damage)
    unhurt = [one for _, one in Page(sound).records() if isinstance(one, PageRecord) and one.end <= hurt]
    found = list(page.records())
    assert [one for _, one in found[: len(unhurt)]] == unhurt
    routes = list(page.routes())
    if all(fault.kind is not DamageKind.UNDECODABLE for fault in verdict.faults):
        assert len(routes) == verdict.records
    for number, at, size in page.frames():
        if proves_sound(raw, at, size):
            assert not isinstance(page.record(number, at, size, page.strict_layout()), Damage)
    for number, one in found:
        if not isinstance(one, Damage):
            record_json(1, number, one, EVERYTHING)
            assert encode_record(one) == raw[one.offset : one.end]


@pytest.mark.parametrize("layout", PAGES)
def test_the_pages_are_sound(layout: str) -> None:
    page = Page(PAGES[layout])
    verdict = verify_bytes(page, "x.page", Place())
    assert verdict.sound
    assert page.layout() is not None
    assert str(page.layout().value) == layout
    for edition in Edition:
        if edition.old_layout == (layout == "1.x") and edition not in (Edition.ARTEMIS_2_4, Edition.ARTEMIS_2_10):
            assert read_as_broker(page.buf, edition).records == verdict.decoded


@pytest.mark.parametrize("layout", PAGES)
def test_cut_anywhere(layout: str) -> None:
    for at, raw in cuts(PAGES[layout]):
        look_at(raw, PAGES[layout], at)


@pytest.mark.parametrize("layout", PAGES)
def test_some_flipped_bits(layout: str) -> None:
    for n, (at, raw) in enumerate(flips(PAGES[layout])):
        if n % 11 == 0:
            look_at(raw, PAGES[layout], at)


@pytest.mark.slow
@pytest.mark.parametrize("layout", PAGES)
def test_every_flipped_bit(layout: str) -> None:
    for at, raw in flips(PAGES[layout]):
        look_at(raw, PAGES[layout], at)


@pytest.mark.slow
@pytest.mark.parametrize("layout", PAGES)
def test_every_flipped_bit_in_every_edition(layout: str) -> None:
    for _, raw in flips(PAGES[layout]):
        for edition in Edition:
            assert 0 <= read_as_broker(raw, edition).bytes_read <= len(raw)
