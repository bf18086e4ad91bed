"""The fast JSON lines are, byte for byte, those of the reference decoder: on every golden page, sound or damaged."""

from __future__ import annotations

import pytest
from golden_cases import GoldenCase, cases
from pagectl.commands import pages_decode
from pagectl.streams import json_text

from pagefmt.columns.json_lines import Form, Lines, picked_lines
from pagefmt.editions import NEWEST
from pagefmt.frames import Damage
from pagefmt.message_json import BodyForm, Wanted
from pagefmt.outstanding import StoreState, load_state
from pagefmt.paging import PageFile, Store
from pagefmt.selection import Choice, pick


def reference(page: PageFile, state: StoreState, store: Store) -> list[str | Damage]:
    run = pages_decode._Run(None, None, Choice(), Wanted(frozenset({BodyForm.SIZE})))  # type: ignore[arg-type]
    return [
        found if isinstance(found, Damage) else json_text(run.object_of(store, found))
        for found in pick(page, state, Choice())
    ]


def fast(page: PageFile, state: StoreState, store: Store) -> tuple[list[str | Damage], int]:
    run = pages_decode._Run(None, None, Choice(), Wanted(frozenset({BodyForm.SIZE})))  # type: ignore[arg-type]
    made = 0
    lines: list[str | Damage] = []
    for found in picked_lines(page, state, store, Form(True, NEWEST, json_text)):
        if isinstance(found, Lines):
            made += len(found)
            lines += str(found.content, "utf-8").split("\n")[:-1]
        else:
            lines.append(found if isinstance(found, Damage) else json_text(run.object_of(store, found)))
    return lines, made


@pytest.mark.parametrize("case", cases(), ids=str)
def test_lines_are_those_of_the_reference(case: GoldenCase) -> None:
    data = case.data()
    for state in load_state(data / "paging", data / "journal", data / "bindings").stores():
        for page in state.store.pages:
            lines, _ = fast(page, state, state.store)
            assert lines == reference(page, state, state.store), page.path


def test_most_lines_are_made_fast() -> None:
    made = total = 0
    for case in cases("2.56.0"):
        data = case.data()
        for state in load_state(data / "paging", data / "journal", data / "bindings").stores():
            for page in state.store.pages:
                lines, fast_ones = fast(page, state, state.store)
                made, total = made + fast_ones, total + len(lines)
    assert made > 0.75 * total > 1000
