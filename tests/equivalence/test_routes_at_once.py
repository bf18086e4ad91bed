"""Vectorised routes and acknowledgement states equal the reference, or the page is left to it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import golden_cases
import pytest
import strategies
from both_decoders import stores_of
from generated import examples
from golden_cases import GoldenCase
from hypothesis import given, settings
from hypothesis import strategies as st
from page_routes import whole_page
from small_pages import NEW_PAGE, OLD_PAGE

from pagefmt.codec.pages.page import Page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.record import encode_record
from pagefmt.codec.pages.routes import Route
from pagefmt.journal.positions import PositionIndex, Positions
from pagefmt.outstanding.ack_state import AckState, PageRule
from pagefmt.outstanding.named_queues import ACK_STATES
from pagefmt.outstanding.overview import overview
from pagefmt.vectors.pages.chunks import read_chunks
from pagefmt.vectors.routes import route_columns as routes_module
from pagefmt.vectors.routes.ack_state_columns import ack_state_columns
from pagefmt.vectors.routes.route_columns import IrregularPage, RouteColumns, route_columns, routed


def routes_of(routes: RouteColumns) -> list[Route]:
    """Return the routes row by row in the reference's form, where each queue id of a record comes once."""
    ids: dict[int, tuple[int, ...]] = {}
    rows = list(range(len(routes)))
    for named in routes.named:
        where = rows[named.rows] if isinstance(named.rows, slice) else named.rows.tolist()
        ids |= {row: tuple(dict.fromkeys(its)) for row, its in zip(where, named.ids.tolist(), strict=True)}
    offsets, sizes = (routes.offset + routes.base).tolist(), routes.size.tolist()
    tx = [-1] * len(rows) if routes.tx is None else routes.tx.tolist()
    messages = routes.messages().tolist()
    return [(row + routes.first, offsets[row], sizes[row] - 6, tx[row], 0, messages[row], ids[row]) for row in rows]


def reference(content: bytes) -> tuple[list[Route], bool]:
    """Return all routes of a page, and whether a broker finds no fault in it.

    Transactions below -1 become -1 and large types 0, as in ``routes_of``.
    """
    page = Page(content)
    found = [(*route[:3], max(route[3], -1), 0, *route[5:]) for route in page.routes()]
    return found, page.damage is None and page.odd is None


def same(content: bytes, rule: PageRule | None = None) -> bool:
    """Return False if the page is irregular; otherwise assert that its routes equal those of the reference."""
    try:
        routes = whole_page(content)
    except IrregularPage:
        return False
    expected, sound = reference(content)
    assert sound
    assert [(*route[:3], max(route[3], -1), *route[4:]) for route in routes_of(routes)] == expected
    named = sorted((queue, route[0]) for route in expected for queue in route[6])
    assert named == [(queue, row) for queue, rows in routes.queues() for row in list_of(routes, rows)]
    if rule is not None:
        assert decided(rule, [routes]) == sorted(
            (queue, number, ack_state)
            for number, _, _, tx, _, _, queues in Page(content).routes()
            for queue, ack_state in rule.ack_states(number, tx, queues)
        )
    return True


def list_of(routes: RouteColumns, rows: Any) -> list[int]:
    return list(range(len(routes)))[rows] if isinstance(rows, slice) else rows.tolist()


def decided(rule: PageRule, found: list[RouteColumns]) -> list[tuple[int, int, AckState]]:
    return sorted(
        (queue, row + routes.first, ACK_STATES[code])
        for routes in found
        for queue, rows, codes in ack_state_columns(rule, routes)
        for row, code in zip(list_of(routes, rows), codes.tolist(), strict=True)
    )


@pytest.mark.parametrize("case", golden_cases.cases_of_each_kind(), ids=str)
def test_golden_pages(case: GoldenCase) -> None:
    for store in stores_of(case):
        for page in store.store.pages:
            content = page.path.read_bytes()
            assert same(content, store.rule(page.number)) or not reference(content)[1]


