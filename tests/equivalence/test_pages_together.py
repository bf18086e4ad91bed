"""Small pages read together give what each gives by itself: rows, what is damaged, and their order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from golden_cases import GoldenCase, cases, cases_of_each_kind, spread
from pagectl.terminal.streams import json_text
from table_rows import plain

from pagefmt.describe.message_json import BodyForm, MessageOptions
from pagefmt.outstanding.message_filter import MessageFilter
from pagefmt.outstanding.message_location import PageOrigin
from pagefmt.outstanding.state import StoreState
from pagefmt.selector import parse
from pagefmt.selector.facts import IdIs, joined
from pagefmt.table.joined_pages import joined_batches
from pagefmt.table.json_lines import LineFormat, MessageLines, lines_together, rows_together
from pagefmt.table.table import PageSource, TableDamage, TableQuery, page_batches
from pagefmt.table.table_body import TableBody
from pagefmt.vectors import load_state

NOW = 1_800_000_000_000
QUERIES = {
    "bodies": TableQuery(TableBody.BASE64),
    "texts": TableQuery(TableBody.TEXT, columns=frozenset(("page", "number", "offset", "body_text", "outstanding"))),
    "selector": TableQuery(where=parse("AMQPriority > 3 AND (color = 'red' OR seq < 40)")),
    "located": TableQuery(located=True),
    "coded": TableQuery(located=True, coded=True),
    "headers": TableQuery(
        TableBody.VALUE, headers=lambda batch: np.asarray(batch.column(batch.schema.get_field_index("number"))) % 2 == 0
    ),
}


def sources(store: StoreState, query: TableQuery) -> Iterator[PageSource]:
    for page in store.store.pages:
        origin = PageOrigin(store.queues or {}, None, None, NOW, page.name) if query.located else None
        rule = store.rule(page.number)
        yield PageSource(page, page.number, store.store.name, store.store.address, rule, origin=origin)


def rows_and_damage(found: Iterable[tuple[int, pa.RecordBatch | TableDamage]], query: TableQuery) -> list[Any]:
    """Collect rows and damage in their order.

    Rows that the header filter excludes may be delivered, and are dropped.
    """
    every: list[Any] = []
    for n, each in found:
        if isinstance(each, TableDamage):
            every.append((n, each))
        else:
            each.validate(full=True)
            every += map(plain, (each.filter(pa.array(query.headers(each))) if query.headers else each).to_pylist())
    return every


def same(data: Path, query: TableQuery) -> list[Any]:
    """Read a directory page by page and with pages joined; return the rows after asserting that both are equal."""
    stores = list(load_state(data / "paging", data / "journal", data / "bindings").stores())

    def every() -> Iterator[PageSource]:
        return (source for store in stores for source in sources(store, query))

    alone = ((n, found) for n, source in enumerate(every()) for found in page_batches(source, query))
    expected = rows_and_damage(alone, query)
    assert rows_and_damage(joined_batches(every(), query), query) == expected
    return expected


CHOICES = {
    "all": MessageFilter(),
    "outstanding": MessageFilter(outstanding=True),
    "selector": MessageFilter(selector=parse("AMQPriority > 3 AND (color = 'red' OR seq < 40)")),
    "id": MessageFilter(selector=joined([IdIs(frozenset(range(40, 60)))], None)),
}


def same_lines(data: Path, choice: MessageFilter, *, located: bool) -> int:
    """Assert that rows and finished lines are those of each page by itself. Return how many come of several pages."""
    form, shared = LineFormat(MessageOptions(frozenset((BodyForm.SIZE,))), json_text), 0
    query = TableQuery(located=located)
    for store in load_state(data / "paging", data / "journal", data / "bindings").stores():
        pages, options = list(sources(store, query)), (store, store.store, form, choice)
        alone = [(n, each) for n, page in enumerate(pages) for _, each in rows_together([page], *options)]
        together = [(n, each) for n, each in rows_together(pages, *options)]
        assert together == alone
        text = b"".join(
            bytes(each.content) for _, each in lines_together(pages, *options) if isinstance(each, MessageLines)
        )
        shared += sum(json.loads(line)["number"] == 0 for line in text.splitlines())
    return shared


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("case", spread(cases_of_each_kind(), 3), ids=str)
def test_lines_of_golden_directories(case: GoldenCase, choice: str) -> None:
    same_lines(case.data(), CHOICES[choice], located=choice != "selector")


@pytest.mark.parametrize("case", cases_of_each_kind(), ids=str)
def test_golden_directories(case: GoldenCase) -> None:
    same(case.data(), QUERIES["bodies"])


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("case", spread(cases_of_each_kind(), 3), ids=str)
def test_whatever_is_asked(case: GoldenCase, name: str) -> None:
    same(case.data(), QUERIES[name])


def harmed(chance: Random, folder: Path) -> Path:
    """Copy a directory of one message a page, and truncate, change, extend or repeat pages or replace them by links."""
    data = next(case for case in cases("2.56.0") if case.name == "one-per-page").copy(folder)
    for path in sorted(data.glob("paging/*/*.page")):
        content = bytearray(path.read_bytes())
        match chance.randrange(9):
            case 0:
                path.write_bytes(content[: chance.randrange(len(content))])
            case 1:
                content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
                path.write_bytes(content)
            case 2:
                path.write_bytes(content + chance.randbytes(chance.randrange(1, 40)))
            case 3:
                path.write_bytes(content * 3)
            case 4:
                path.unlink()
                path.symlink_to("/etc/hostname")
            case _:
                pass
    return data


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("seed", range(12))
def test_damaged_pages_among_sound_ones(tmp_path: Path, seed: int, name: str) -> None:
    assert any(type(each) is tuple for each in same(harmed(Random(seed), tmp_path / "data"), QUERIES[name]))


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("seed", range(6))
def test_lines_of_damaged_pages(tmp_path: Path, seed: int, choice: str) -> None:
    data = harmed(Random(seed), tmp_path / "data")
    assert same_lines(data, CHOICES[choice], located=seed % 2 == 0) or choice in ("selector", "id")
