"""The fast decoder gives the rows of the reference decoder on pages that no broker wrote."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import strategies
from generated import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_rows import same_rows

from pagefmt.codec.messages.core_message import CoreMessage, HeaderBlock
from pagefmt.codec.messages.properties import PropertiesBlock, double_of, encode_properties, float_of
from pagefmt.codec.messages.values import NULL, Property, TypedValue, ValueKind, string
from pagefmt.codec.pages.record import Layout, PageRecord, encode_record
from pagefmt.codec.wire import ByteWriter
from pagefmt.describe.arrow_schema import Detail
from pagefmt.vectors.core.parts import core_parts
from pagefmt.vectors.core.uniform_properties import alike
from pagefmt.vectors.page_columns import decode_page
from pagefmt.vectors.pages.gather import PageBytes
from pagefmt.vectors.pages.scan import scan

VALUES = {
    ValueKind.NULL: st.just(NULL),
    ValueKind.BOOLEAN: strategies.naturals(8).map(lambda byte: TypedValue(ValueKind.BOOLEAN, byte != 0, byte)),
    ValueKind.BYTE: strategies.numbers(ValueKind.BYTE, 8),
    ValueKind.SHORT: strategies.numbers(ValueKind.SHORT, 16),
    ValueKind.INT: strategies.numbers(ValueKind.INT, 32),
    ValueKind.LONG: strategies.numbers(ValueKind.LONG, 64),
    ValueKind.CHAR: strategies.naturals(16).map(lambda unit: TypedValue(ValueKind.CHAR, unit)),
    ValueKind.FLOAT: strategies.naturals(32).map(float_of),
    ValueKind.DOUBLE: strategies.naturals(64).map(double_of),
    ValueKind.BYTES: st.binary(max_size=12).map(lambda raw: TypedValue(ValueKind.BYTES, raw)),
    ValueKind.STRING: strategies.TEXT.map(string),
}
SHAPES = st.lists(st.tuples(strategies.TEXT, st.sampled_from(list(VALUES))), max_size=8, unique_by=lambda each: each[0])


def record(entries: list[Property], body: bytes, number: int, user: bytes | None, queues: tuple[int, ...]) -> bytes:
    out = ByteWriter()
    encode_properties(out, PropertiesBlock(1 if entries or number % 2 else 0, tuple(entries)))
    header = HeaderBlock(number, 1, "a.b", int(user is not None), user, 3, 1, 0, number, 4, out.done())
    message = CoreMessage(number, 1, "a.b", body, header)
    return encode_record(PageRecord(0, 0, -1, 0, Layout.NEW, 1, message, queues))


@st.composite
def similar(draw: st.DrawFn) -> list[bytes]:
    """Draw records of which most share the names and types of their properties."""
    shape, size, user = draw(SHAPES), draw(st.none() | st.integers(0, 20)), draw(st.booleans())
    found = []
    for number in range(draw(st.integers(1, 6))):
        mine = shape
        if draw(st.integers(0, 7)) == 0:
            mine = draw(st.permutations(shape) | st.just(shape[1:]) | SHAPES)
        entries = [Property(name, draw(VALUES[kind])) for name, kind in mine]
        body = draw(st.binary(max_size=20) if size is None else st.binary(min_size=size, max_size=size))
        found.append(record(entries, body, number, bytes(16) if user or number == 5 else None, (3, 7)))
    return found


def same(content: bytes) -> None:
    got = decode_page(PageBytes(content), 7, Detail.BODIES)
    assert same_rows(got.table, content, Detail.BODIES)


@given(similar())
def test_messages_of_one_shape_and_a_few_others(found: list[bytes]) -> None:
    same(b"".join(found))


@given(similar(), st.integers(0, 1 << 16), st.integers(1, 255))
def test_a_changed_byte_never_parts_the_two_decoders(found: list[bytes], at: int, mask: int) -> None:
    content = bytearray(b"".join(found))
    content[at % len(content)] ^= mask
    same(bytes(content))


@settings(max_examples=examples(60))
@given(st.lists(strategies.records(), max_size=5))
def test_messages_of_all_kinds(found: list[PageRecord]) -> None:
    same(b"".join(encode_record(replace(each, offset=0)) for each in found))


def test_messages_of_one_shape_are_read_as_a_table() -> None:
    # A slow decoder would still be correct, so only this test shows it.
    shape = {
        "first": ValueKind.INT,
        "text": ValueKind.STRING,
        "none": ValueKind.NULL,
        "raw": ValueKind.BYTES,
        "flag": ValueKind.BOOLEAN,
    }
    values = {
        ValueKind.INT: 7,
        ValueKind.STRING: "x",
        ValueKind.NULL: None,
        ValueKind.BYTES: b"abc",
        ValueKind.BOOLEAN: True,
    }
    found = [
        record([Property(name, TypedValue(kind, values[kind])) for name, kind in shape.items()], b"", n, None, (3,))
        for n in range(3)
    ]
    page = PageBytes(b"".join(found))
    frames = scan(page)
    parts = core_parts(page, frames.offset + 5, frames.length)
    columns = alike(page, parts.properties_at, parts.block_end)
    assert columns is not None
    assert [column.name.decode("utf-16-le") for column in columns] == list(shape)
    assert columns[0].values is not None and columns[0].values.tolist() == [7, 7, 7]
    assert [bytes(page.u8[at : at + 3]) for at in columns[3].at] == [b"abc"] * 3


def test_a_signalling_nan_is_nothing_to_warn_of() -> None:
    odd = float_of(0x7FA00001)
    others = [[Property("n", value)] for value in (odd, float_of(0x3F800000), NULL)]
    for shape in (others[:1] * 4, others):
        with np.errstate(invalid="raise"), warnings.catch_warnings(action="error"):
            same(b"".join(record(entries, b"", n, None, (3,)) for n, entries in enumerate(shape)))


def test_nothing_but_messages_that_do_not_decode() -> None:
    broken = bytearray(record([], b"", 1, None, (3,)))
    broken[-14:-10] = b"\xff" * 4
    of_amqp = bytes(broken[:14]) + b"\x05" + bytes(broken[15:])
    same((bytes(broken) + of_amqp) * 3)
