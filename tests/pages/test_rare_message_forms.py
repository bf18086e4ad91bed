"""Forms that no golden case holds: old persisters, odd section orders, embedded and compressed bodies."""

from __future__ import annotations

import zlib
from dataclasses import replace

import pytest
from golden_cases import cases

from pagefmt.codec.messages.amqp_message import NO_EXTRA, AmqpLargeMessage, AmqpMessage
from pagefmt.codec.messages.amqp_sections import decode_sections
from pagefmt.codec.messages.bodies import inflated, map_of, stream_of, text_of
from pagefmt.codec.messages.core_message import CoreMessage, HeaderBlock
from pagefmt.codec.messages.persisted import decode_persisted, encode_persisted
from pagefmt.codec.messages.properties import double_of, float_of, properties_bytes
from pagefmt.codec.messages.values import Property, TypedValue, ValueKind
from pagefmt.codec.pages.frames import FrameScan
from pagefmt.codec.pages.record import Layout, PageRecord, decode_record, encode_record, frame
from pagefmt.codec.pages.routes import route_at
from pagefmt.codec.wire import ByteReader, ByteWriter, Undecodable
from pagefmt.describe.message_json import BodyForm, MessageOptions, message_json

HEADER = bytes.fromhex("005370c0020141")
PROPERTIES = bytes.fromhex("005373d00000000e000000034040a1066f7264657273")
APPLICATION = bytes.fromhex("005374c11204a1016e5407a105636f6c6f72a103726564")
BODY = bytes.fromhex("005377a1026869")


def amqp(persister: int, encoded: bytes, address: str | None = "orders") -> AmqpMessage:
    mark = 0 if address is None else 1
    return AmqpMessage(persister, 7, 0, mark, address, encoded, NO_EXTRA, 0 if persister == 5 else None)


def framed(message: AmqpMessage) -> bytes:
    return encode_record(PageRecord(0, 0, -1, 0, Layout.NEW, message.persister, message, (5,)))


@pytest.mark.parametrize("persister", [2, 3, 5])
def test_standard_amqp_of_every_age(persister: int) -> None:
    raw = framed(amqp(persister, HEADER + PROPERTIES + APPLICATION + BODY))
    record = decode_record(raw, 0, len(raw) - 6)
    assert (record.persister, record.message.id, record.queues) == (persister, 7, (5,))
    assert encode_record(record) == raw
    assert route_at(raw, 0, len(raw) - 6)[5:] == (7, (5,))
    extra = message_json(record.message, MessageOptions())["amqp"]["extra_properties"]
    assert extra == ({"_AMQ_AD": "orders"} if persister == 2 else None)


def large_amqp() -> PageRecord:
    for case in cases("2.56.0", "2.28.0"):
        if case.name == "large-amqp":
            for path in sorted(case.data().glob("paging/*/*.page")):
                raw = path.read_bytes()
                for at, length in FrameScan(raw):
                    if raw[at + 13] == 2:
                        return decode_record(raw, at, length)
    raise AssertionError("no large AMQP message among the golden cases")


@pytest.mark.parametrize("queues", [0, 1, 2, 5])
def test_both_forms_of_large_amqp(queues: int) -> None:
    found = replace(large_amqp(), queues=tuple(range(queues)))
    assert isinstance(found.message, AmqpLargeMessage)
    assert found.message.tail is not None
    for message in (found.message, replace(found.message, tail=None)):
        raw = encode_record(replace(found, message=message))
        record = decode_record(raw, 0, len(raw) - 6)
        assert record.message == message
        assert record.queues == found.queues
        assert route_at(raw, 0, len(raw) - 6)[5:] == (message.id, found.queues)


def test_sections_in_any_order() -> None:
    delivery = bytes.fromhex("005371c10100")
    usual = decode_sections(ByteReader(HEADER + PROPERTIES + APPLICATION + BODY))
    turned = decode_sections(ByteReader(delivery + HEADER + PROPERTIES + APPLICATION + BODY))
    assert (turned.header, turned.properties) == (usual.header, usual.properties)
    assert turned.delivery_annotations is not None


def test_a_late_section_is_decoded_but_not_scanned() -> None:
    message = amqp(5, APPLICATION + PROPERTIES + HEADER + BODY, None)
    assert message.sections().late
    assert message.address is None
    assert not message.durable
    assert [name for name, _ in message.scanned().application()] == ["n", "color"]


def test_the_address_is_found_elsewhere() -> None:
    assert amqp(5, HEADER + PROPERTIES + APPLICATION + BODY, None).address == "orders"


def core(kind: int, body: bytes, *entries: Property) -> CoreMessage:
    header = HeaderBlock(1, 1, "a", 0, None, kind, 1, 0, 0, 4, properties_bytes(entries))
    return CoreMessage(1, 1, "a", body, header)


