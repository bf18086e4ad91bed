"""XML of core messages a chunk at once is that of the reference, message by message."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from golden_cases import GoldenCase, cases
from harmed import data_directory
from hypothesis import given, settings
from hypothesis import strategies as st
from pagectl.app import run

from pagefmt.columns import xml_texts
from pagefmt.messages.core_message import CoreMessage, HeaderBlock
from pagefmt.messages.properties import properties_bytes
from pagefmt.messages.values import Property, TypedValue
from pagefmt.messages.values import ValueKind as Kind
from pagefmt.outstanding.route_columns import IrregularPage
from pagefmt.pages.record import Layout, PageRecord, encode_record

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
        st.lists(st.builds(Property, TEXTS, VALUES), max_size=4), st.binary(max_size=40), st.integers(-128, 127),
        st.booleans(), st.none() | st.binary(min_size=16, max_size=16),
        st.sampled_from([(3,), (3, 8), (8, 3), (8,), ()]),
    ),
    min_size=1, max_size=8,
)  # fmt: skip


def written(data: Path, to: Path) -> tuple[int, bytes]:
    to.unlink(missing_ok=True)
    status = run(["messages", "xml", str(data), "--to", str(to)])
    return status, to.read_bytes() if to.exists() else b""


def both_ways(data: Path, to: Path, capfd: pytest.CaptureFixture[str]) -> None:
    fast = written(data, to), capfd.readouterr()
    with mock.patch("pagefmt.columns.xml_texts._chunk", side_effect=IrregularPage("asked for")):
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


@settings(max_examples=60, deadline=None)
@given(messages=MESSAGES)
def test_any_core_messages(messages: list[Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("xml")
    data = data_directory(folder, {99: page_of(messages)}, address="orders")
    found = []
    for how in (None, IrregularPage("asked for")):
        with mock.patch("pagefmt.columns.xml_texts._chunk", side_effect=how, wraps=xml_texts._chunk):
            found.append(written(data, folder / "out.xml"))
    assert found[0] == found[1]
    assert found[0][1].count(b"<message ") >= sum(3 in queues for *_, queues in messages)
