"""XML of messages a chunk at once is that of the reference, message by message."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import pytest
from amqp_pages import compound, fields, mixed, page, section, text, unusual, usual
from changed_records import changed_page
from generated import examples
from golden_cases import GoldenCase, cases
from harmed import data_directory
from hypothesis import given, settings
from hypothesis import strategies as st
from pagectl.app import run

from pagefmt.codec.messages.core_message import CoreMessage, HeaderBlock
from pagefmt.codec.messages.properties import properties_bytes
from pagefmt.codec.messages.values import Property, TypedValue
from pagefmt.codec.messages.values import ValueKind as Kind
from pagefmt.codec.pages.frames import FrameScan
from pagefmt.codec.pages.page import Page
from pagefmt.codec.pages.record import Layout, PageRecord, encode_record
from pagefmt.vectors import xml_elements as xml_texts
from pagefmt.vectors.amqp import structure as structure_module
from pagefmt.vectors.amqp import xml_templates
from pagefmt.vectors.routes.route_columns import IrregularPage

TEXTS = st.sampled_from(["", "plain", "_AMQ_NULL", 'a<b>&"c"\t\n\r', "\x01", "é€😀", "\ud800", "￾"]) | st.text(
    max_size=5
)
VALUES = st.one_of(
    st.builds(TypedValue, st.just(Kind.STRING), TEXTS),
    st.just(TypedValue(Kind.NULL, None)),
    st.builds(lambda yes: TypedValue(Kind.BOOLEAN, yes, int(yes)), st.booleans()),
    *(
        st.builds(TypedValue, st.just(kind), st.integers(-(1 << bits), (1 << bits) - 1))
        for kind, bits in ((Kind.BYTE, 7), (Kind.SHORT, 15), (Kind.INT, 31), (Kind.LONG, 63))
    ),
    st.builds(lambda bits: TypedValue(Kind.DOUBLE, 0.0, bits), st.integers(0, (1 << 64) - 1)),
    st.builds(lambda bits: TypedValue(Kind.FLOAT, 0.0, bits), st.integers(0, (1 << 32) - 1)),
    st.builds(TypedValue, st.just(Kind.BYTES), st.binary(max_size=4)),
    st.builds(TypedValue, st.just(Kind.CHAR), st.integers(0, 0xFFFF)),
)
MESSAGES = st.lists(
    st.tuples(
        st.lists(st.builds(Property, TEXTS, VALUES), max_size=4),
        st.binary(max_size=40),
        st.integers(-128, 127),
        st.booleans(),
        st.none() | st.binary(min_size=16, max_size=16),
        st.sampled_from([(3,), (3, 8), (8, 3), (8,), ()]),
    ),
    min_size=1,
    max_size=8,
)


@pytest.fixture(autouse=True)
def chunks_and_structures_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_texts, "_SMALL", 0)
    monkeypatch.setattr(xml_templates, "_FEWEST", 1)


def written(data: Path, to: Path) -> tuple[int, bytes]:
    to.unlink(missing_ok=True)
    status = run(["messages", "xml", str(data), "--to", str(to)])
    return status, to.read_bytes() if to.exists() else b""


def both_ways(data: Path, to: Path, capfd: pytest.CaptureFixture[str]) -> None:
    structure_module.RECENT_PLANS.clear()
    fast = written(data, to), capfd.readouterr()
    with (
        mock.patch("pagefmt.vectors.xml_elements._chunk", side_effect=IrregularPage("asked for")),
        mock.patch("pagefmt.table.joined_xml._joined_items", return_value=None),
    ):
        slow = written(data, to), capfd.readouterr()
    assert fast == slow


@pytest.mark.parametrize("case", cases("hornetq-2.4.7", "2.10.1", "2.56.0"), ids=str)
def test_golden_directories(case: GoldenCase, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    both_ways(case.data(), tmp_path / "out.xml", capfd)


def page_of(messages: list[Any]) -> bytes:
    found = b""
    for number, (entries, body, kind, durable, user, queues) in enumerate(messages):
        block = properties_bytes(tuple(entries))
        mark = 0 if user is None else 1
        header = HeaderBlock(number, 1, "news", mark, user, kind, int(durable), 0, 5, 4, block)
        message = CoreMessage(number, 1, "news", body, header)
        found += encode_record(PageRecord(number, 0, -1, 0, Layout.NEW, 1, message, queues))
    return found


@settings(max_examples=examples(60), deadline=None)
@given(messages=MESSAGES)
def test_any_core_messages(messages: list[Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("xml")
    data = data_directory(folder, {99: page_of(messages)}, address="orders")
    found = []
    for how in (None, IrregularPage("asked for")):
        with mock.patch("pagefmt.vectors.xml_elements._chunk", side_effect=how, wraps=xml_texts._chunk):
            found.append(written(data, folder / "out.xml"))
    assert found[0] == found[1]
    assert found[0][1].count(b"<message ") >= sum(3 in queues for *_, queues in messages)


def for_queue(content: bytes, queue: int) -> bytes:
    """Replace the last queue id of every record."""
    out = bytearray(content)
    for at, size in FrameScan(content):
        if size > 20:
            out[at + size - 3 : at + size + 5] = queue.to_bytes(8, "big")
    return bytes(out)


@pytest.mark.parametrize("first", range(4))
def test_changed_records(first: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    # AMQP messages are written from columns together with equal neighbours.
    for seed in range(1000 * first, 1000 * first + 12):
        pages = {n: for_queue(changed_page(Random(seed + 100 * n)), 3) for n in range(1, 4)}
        both_ways(data_directory(tmp_path / str(seed), pages, address="orders"), tmp_path / "out.xml", capfd)


@pytest.mark.parametrize("seed", range(6))
def test_amqp_messages_of_many_structures(seed: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    blocks, persister = (("orders",), ("orders", ""))[seed % 2], (5, 5, 3, 2)[seed % 4]
    pages = {n: for_queue(page(mixed(100 * n + seed, 150), persister, blocks), 3) for n in range(1, 5)}
    both_ways(data_directory(tmp_path / "data", pages, address="orders"), tmp_path / "out.xml", capfd)


def test_each_unusual_structure_in_many_messages(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pages = {
        number: for_queue(page([unusual(n)[name] for n in range(24)]), 3) for number, name in enumerate(unusual(0), 1)
    }
    both_ways(data_directory(tmp_path / "data", pages, address="orders"), tmp_path / "out.xml", capfd)


CONTENT_TYPES = (None, "application/octet-stream", "application/x-java-serialized-object", "text/plain", "a/json")
TEXTS_OF_BODIES = {
    "plain": (b"", b"a", b"ab", b"abc", b"plain text"),
    "beyond ASCII": ("größer".encode(), b"a", "\U0001f600".encode(), b"", b"abc"),
    "no UTF-8": (b"\xff\xfe", b"a", b"\xed\xa0\x80", b"", b"abc"),
}


@pytest.mark.parametrize("content_type", CONTENT_TYPES, ids=str)
@pytest.mark.parametrize("texts", TEXTS_OF_BODIES.values(), ids=TEXTS_OF_BODIES)
def test_bodies_of_each_content_type(
    content_type: str | None, texts: tuple[bytes, ...], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    pages = {}
    for number, (kind, code) in enumerate(((5, 0xA0), (5, 0xB0), (7, 0xA1), (7, 0xB1), (7, 0xA0)), 1):
        messages = []
        for n in range(40):
            named = fields(n)
            named[6] = named[6] if content_type is None else text(content_type, 0xA3)
            body = section(kind, text(texts[n % len(texts)], code))
            messages.append(usual(n, properties=section(3, compound(0xC0, *named)), body=body))
        pages[number] = for_queue(page(messages), 3)
    both_ways(data_directory(tmp_path / "data", pages, address="orders"), tmp_path / "out.xml", capfd)


def test_no_chunk_has_more_names_of_queues_than_fit_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A page of 16 MiB may name queues whose elements take gigabytes; such a chunk is left to the reference.
    data = data_directory(tmp_path / "data", {1: for_queue(page([usual(n) for n in range(300)]), 3)}, address="orders")
    wanted = written(data, tmp_path / "out.xml")
    monkeypatch.setattr(xml_texts, "_MOST_QUEUE_TEXT", 300)
    refuse = mock.Mock(side_effect=AssertionError("written from columns"))
    monkeypatch.setattr(xml_texts, "amqp_texts", refuse)
    assert written(data, tmp_path / "out.xml") == wanted


def test_messages_of_one_structure_are_not_decoded_one_by_one(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = data_directory(tmp_path / "data", {1: for_queue(page([usual(n) for n in range(300)]), 3)}, address="orders")
    both_ways(data, tmp_path / "out.xml", capfd)
    decoded: list[int] = []
    record = Page.record

    def counted(self: Page, number: int, *words: Any) -> Any:
        decoded.append(number)
        return record(self, number, *words)

    structure_module.RECENT_PLANS.clear()
    monkeypatch.setattr(Page, "record", counted)
    status, content = written(data, tmp_path / "out.xml")
    assert status == 0 and content.count(b'type="simple-string"/>') > 300 and len(decoded) < 10
