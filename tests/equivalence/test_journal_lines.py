"""Messages of the journal: finished lines, tables and the reference give the same of each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import golden_cases
import pyarrow as pa
import pytest
from golden_cases import GoldenCase
from pagectl.terminal.streams import json_text

from pagefmt.codec.messages.large import LargeMessages
from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page import open_page
from pagefmt.describe.message_json import BodyForm, MessageOptions
from pagefmt.outstanding import journal_parts
from pagefmt.outstanding.journal_parts import JournalPart, JournalParts
from pagefmt.outstanding.message_filter import MessageFilter, wanted_messages
from pagefmt.outstanding.message_location import PageOrigin
from pagefmt.table.json_lines import LineFormat, MessageLines, picked_lines
from pagefmt.table.message_row import selected_row
from pagefmt.table.table import PageSource, TableQuery, page_batches
from pagefmt.vectors import load_state

EVERY = MessageFilter()


def large_of(case: GoldenCase) -> LargeMessages:
    return LargeMessages(case.data() / "large-messages")


def parts_of(case: GoldenCase) -> list[JournalPart]:
    data = case.data()
    state = load_state(data / "paging", data / "journal", data / "bindings")
    return [part for part in JournalParts(state, large_of(case)).parts() if isinstance(part, JournalPart)]


def lines_of(source: Any, page: Any, origin: Any, options: MessageOptions) -> list[dict[str, Any]]:
    found = []
    for each in picked_lines(page, source, source.store, LineFormat(options, json_text), EVERY, origin):
        if isinstance(each, MessageLines):
            found += [json.loads(line) for line in bytes(each.content).decode().splitlines()]
        elif not isinstance(each, Damage):
            found.append(selected_row(source.store, each, options, origin))
    return found


@pytest.mark.parametrize("case", golden_cases.cases_of_each_kind(), ids=str)
def test_lines_are_those_of_the_reference(case: GoldenCase, monkeypatch: pytest.MonkeyPatch) -> None:
    options = MessageOptions(frozenset((BodyForm.SHA256, BodyForm.TEXT)), large_of(case))
    for chunk in (journal_parts.CHUNK, 2000):
        monkeypatch.setattr(journal_parts, "CHUNK", chunk)
        for part in parts_of(case):
            with open_page(part.page) as opened:
                reference = [
                    selected_row(part.store, each, options, part.origin)
                    for each in wanted_messages(part.page, opened, part.rule_of, EVERY)
                    if not isinstance(each, Damage)
                ]
            assert lines_of(part, part.page, part.origin, options) == reference


@pytest.mark.parametrize("case", golden_cases.cases_of_each_kind(), ids=str)
def test_tables_say_what_lines_say(case: GoldenCase) -> None:
    options = MessageOptions(large=large_of(case))
    data = case.data()
    state = load_state(data / "paging", data / "journal", data / "bindings")
    sources: list[tuple[Any, Any, Any]] = [(part, part.page, part.origin) for part in parts_of(case)]
    for known in state.stores():
        for page in known.store.pages:
            sources.append((known, page, PageOrigin(known.queues or {}, None, large_of(case), 0, page.name)))
    for known, page, origin in sources:
        source = PageSource(
            page, page.number, known.store.name, known.store.address, known.rule(page.number), origin=origin
        )
        batches = [each for each in page_batches(source, TableQuery(located=True)) if isinstance(each, pa.RecordBatch)]
        rows = [row for batch in batches for row in batch.to_pylist()]
        lines = [line for line in lines_of(known, page, origin, options) if "damage" not in line]
        for row, line in zip([row for row in rows if row["where"] is not None], lines, strict=True):
            for name in ("page", "number", "offset", "length", "queues", "acked_by", "where", "file"):
                assert row[name] == line[name], name
            states = {
                each["queue"]: {
                    "state": each["state"],
                    "delivery_count": each["delivery_count"],
                    "scheduled": each["scheduled"],
                }
                | ({"why": each["why"]} if each["why"] else {})
                for each in row["queues_state"]
            }
            assert states == line["queues_state"]


def test_memory_is_bounded_by_the_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    case = golden_cases.GoldenCase("2.56.0", "journal-mix")
    monkeypatch.setattr(journal_parts, "CHUNK", 2000)
    parts = parts_of(case)
    assert len(parts) > 3
    assert all(part.page.size < 2000 + 1500 for part in parts)
    assert Path(case.data()).is_dir()
