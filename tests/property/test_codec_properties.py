"""What must hold for every codec, whatever the bytes: two-way, and nothing raised but ``Undecodable``."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import pytest
import strategies
from hypothesis import given
from hypothesis import strategies as st

from pagefmt.change.salvage.quick_check import proves_sound
from pagefmt.check.broker_reader import read_as_broker
from pagefmt.check.broker_verdict import PageContext
from pagefmt.check.page_reports import newest_of, verify_bytes
from pagefmt.codec.messages.amqp_sections import decode_sections
from pagefmt.codec.messages.amqp_values import decode_amqp_value, encode_amqp_value
from pagefmt.codec.messages.bodies import inflated, map_of, stream_of, text_of
from pagefmt.codec.messages.core_message import CoreMessage
from pagefmt.codec.messages.core_message_old import decode_old_core_message
from pagefmt.codec.messages.persisted import decode_persisted
from pagefmt.codec.messages.properties import PropertiesBlock, decode_whole_block, encode_properties
from pagefmt.codec.messages.values import TypedValue
from pagefmt.codec.pages import frames
from pagefmt.codec.pages.frames import find_behind
from pagefmt.codec.pages.page import Page
from pagefmt.codec.pages.record import PageRecord, decode_record, encode_record
from pagefmt.codec.pages.routes import route_at
from pagefmt.codec.wire import ByteReader, ByteWriter, Undecodable
from pagefmt.describe.decimal_text import decimal_text
from pagefmt.describe.message_json import BodyForm, MessageOptions, message_json
from pagefmt.describe.values_json import typed_json
from pagefmt.editions import Edition


def amqp_bytes(value: TypedValue) -> bytes:
    out = ByteWriter()
    encode_amqp_value(out, value)
    return out.done()


@given(strategies.BLOCKS)
def test_properties_come_back(block: PropertiesBlock) -> None:
    out = ByteWriter()
    encode_properties(out, block)
    again = ByteWriter()
    encode_properties(again, decode_whole_block(out.done()))
    assert again.done() == out.done()


@given(strategies.AMQP_VALUES)
def test_amqp_values_come_back(value: TypedValue) -> None:
    raw = amqp_bytes(value)
    cursor = ByteReader(raw)
    decoded = decode_amqp_value(cursor)
    cursor.finish("value")
    assert amqp_bytes(decoded) == raw
    assert typed_json(decoded) == typed_json(value)


class _FieldByField(ByteReader):
    """Its reads are noted elsewhere, so that no value is read at once."""


def _outcome(reader: ByteReader) -> tuple[str, int]:
    """Decode a value, and return it with the position after it, or the error with its offset."""
    try:
        return repr(decode_amqp_value(reader)), reader.pos
    except Undecodable as err:
        return str(err), err.offset


@given(strategies.AMQP_VALUES, st.binary(max_size=9), st.integers(0, 200), st.integers(0, 255), st.integers(0, 12))
def test_amqp_values_read_at_once_are_those_read_field_by_field(
    value: TypedValue, behind: bytes, at: int, byte: int, cut: int
) -> None:
    raw = bytearray(amqp_bytes(value))
    sound, end = bytes(raw) + behind, max(0, len(raw) - cut)
    raw[at % len(raw)] = byte
    for content in (sound, bytes(raw) + behind):
        for limit in (len(content), end):
            assert _outcome(ByteReader(content, 0, limit)) == _outcome(_FieldByField(content, 0, limit))


@given(strategies.records())
def test_records_come_back(record: PageRecord) -> None:
    raw = encode_record(record)
    decoded = decode_record(raw, 0, record.length, record.layout)
    assert repr(decoded) == repr(record)  # two values of NaN are not equal
    assert encode_record(decoded) == raw
    decoded.message.check()


@given(strategies.records())
def test_the_quick_check_knows_ordinary_core_records(record: PageRecord) -> None:
    assert proves_sound(encode_record(record), 0, record.length) == isinstance(record.message, CoreMessage)


@given(strategies.records(), st.integers(0, 1 << 16), st.integers(0, 7))
def test_what_the_quick_check_accepts_is_sound(record: PageRecord, place: int, bit: int) -> None:
    raw = bytearray(encode_record(record))
    raw[5 + place % record.length] ^= 1 << bit
    if proves_sound(bytes(raw), 0, record.length):
        decode_record(bytes(raw), 0, record.length).message.check()


@given(strategies.records())
def test_the_layout_shows_in_the_bytes(record: PageRecord) -> None:
    decoded = decode_record(encode_record(record), 0, record.length)
    assert decoded.layout == record.layout


@given(st.lists(strategies.records(), max_size=4))
def test_both_depths_read_the_same(found: list[PageRecord]) -> None:
    page = Page(b"".join(encode_record(record) for record in found if record.layout == found[0].layout))
    routes = [route[1:] for route in page.routes()]
    full = [record for _, record in page.records()]
    assert page.damage is None
    assert all(isinstance(record, PageRecord) for record in full)
    told = [
        (
            record.offset,
            record.length,
            record.tx,
            record.large_type,
            record.message.id,
            tuple(dict.fromkeys(record.queues)),
        )
        for record in full
        if isinstance(record, PageRecord)
    ]
    assert routes == told
    assert read_as_broker(page.buf, newest_of(page.layout())).whole


@given(strategies.records())
def test_messages_have_a_json_form(record: PageRecord) -> None:
    fields = message_json(record.message, MessageOptions(frozenset(BodyForm)))
    assert fields["id"] == record.message.id


NOISE = st.binary(max_size=120)
FED: list[Callable[[bytes], Any]] = [
    decode_whole_block,
    lambda raw: decode_amqp_value(ByteReader(raw)),
    lambda raw: decode_sections(ByteReader(raw)),
    lambda raw: decode_persisted(ByteReader(raw)),
    lambda raw: decode_old_core_message(ByteReader(raw)),
    lambda raw: decode_record(raw, 0, max(0, len(raw) - 6)),
    text_of,
    map_of,
    stream_of,
    lambda raw: inflated(raw, 1000),
]


@pytest.mark.parametrize("decode", FED)
@given(raw=NOISE)
def test_noise_is_refused_in_one_way(decode: Callable[[bytes], Any], raw: bytes) -> None:
    try:
        decode(raw)
    except Undecodable as err:
        assert 0 <= err.offset <= len(raw) + 6


@given(st.binary(max_size=300), st.sampled_from(Edition))
def test_noise_as_a_page(raw: bytes, edition: Edition) -> None:
    verdict = verify_bytes(Page(raw), "x.page", PageContext(last=True), edition)
    assert 0 <= verdict.bytes_read <= len(raw)


@given(st.lists(strategies.records(), min_size=1, max_size=3), st.binary(max_size=30))
def test_records_behind_noise_are_found(found: list[PageRecord], noise: bytes) -> None:
    raws = [encode_record(record) for record in found]
    starts = [len(noise) + sum(map(len, raws[:n])) for n in range(len(raws))]
    assert [record.offset for record in find_behind(noise + b"".join(raws), 0)] == starts


def nested_frames(count: int) -> bytes:
    """Return ``count`` nested frames that all end at the same byte.

    Each frame is valid, but the sections of its message are not.
    """
    head = 40
    size = head * count + 5
    out = bytearray()
    for n in range(count):
        left = size - head * n
        out += b"{" + struct.pack(">iqbbqqbi", left - 6, -1, 0, 2, 7, 0, 0, left - 36 - 5) + b"    "
    return bytes(out) + bytes(4) + b"}"


def test_the_search_behind_damage_is_linear(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = []

    def counted(buf: bytes, offset: int, length: int) -> PageRecord:
        spent.append(length)
        return decode_record(buf, offset, length)

    monkeypatch.setattr(frames, "decode_record", counted)
    raw = nested_frames(2000)
    assert route_at(raw, 0, len(raw) - 6)[5:] == (7, ())
    assert list(find_behind(raw, 0)) == []
    assert len(raw) < sum(spent) < (frames.SEARCH_FACTOR + 2) * len(raw)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("000000000012d687", "1.234567E-392"),
        ("31c0000000000001", "1"),
        ("b1c000000000007b", "-123"),
        ("31a000000000007b", "12.3"),
        ("7800000000000000", "Infinity"),
        ("f800000000000000", "-Infinity"),
        ("7c00000000000000", "NaN"),
        ("32800001", "1"),
        ("30400000000000000000000000000005", "5"),
    ],
)
def test_decimals(raw: str, text: str) -> None:
    assert decimal_text(bytes.fromhex(raw)) == text
