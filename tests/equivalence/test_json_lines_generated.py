"""JSON lines of generated pages are the reference's: messages built alike, and some in their midst that are not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import strategies
from both_decoders import ALL, EVERY_FORM, SIZE, assert_same_lines, assert_same_verdict, pages_of
from generated import examples
from golden_cases import cases
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pagefmt.codec.messages.amqp_message import AmqpMessage, ExtraProperties
from pagefmt.codec.messages.amqp_values import encode_amqp_value
from pagefmt.codec.messages.bodies import COMPRESSED
from pagefmt.codec.messages.core_fields import MAP, STREAM, TEXT
from pagefmt.codec.messages.core_message import CoreMessage, HeaderBlock
from pagefmt.codec.messages.properties import properties_bytes
from pagefmt.codec.messages.values import NULL, Property, TypedValue, ValueKind, string
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.record import Layout, PageRecord, encode_record
from pagefmt.codec.wire import ByteWriter
from pagefmt.describe.arrow_schema import Detail
from pagefmt.describe.message_json import MessageOptions
from pagefmt.outstanding.message_filter import MessageFilter
from pagefmt.outstanding.state import StoreState
from pagefmt.selector import parse
from pagefmt.vectors.page_columns import decode_page
from pagefmt.vectors.pages.gather import PageBytes

SOME = settings(
    max_examples=examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
NAMES = st.sampled_from(["color", "n", "é", 'quo"te', "x-opt-jms-dest"])
PLAIN_TEXT = st.text(st.sampled_from('ab1 "\\\né\U0001f600'), max_size=9)


def text_body(text: str) -> bytes:
    encoded = text.encode("utf-16-le", "surrogatepass")
    return b"\x01" + len(encoded).to_bytes(4, "big") + encoded


MAP_BODIES = strategies.PROPERTIES.map(properties_bytes)
STREAM_ITEMS = st.sampled_from([b"\x06\x00\x00\x00\x07", b"\x0a\x00", b"\x0a\x01\x00\x00\x00\x01\x00a", b"\x02\x01"])
TYPED_BODIES = st.one_of(
    st.tuples(st.just(TEXT), st.one_of(strategies.TEXT.map(text_body), PLAIN_TEXT.map(text_body), st.just(b"\x00"))),
    st.tuples(st.just(MAP), MAP_BODIES),
    st.tuples(st.just(STREAM), st.lists(STREAM_ITEMS, max_size=3).map(b"".join)),
    st.tuples(st.sampled_from([TEXT, MAP, STREAM, 0, 4]), strategies.BODIES),
)


ENTRIES = st.lists(st.builds(Property, NAMES, strategies.PROPERTY_VALUES), max_size=3)
ONE_IN_TEN, THREE_IN_FOUR = st.integers(0, 9), st.integers(0, 3)
COMPRESSION = st.sampled_from(COMPRESSED)
IDS, TIMES = strategies.integers(64), strategies.naturals(40)
PERSISTERS = st.sampled_from([2, 3, 5])


@st.composite
def core(draw: st.DrawFn) -> CoreMessage:
    """Draw a message with a typed body, which may be truncated, have a trailing byte or be marked as compressed."""
    kind, body = draw(TYPED_BODIES)
    body = draw(st.sampled_from([body, body, body, body[:-1], body + b"\x00"]))
    entries = list(draw(ENTRIES))
    if draw(ONE_IN_TEN) == 0:
        entries.append(Property(draw(COMPRESSION), TypedValue(ValueKind.BOOLEAN, True, 1)))
    block = properties_bytes(tuple(entries))
    header = HeaderBlock(9, 1, "a", 0, None, kind, 1, 0, 1_700_000_000_000, 4, block)
    return CoreMessage(draw(IDS), 1, "a", body, header)


KEYS = NAMES.map(string)
MAPS = st.dictionaries(KEYS, strategies.AMQP_VALUES, max_size=3).map(
    lambda each: TypedValue(ValueKind.MAP, tuple(each.items()))
)
IDENTIFIERS = st.one_of(
    PLAIN_TEXT.map(string),
    strategies.naturals(64).map(lambda value: TypedValue(ValueKind.ULONG, value)),
    st.binary(max_size=4).map(lambda raw: TypedValue(ValueKind.BYTES, raw)),
    st.just(TypedValue(ValueKind.UUID, bytes(range(16)))),
)


def field(values: st.SearchStrategy[TypedValue]) -> st.SearchStrategy[TypedValue]:
    return st.just(NULL) | values


def described(code: int, value: TypedValue) -> TypedValue:
    return TypedValue(ValueKind.DESCRIBED, (TypedValue(ValueKind.ULONG, code, 0x53), value))


TEXTS = PLAIN_TEXT.map(string)
PRIORITY = field(strategies.naturals(8).map(lambda value: TypedValue(ValueKind.UBYTE, value)))
AN_IDENTIFIER, A_TEXT = field(IDENTIFIERS), field(TEXTS)
A_TIME = field(TIMES.map(lambda value: TypedValue(ValueKind.TIMESTAMP, value)))
AMQP_BODIES = st.one_of(
    st.tuples(st.just(0x77), strategies.AMQP_VALUES),
    st.tuples(st.just(0x77), TEXTS),
    st.tuples(st.just(0x75), st.binary(max_size=9).map(lambda raw: TypedValue(ValueKind.BYTES, raw))),
    st.tuples(st.just(0x76), st.just(TypedValue(ValueKind.LIST, (string("x"),)))),
)


@st.composite
def sections(draw: st.DrawFn) -> list[TypedValue]:
    """Draw the sections of an AMQP message in order, each of them optional."""
    durable = TypedValue(ValueKind.BOOLEAN, True, 0x41)
    header = (durable, draw(PRIORITY))
    fields = (
        draw(AN_IDENTIFIER),
        NULL,
        draw(A_TEXT),
        draw(A_TEXT),
        NULL,
        draw(AN_IDENTIFIER),
        NULL,
        NULL,
        draw(A_TIME),
        draw(A_TIME),
    )
    body = draw(AMQP_BODIES)
    every = [
        (0x70, TypedValue(ValueKind.LIST, header)),
        (0x71, draw(MAPS)),
        (0x72, draw(MAPS)),
        (0x73, TypedValue(ValueKind.LIST, fields)),
        (0x74, draw(MAPS)),
        body,
        (0x78, draw(MAPS)),
    ]
    return [described(*each) for each in every if draw(THREE_IN_FOUR)]


@st.composite
def amqp(draw: st.DrawFn) -> AmqpMessage:
    out = ByteWriter()
    for section in draw(sections()):
        encode_amqp_value(out, section)
    persister = draw(PERSISTERS)
    expiration = draw(TIMES) if persister == 5 else None
    return AmqpMessage(persister, draw(IDS), 0, 1, "a", out.done(), ExtraProperties(0, None), expiration)


def records_of(message: CoreMessage | AmqpMessage, times: int) -> Iterator[PageRecord]:
    """Yield records of one message, with rising ids and alternating queues."""
    persister = message.persister if isinstance(message, AmqpMessage) else 1
    for n in range(times):
        name = "id" if isinstance(message, AmqpMessage) else "outer_id"
        again = replace(message, **{name: message.id // 2 + n})
        yield PageRecord(0, 0, -1, 0, Layout.NEW, persister, again, (3, 4 + n % 2))


STRETCHES = st.tuples(st.one_of(core(), amqp()), st.integers(1, 4)).map(lambda each: list(records_of(*each)))
PAGES = st.lists(st.one_of(STRETCHES, strategies.records().map(lambda each: [each])), min_size=1, max_size=6)


def with_annotation(value: TypedValue) -> AmqpMessage:
    """Encode an AMQP message that consists of one annotation with the value."""
    out = ByteWriter()
    encode_amqp_value(out, described(0x72, TypedValue(ValueKind.MAP, ((string("color"), value),))))
    return AmqpMessage(2, 0, 0, 1, "a", out.done(), ExtraProperties(0, None), None)


LONE = [[*records_of(with_annotation(TypedValue(ValueKind.LIST, (string("a\ud800"),))), 2)]]
"""A text that Java can hold and UTF-8 cannot, inside of a value that a column holds as JSON."""
SELECTORS = (
    "color IS NULL", "color = 'a' OR n > 0.5", "n BETWEEN -9 AND 1000000 AND AMQPriority > 3", "1 = 1",
    "color LIKE '%a%' OR AMQUserID LIKE 'ID:%' OR AMQDurable = 'DURABLE'", "JMSCorrelationID IS NOT NULL OR n = 1",
    "AMQTimestamp > 0 OR AMQExpiration > 5 OR AMQAddress = 'a'", "n / 2 > color OR n",
    '"a\udcff" IS NULL', "_AMQ_AD = 'a'",
)  # fmt: skip


def by_selector(text: str) -> MessageFilter:
    return MessageFilter(selector=parse(text))


@pytest.fixture(scope="module")
def known() -> tuple[StoreState, PageFile]:
    """Load a store that has a journal, and one of its pages."""
    return next(pages_of(next(case for case in cases("2.56.0") if case.name == "scattered-acks")))


@SOME
@given(PAGES)
@example(LONE)
def test_lines_of_made_pages(known: tuple[StoreState, PageFile], tmp_path: Path, made: list[list[PageRecord]]) -> None:
    state, first = known
    page = first._replace(folder=tmp_path)
    content = b"".join(encode_record(record) for stretch in made for record in stretch)
    page.path.write_bytes(content)
    assert_same_verdict(content)
    assert_same_lines(page, state, [SIZE, MessageOptions(EVERY_FORM), MessageOptions(EVERY_FORM, inflate=True)])
    for choice in (ALL, MessageFilter(frozenset({4})), MessageFilter(outstanding=True), *map(by_selector, SELECTORS)):
        assert_same_lines(page, state, choice=choice)


def test_a_lone_surrogate_inside_of_a_list_is_replaced_in_columns() -> None:
    content = b"".join(encode_record(record) for record in LONE[0])
    rows = decode_page(PageBytes(content), 7, Detail.BODIES).table.column("amqp").to_pylist()
    texts = [dict(row["message_annotations"])["color"]["json"] for row in rows]
    assert texts == ['[{"type":"string","value":"a�"}]'] * 2
