"""A page through the fast decoder and through the reference decoder: JSON lines of both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import pytest
from golden_cases import GoldenCase
from pagectl.terminal.streams import json_text

from pagefmt.check.broker_verdict import PageContext
from pagefmt.check.page_reports import verify_bytes
from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page import Page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.describe.message_json import BodyForm, MessageOptions
from pagefmt.outstanding.message_filter import MessageFilter, select_messages
from pagefmt.outstanding.state import PagingState, StoreState
from pagefmt.table.json_lines import LineFormat, MessageLines, picked_lines
from pagefmt.table.message_row import selected_row
from pagefmt.vectors import load_state, sound_records

EVERY_FORM = frozenset(BodyForm)
SIZE = MessageOptions(frozenset({BodyForm.SIZE}))
ALL = MessageFilter()


def references(
    page: PageFile, state: StoreState, forms: Iterable[MessageOptions], choice: MessageFilter = ALL
) -> list[list[str | Damage]]:
    """Return the reference decoder's lines in each form, decoding every record once."""
    found = list(select_messages(page, state, choice))
    return [
        [each if isinstance(each, Damage) else json_text(selected_row(state.store, each, wanted)) for each in found]
        for wanted in forms
    ]


def fast(
    page: PageFile, state: StoreState, wanted: MessageOptions = SIZE, choice: MessageFilter = ALL
) -> tuple[list[str | Damage], int]:
    made = 0
    lines: list[str | Damage] = []
    for found in picked_lines(page, state, state.store, LineFormat(wanted, json_text), choice):
        if isinstance(found, MessageLines):
            made += len(found)
            lines += str(found.content, "utf-8").split("\n")[:-1]
        else:
            lines.append(found if isinstance(found, Damage) else json_text(selected_row(state.store, found, wanted)))
    return lines, made


def assert_same_lines(
    page: PageFile,
    state: StoreState,
    forms: Sequence[MessageOptions] = (SIZE,),
    choice: MessageFilter = ALL,
    about: object = "",
) -> list[tuple[int, int]]:
    """Assert that both decoders give the same lines in each form.

    Return for each form how many lines the fast decoder made, and how many there are.
    """
    counts = []
    for wanted, expected in zip(forms, references(page, state, forms, choice), strict=True):
        lines, made = fast(page, state, wanted, choice)
        assert lines == expected, (page.path, wanted, choice, about)
        counts.append((made, len(lines)))
    return counts


def assert_same_verdict(content: bytes, about: object = None) -> int:
    """Assert that ``verify`` gives the same verdict with and without columns.

    Return how many records the columns prove sound.
    """
    found = []
    for plain in (len(content), 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sound_records, "_SMALL", plain + 1)
            patch.setattr(sound_records, "PLAIN", -1)
            found.append(verify_bytes(Page(content), "x.page", PageContext(last=True)))
            sound = sound_records.SoundRecords(Page(content))
            proven = sum(sound.hold(offset, length) for _, offset, length in Page(content).frames())
    assert found[0] == found[1], about
    return proven


@cache
def state_of(case: GoldenCase) -> PagingState:
    """Load a golden directory once for all tests, which must not change it."""
    data = case.data()
    return load_state(data / "paging", data / "journal", data / "bindings")


@cache
def stores_of(case: GoldenCase) -> list[StoreState]:
    return list(state_of(case).stores())


def pages_of(case: GoldenCase) -> Iterator[tuple[StoreState, PageFile]]:
    return ((state, page) for state in stores_of(case) for page in state.store.pages)
