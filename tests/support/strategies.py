"""Generated values, messages, records: what a broker could have written, and a little more."""

from __future__ import annotations

from hypothesis import strategies as st

from pagefmt.codec.messages.amqp_message import AmqpMessage, ExtraProperties
from pagefmt.codec.messages.amqp_values import encode_amqp_value
from pagefmt.codec.messages.core_message import CoreLargeMessage, CoreMessage, HeaderBlock
from pagefmt.codec.messages.core_message_old import OldCoreMessage
from pagefmt.codec.messages.properties import PropertiesBlock, double_of, encode_properties, float_of, properties_bytes
from pagefmt.codec.messages.values import NULL, Property, TypedValue, ValueKind
from pagefmt.codec.pages.record import Layout, PageRecord, encode_payload
from pagefmt.codec.wire import ByteWriter

# any UTF-16 text that Java can hold, lone surrogates included
TEXT = st.text(st.characters(exclude_categories=[]), max_size=12)
MARK = st.integers(1, 255)


def integers(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)


def naturals(bits: int) -> st.SearchStrategy[int]:
    return st.integers(0, (1 << bits) - 1)


def numbers(kind: ValueKind, bits: int) -> st.SearchStrategy[TypedValue]:
    return integers(bits).map(lambda value: TypedValue(kind, value))


SHARED = st.one_of(
    numbers(ValueKind.BYTE, 8),
    numbers(ValueKind.SHORT, 16),
    numbers(ValueKind.INT, 32),
    numbers(ValueKind.LONG, 64),
    naturals(32).map(float_of),
    naturals(64).map(double_of),
    st.binary(max_size=12).map(lambda raw: TypedValue(ValueKind.BYTES, raw)),
)
PROPERTY_VALUES = st.one_of(
    st.just(NULL),
    naturals(8).map(lambda byte: TypedValue(ValueKind.BOOLEAN, byte != 0, byte)),
    SHARED,
    naturals(16).map(lambda unit: TypedValue(ValueKind.CHAR, unit)),
    TEXT.map(lambda text: TypedValue(ValueKind.STRING, text)),
)
PROPERTIES = st.lists(st.builds(Property, TEXT, PROPERTY_VALUES), max_size=4).map(tuple)
BLOCKS = st.one_of(st.just(PropertiesBlock(0, ())), st.builds(PropertiesBlock, MARK, PROPERTIES))

AMQP_SIMPLE = st.one_of(
    st.just(TypedValue(ValueKind.NULL, None)),
    st.sampled_from(
        [
            TypedValue(ValueKind.BOOLEAN, True, 0x41),
            TypedValue(ValueKind.BOOLEAN, False, 0x42),
            TypedValue(ValueKind.UINT, 0, 0x43),
        ]
    ),
    SHARED,
    naturals(8).map(lambda value: TypedValue(ValueKind.UBYTE, value)),
    naturals(16).map(lambda value: TypedValue(ValueKind.USHORT, value)),
    naturals(32).map(lambda value: TypedValue(ValueKind.UINT, value)),
    naturals(64).map(lambda value: TypedValue(ValueKind.ULONG, value)),
    integers(64).map(lambda value: TypedValue(ValueKind.TIMESTAMP, value)),
    st.binary(min_size=16, max_size=16).map(lambda raw: TypedValue(ValueKind.UUID, raw)),
    st.binary(min_size=8, max_size=8).map(lambda raw: TypedValue(ValueKind.DECIMAL64, raw)),
    TEXT.map(lambda text: TypedValue(ValueKind.STRING, text)),
    st.text(st.characters(max_codepoint=127), max_size=8).map(lambda text: TypedValue(ValueKind.SYMBOL, text)),
)
AMQP_VALUES = st.recursive(
    AMQP_SIMPLE,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: TypedValue(ValueKind.LIST, tuple(items))),
        st.lists(st.tuples(inner, inner), max_size=3).map(lambda pairs: TypedValue(ValueKind.MAP, tuple(pairs))),
        st.tuples(inner, inner).map(lambda pair: TypedValue(ValueKind.DESCRIBED, pair)),
        st.lists(naturals(8).map(lambda value: TypedValue(ValueKind.UBYTE, value)), max_size=3).map(
            lambda items: TypedValue(ValueKind.ARRAY, tuple(items))
        ),
    ),
    max_leaves=8,
)


@st.composite
def headers(draw: st.DrawFn) -> HeaderBlock:
    user_mark = draw(naturals(8))
    address = draw(st.none() | TEXT)
    block = ByteWriter()
    encode_properties(block, draw(BLOCKS))
    return HeaderBlock(
        id=draw(integers(64)),
        address_mark=0 if address is None else draw(MARK),
        address=address,
        user_mark=user_mark,
        user_bytes=draw(st.binary(min_size=16, max_size=16)) if user_mark == 1 else None,
        type=draw(integers(8)),
        durable_mark=draw(naturals(8)),
        expiration=draw(integers(64)),
        timestamp=draw(integers(64)),
        priority=draw(integers(8)),
        properties_bytes=block.done(),
    )


BODIES = st.binary(max_size=40)
CORE = st.builds(
    lambda identity, mark, address, body, header: CoreMessage(
        identity, 0 if address is None else mark, address, body, header
    ),
    integers(64),
    MARK,
    st.none() | TEXT,
    BODIES,
    headers(),
)
OLD = st.builds(OldCoreMessage, BODIES, headers())
LARGE = st.builds(CoreLargeMessage, headers())


@st.composite
def amqp_bodies(draw: st.DrawFn) -> bytes:
    out = ByteWriter()
    described = (TypedValue(ValueKind.ULONG, 0x77, 0x53), draw(AMQP_VALUES))
    encode_amqp_value(out, TypedValue(ValueKind.DESCRIBED, described))
    return out.done()


@st.composite
def amqp_messages(draw: st.DrawFn) -> AmqpMessage:
    persister = draw(st.sampled_from([2, 3, 5]))
    address = draw(st.none() | TEXT)
    block = PropertiesBlock(1, draw(PROPERTIES.filter(len)))
    extra = ExtraProperties(len(properties_bytes(block.entries)), block)
    return AmqpMessage(
        persister=persister,
        id=draw(integers(64)),
        message_format=draw(integers(64)),
        address_mark=0 if address is None else draw(MARK),
        stored_address=address,
        encoded=draw(amqp_bodies()),
        extra=extra if persister != 2 and draw(st.booleans()) else ExtraProperties(0, None),
        stored_expiration=draw(integers(64)) if persister == 5 else None,
    )


@st.composite
def records(draw: st.DrawFn) -> PageRecord:
    """Draw a record at offset 0 of its own page."""
    message = draw(st.one_of(CORE, OLD, LARGE, amqp_messages()))
    layout, persister, large_type, stated = Layout.NEW, None, 0, None
    if isinstance(message, CoreMessage):
        persister = 1
    elif isinstance(message, OldCoreMessage):
        out = ByteWriter()
        message.encode(out)
        layout, stated = Layout.OLD, len(out.out)
    elif isinstance(message, AmqpMessage):
        persister = message.persister
    else:
        large_type = draw(st.sampled_from([1, -1]))
    queues = tuple(draw(st.lists(integers(64), max_size=3)))
    record = PageRecord(0, 0, draw(integers(64)), large_type, layout, persister, message, queues, stated)
    size = len(encode_payload(record))
    return PageRecord(0, size, record.tx, large_type, layout, persister, message, queues, stated)