def test_properties_are_values_by_name_and_types_that_json_does_not_show() -> None:
    # If a name comes twice, the last value and its type count.
    entries = [
        ("twice", TypedValue(ValueKind.LONG, 1)),
        ("b", TypedValue(ValueKind.BOOLEAN, True, 1)),
        ("twice", TypedValue(ValueKind.INT, 2)),
        ("price", double_of(0x3FF8000000000000)),
        ("never", float_of(0x7FC00000)),
        ("raw", TypedValue(ValueKind.BYTES, b"\x01\xff")),
        ("none", TypedValue(ValueKind.NULL, None)),
        ("s", TypedValue(ValueKind.STRING, "x")),
    ]
    fields = message_json(core(4, b"", *(Property(*entry) for entry in entries)), MessageOptions())
    assert list(fields["properties"].items()) == [
        ("b", True),
        ("never", "NaN"),
        ("none", None),
        ("price", 1.5),
        ("raw", "01ff"),
        ("s", "x"),
        ("twice", 2),
    ]
    assert fields["property_types"] == {"never": "float", "price": "double", "raw": "bytes"}


def test_a_message_behind_its_persister_id() -> None:
    out = ByteWriter()
    encode_persisted(out, amqp(5, HEADER + BODY))
    found = decode_persisted(ByteReader(out.done()))
    assert isinstance(found, AmqpMessage)
    assert found.address == "orders"


COMPRESSED = Property("_AMQ_LARGE_COMPRESSED", TypedValue(ValueKind.BOOLEAN, True, 1))
TEXT = b"\x01\x00\x00\x00\x04h\x00i\x00"


def test_a_compressed_body_is_inflated_only_when_asked() -> None:
    message = core(3, zlib.compress(TEXT), COMPRESSED)
    forms = frozenset((BodyForm.TEXT,))
    refused = message_json(message, MessageOptions(forms))
    assert refused["body_text"] is None
    assert "compressed" in refused["body_error"]
    assert message_json(message, MessageOptions(forms, inflate=True))["body_text"] == "hi"


def test_a_bomb_is_refused() -> None:
    with pytest.raises(Undecodable, match="more than 1000 bytes"):
        inflated(zlib.compress(bytes(10_000_000)), 1000)
    with pytest.raises(Undecodable, match="cut off"):
        inflated(zlib.compress(bytes(1000))[:-3], 10000)


@pytest.mark.parametrize("kind", [3, 5, 6])
def test_a_body_that_does_not_fit_its_type_is_shown_as_hex(kind: int) -> None:
    fields = message_json(core(kind, b"\xff\xff\xff"), MessageOptions(frozenset((BodyForm.TEXT, BodyForm.VALUE))))
    assert fields["body_hex"] == "ffffff"
    assert fields["body_error"]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("0a 01 00000002 0061 0062", "ab"),
        ("0a 01 0000000a 000a 30313233343536373839", "0123456789"),
        ("0a 01 0000000f 0012 c3a9 e282ac 30313233343536372020202020", "é€01234567     "),
        ("0a 00", None),
    ],
)
def test_strings_of_a_stream(raw: str, text: str | None) -> None:
    [item] = stream_of(bytes.fromhex(raw))
    assert item.value == text


def test_long_strings_and_lone_surrogates() -> None:
    long = "x" * 5000
    body = b"\x0a\x01" + (5000).to_bytes(4, "big") + (10000).to_bytes(4, "big") + long.encode("utf-16-le")
    assert stream_of(body)[0].value == long
    assert text_of(b"\x01\x00\x00\x00\x02\x00\xd8") == "\ud800"
    assert map_of(b"\x01" + bytes(3) + b"\x01" + bytes(3) + b"\x02k\x00\x0b\x00\x5a")[0].value.value == 0x5A


def test_the_example_of_the_format_description() -> None:
    # The record is 2.44.0's: text message 1001 to "orders", body "hi", n=7, color="red", queue 7; the other is 1.5.6's.
    head = "ffffffffffffffff00"
    block = (
        "00000000000003e9010000000c6f0072006400650072007300 00 03 {} 0000000000000000 0000018bcfe56800 04"
        "01 00000002 000000026e00 06 00000007 0000000a63006f006c006f007200 0a 00000006720065006400"
    )
    queues = "00000001 0000000000000007"
    new = f"{head} 01 00000000000003e9 010000000c6f0072006400650072007300 00000063 00000016 010000000468006900"
    old = f"{head} 00000067 0000001a 010000000468006900 00000074"
    for prefix, mark in ((new, "01"), (old, "ff")):
        raw = frame(bytes.fromhex(prefix + block.format(mark) + queues))
        record = decode_record(raw, 0, len(raw) - 6)
        fields = message_json(record.message, MessageOptions(frozenset((BodyForm.TEXT,))))
        assert (fields["id"], fields["address"], fields["body_text"]) == (1001, "orders", "hi")
        assert list(fields["properties"].items()) == [("color", "red"), ("n", 7)]
        assert encode_record(record) == raw
