"""Stored messages as payloads of deliveries: what is said anew, and that all other bytes stay."""

from __future__ import annotations

from pathlib import Path

import pytest
from golden_cases import GOLDEN, unpacked
from pagectl.sending.frames import Frames, FramesOut, NotAmqp
from pagectl.sending.messages import StoredMessages

from pagefmt.codec.messages.amqp_message import NO_EXTRA, AmqpMessage
from pagefmt.codec.messages.amqp_sections import decode_sections
from pagefmt.codec.messages.core_message import CoreMessage, HeaderBlock, decode_core_message
from pagefmt.codec.messages.large import LargeMessages
from pagefmt.codec.messages.properties import PropertiesBlock, Property, encode_properties
from pagefmt.codec.messages.values import TypedValue, ValueKind
from pagefmt.codec.wire import ByteReader, ByteWriter
from pagefmt.directory.locate import within
from pagefmt.exchange.outgoing import MessageFormat, SendingWay, outgoing, own_duplicate_id
from pagefmt.vectors import load_place

DATA = b"\0\x53\x75\xa0\x03abc"
TTL = b"\0\x53\x70\xc0\x08\x03\x41\x40\x70\x00\x00\x10\x00"
ANNOTATIONS = b"\0\x53\x72\xc1\x08\x02\xa3\x03x-a\xa0\x00"
APPLICATION = b"\0\x53\x74\xc1\x05\x02\xa1\x01k\x41"


def amqp(content: bytes, expiration: int | None = None) -> AmqpMessage:
    return AmqpMessage(5, 7, 0, 1, "a", content, NO_EXTRA, expiration)


def core(properties: bytes = b"\0") -> CoreMessage:
    header = HeaderBlock(7, 1, "a", 0, None, 3, 1, 0, 5, 4, properties)
    return CoreMessage(7, 1, "a", b"\0", header)


def sent(message: AmqpMessage | CoreMessage, *, scheduled: int = 0, tunnel: bool = True) -> bytes:
    return outgoing(message, None, tunnel=tunnel, duplicate_id="id", scheduled=scheduled, now=1000).head


@pytest.mark.parametrize("front", [b"", ANNOTATIONS, TTL + ANNOTATIONS])
@pytest.mark.parametrize("application", [b"", APPLICATION])
def test_only_the_duplicate_id_is_added(front: bytes, application: bytes) -> None:
    content = sent(amqp(front + application + DATA))
    assert content.startswith(front)
    assert content.endswith(DATA)
    found = dict(decode_sections(ByteReader(content)).application())
    assert found.pop("_AMQ_DUPL_ID") == TypedValue(ValueKind.STRING, "id", 0xB1)
    assert found == dict(decode_sections(ByteReader(application)).application())


def test_a_time_to_live_is_what_is_left_of_it() -> None:
    header = decode_sections(ByteReader(sent(amqp(TTL + DATA, 3500)))).header
    assert header is not None
    assert (header.durable, header.priority, header.ttl) == (True, None, 2500)


@pytest.mark.parametrize(("tunnel", "left"), [(True, 3_000_000_000), (False, (1 << 31) - 1)])
def test_a_long_time_to_live_is_cut_where_brokers_take_it_for_the_past(tunnel: bool, left: int) -> None:
    made = outgoing(amqp(TTL + DATA, 3_000_001_000), None, tunnel=tunnel, duplicate_id="id", scheduled=0, now=1000)
    header = decode_sections(ByteReader(made.head)).header
    assert header is not None and header.ttl == left
    assert bool(made.lost) is not tunnel


def test_a_delivery_time_is_added_where_only_the_queue_knows_it() -> None:
    content = sent(amqp(TTL + ANNOTATIONS + DATA), scheduled=99)
    section = decode_sections(ByteReader(content)).message_annotations
    assert section is not None
    assert [(str(key.value), value.value) for key, value in section.value] == [
        ("x-a", b""),
        ("x-opt-delivery-time", 99),
    ]


def test_a_core_message_goes_as_it_is_but_for_the_id() -> None:
    content = sent(core())
    assert content[:4] == b"\0\x53\x75\xb0"
    out = ByteWriter()
    out.i64(1)
    out.nsstr("a")
    out.raw(content[8:])
    found = decode_core_message(ByteReader(out.done()))
    assert (found.body, found.timestamp) == (b"\0", 5)
    assert own_duplicate_id(found) == "id"
    assert own_duplicate_id(core()) is None