@pytest.mark.parametrize("case", golden_cases.cases_of_each_kind(), ids=str)
def test_what_is_outstanding(case: GoldenCase, monkeypatch: pytest.MonkeyPatch) -> None:
    for store in stores_of(case):
        decided_by_size = store.summary(positions=True), overview(store)
        with monkeypatch.context() as patched:
            patched.setattr(routes_module, "SMALL", -1)
            assert (store.summary(positions=True), overview(store)) == decided_by_size
        assert store.vectors is not None
        by_record = replace(store, vectors=None)
        assert (by_record.summary(positions=True), overview(by_record)) == decided_by_size


@pytest.mark.parametrize(
    "archive", golden_cases.damage_verdicts("pages"), ids=lambda path: f"{path.parent.name}-{path.name[6:-8]}"
)
def test_damaged_pages(archive: Path) -> None:
    for path in golden_cases.unpacked(archive).glob("*.page"):
        content = path.read_bytes()
        assert same(content) == reference(content)[1], path.name


@pytest.mark.parametrize("content", [NEW_PAGE, OLD_PAGE], ids=["new", "old"])
def test_every_flipped_bit(content: bytes) -> None:
    assert same(content)
    for bit in range(len(content) * 8):
        flipped = bytearray(content)
        flipped[bit >> 3] ^= 1 << (bit & 7)
        same(bytes(flipped))


QUEUE = st.integers(3, 6)
TX = st.integers(-2, 5)
QUEUES_OF_A_RECORD = st.lists(QUEUE, max_size=3).map(tuple)
RECORDS = st.lists(strategies.records(), max_size=8)
SENDS = st.sets(st.integers(0, 4))
ACKS = st.lists(st.tuples(QUEUE, st.integers(1, 2), st.integers(-1, 9)), max_size=20)


@st.composite
def journals(draw: st.DrawFn) -> Any:
    """Draw the parts of a journal that page rules query."""

    def index(found: list[tuple[int, int, int]]) -> PositionIndex:
        positions = Positions()
        for each in found:
            positions.add(0, *each)
        return PositionIndex(positions.chunks)

    return SimpleNamespace(
        ack_index=index(draw(ACKS)),
        complete_index=index(draw(ACKS)[:3]),
        in_doubt_acks=index(draw(ACKS)),
        in_doubt_sends=frozenset(draw(SENDS)),
        page_transactions=dict.fromkeys(draw(SENDS), 1),
    )


@st.composite
def page_contents(draw: st.DrawFn) -> bytes:
    return b"".join(
        encode_record(replace(each, tx=draw(TX), queues=draw(QUEUES_OF_A_RECORD))) for each in draw(RECORDS)
    )


@given(page_contents(), journals(), st.none() | st.sets(QUEUE), st.none() | st.integers(0, 8), st.data())
@settings(max_examples=examples(150), deadline=None)
def test_generated_pages(
    content: bytes, journal: Any, queues: set[int] | None, end: int | None, data: st.DataObject
) -> None:
    rule = PageRule(journal, queues, 1)
    if end is not None:
        rule = rule.ending_at(end)
    assert same(content, rule) or not reference(content)[1]
    changed = bytearray(content)
    for at in data.draw(st.lists(st.integers(0, max(0, len(content) - 1)), max_size=3)) if content else []:
        changed[at] = data.draw(st.integers(0, 255))
    same(bytes(changed), rule)


def test_in_small_pieces(tmp_path: Path) -> None:
    state = stores_of(GoldenCase("2.56.0", "basic"))[0]
    source = max(state.store.pages, key=lambda page: page.size)
    content = source.path.read_bytes()
    expected, _ = reference(content)
    for size in (300, 5000, len(content) - 1):
        found = [route_columns(page, frames) for page, frames in read_chunks(source.path, size)]
        assert len(found) > 1
        assert [route for routes in found for route in routes_of(routes)] == expected
        rule = state.rule(source.number)
        assert decided(rule, found) == decided(rule, [whole_page(content)])
    torn = tmp_path / "000000001.page"
    torn.write_bytes(content[:-1])
    with pytest.raises(IrregularPage):
        list(routed(PageFile(1, torn.parent, torn.name, len(content) - 1)))
