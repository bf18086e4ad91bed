"""A page through the fast decoder and through the reference decoder: JSON lines of both."""

from __future__ import annotations

from collections.abc import Iterator

from golden_cases import GoldenCase
from pagectl.commands import pages_decode
from pagectl.terminal.streams import json_text

from pagefmt.columns.json_lines import LineFormat, MessageLines, picked_lines
from pagefmt.describe.message_json import BodyForm, MessageOptions
from pagefmt.outstanding.message_filter import MessageFilter, select_messages
from pagefmt.outstanding.state import StoreState, load_state
from pagefmt.pages.frames import Damage
from pagefmt.pages.paging import PageFile

EVERY_FORM = frozenset(BodyForm)
SIZE = MessageOptions(frozenset({BodyForm.SIZE}))
ALL = MessageFilter()


def reference(
    page: PageFile, state: StoreState, wanted: MessageOptions = SIZE, choice: MessageFilter = ALL
) -> list[str | Damage]:
    run = pages_decode._Decoding(None, None, choice, wanted)  # type: ignore[arg-type]
    return [
        found if isinstance(found, Damage) else json_text(run.object_of(state.store, found))
        for found in select_messages(page, state, choice)
    ]


def fast(
    page: PageFile, state: StoreState, wanted: MessageOptions = SIZE, choice: MessageFilter = ALL
) -> tuple[list[str | Damage], int]:
    run = pages_decode._Decoding(None, None, choice, wanted)  # type: ignore[arg-type]
    made = 0
    lines: list[str | Damage] = []
    for found in picked_lines(page, state, state.store, LineFormat(wanted, json_text), choice):
        if isinstance(found, MessageLines):
            made += len(found)
            lines += str(found.content, "utf-8").split("\n")[:-1]
        else:
            lines.append(found if isinstance(found, Damage) else json_text(run.object_of(state.store, found)))
    return lines, made


def pages_of(case: GoldenCase) -> Iterator[tuple[StoreState, PageFile]]:
    data = case.data()
    for state in load_state(data / "paging", data / "journal", data / "bindings").stores():
        for page in state.store.pages:
            yield state, page