def test_a_core_message_is_converted_where_it_cannot_go_as_it_is() -> None:
    made = outgoing(core(), None, tunnel=False, duplicate_id="id", scheduled=77, now=1000)
    assert (made.way, made.format, made.lost) == (SendingWay.CONVERTED, MessageFormat.AMQP, ())
    sections = decode_sections(ByteReader(made.head))
    assert sections.header is not None and sections.header.durable
    assert {name: value.value for name, value in sections.application()} == {"_AMQ_DUPL_ID": "id"}
    annotations = {str(key.value): value.value for key, value in sections.message_annotations.value}  # type: ignore[union-attr]
    assert annotations == {"x-opt-jms-msg-type": 5, "x-opt-jms-dest": 0, "x-opt-delivery-time": 77}


def test_a_compressed_body_is_inflated_where_it_is_converted(tmp_path: Path) -> None:
    # Compression may have made a large message a small one.
    root = unpacked(GOLDEN / "2.28.0" / "large-compressed.tar.zst") / "data"
    place = within(root)
    state = load_place(place)
    large = LargeMessages(root / "large-messages")
    (queue,) = (each for each in state.bindings.queues.values() if each.name == "zipped")
    sizes: dict[bool, list[int]] = {True: [], False: []}
    for each in StoredMessages(place, state, None, large).of(queue):
        assert each.message is not None
        made = outgoing(each.message, large, tunnel=False, duplicate_id="id", scheduled=0, now=1000)
        (body,) = decode_sections(ByteReader(b"".join(made.parts()))).body
        sizes[each.message.large].append(len(body.value.value))
    assert sizes[True] == [14_000, 14_003, 14_006, 14_009]
    assert sizes[False] == [20_100, 20_200, 20_400, 20_500, 20_700, 20_800, 21_000, 21_100]


def test_a_transfer_gets_the_format_of_its_tag() -> None:
    frame = bytes.fromhex("0000001b020000000053 14c0090452 0143a0023131 43 7878787878".replace(" ", ""))
    wire = FramesOut((), {ord("0"): 0, ord("1"): 0x468C0100})
    first, second = wire.filtered(frame[:9]), wire.filtered(frame[9:])
    assert first == b""
    assert second == bytes.fromhex("0000001f02000000005314c00d04520143a002313170468c01007878787878")
    plain = frame.replace(b"\x31\x31\x43", b"\x30\x31\x43")
    assert wire.filtered(plain) == plain


def test_what_is_no_amqp_is_known() -> None:
    with pytest.raises(NotAmqp):
        list(Frames().cut(b"HTTP/1.1 400 Bad Request\r\n"))


@pytest.mark.parametrize("life", sorted((GOLDEN / "lives").glob("*.tar.zst")), ids=lambda path: path.name)
def test_the_order_is_the_same_at_any_time(life: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A run that continues must find the messages that the one before sent, though more are due by now.
    place = within(unpacked(life) / "data")
    found = []
    for now in (1.0, 4e9):
        monkeypatch.setattr("time.time", lambda now=now: now)
        state = load_place(place)
        stored = StoredMessages(place, state, None, None)
        assert state.bindings is not None
        queues = state.bindings.queues.values()
        found.append({queue.name: [each.id for each in stored.of(queue)] for queue in queues})
    assert any(found[0].values())
    assert found[0] == found[1]


def test_a_converted_message_names_the_routing_type_of_its_queue() -> None:
    """A message that management moved from a multicast queue to an anycast one still names the first."""
    block = ByteWriter()
    entry = Property("_AMQ_ROUTING_TYPE", TypedValue(ValueKind.BYTE, 0))
    encode_properties(block, PropertiesBlock(1, (entry,)))
    for routing, topic in ((None, 1), (0, 1), (1, 0)):
        message = core(block.done())
        made = outgoing(message, None, tunnel=False, duplicate_id="id", scheduled=0, now=1000, routing=routing)
        assert (b"x-opt-jms-dest\x51" + bytes([topic])) in made.head
