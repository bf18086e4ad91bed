"""The fast JSON lines are, byte for byte, those of the reference decoder: on every golden page, sound or damaged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from golden_cases import GoldenCase, cases
from pagectl.commands import pages_decode
from pagectl.streams import json_text

from pagefmt.columns.json_lines import Form, Lines, picked_lines
from pagefmt.editions import NEWEST, Edition
from pagefmt.frames import Damage
from pagefmt.message_json import BodyForm, Wanted
from pagefmt.outstanding import StoreState, load_state
from pagefmt.paging import PageFile, Store
from pagefmt.selection import Choice, pick


def reference(page: PageFile, state: StoreState, store: Store, edition: Edition) -> list[str | Damage]:
    wanted = Wanted(frozenset({BodyForm.SIZE}), edition=edition)
    run = pages_decode._Run(None, None, Choice(), wanted)  # type: ignore[arg-type]
    return [
        found if isinstance(found, Damage) else json_text(run.object_of(store, found))
        for found in pick(page, state, Choice())
    ]


def fast(page: PageFile, state: StoreState, store: Store, edition: Edition) -> tuple[list[str | Damage], int]:
    wanted = Wanted(frozenset({BodyForm.SIZE}), edition=edition)
    run = pages_decode._Run(None, None, Choice(), wanted)  # type: ignore[arg-type]
    made = 0
    lines: list[str | Damage] = []
    for found in picked_lines(page, state, store, Form(True, edition, json_text)):
        if isinstance(found, Lines):
            made += len(found)
            lines += str(found.content, "utf-8").split("\n")[:-1]
        else:
            lines.append(found if isinstance(found, Damage) else json_text(run.object_of(store, found)))
    return lines, made


@pytest.mark.parametrize("case", cases(), ids=str)
def test_lines_are_those_of_the_reference(case: GoldenCase) -> None:
    data = case.data()
    editions = (NEWEST, Edition.ARTEMIS_2_28, Edition.ARTEMIS_2_17) if "amqp" in case.name else (NEWEST,)
    for state in load_state(data / "paging", data / "journal", data / "bindings").stores():
        for page in state.store.pages:
            for edition in editions:
                lines, _ = fast(page, state, state.store, edition)
                assert lines == reference(page, state, state.store, edition), page.path


def test_most_lines_are_made_fast() -> None:
    made = total = 0
    for case in cases("2.56.0"):
        data = case.data()
        for state in load_state(data / "paging", data / "journal", data / "bindings").stores():
            for page in state.store.pages:
                lines, fast_ones = fast(page, state, state.store, NEWEST)
                made, total = made + fast_ones, total + len(lines)
    assert made > 0.9 * total > 1000


FLIPS = [("2.56.0/amqp-sections", 53), ("2.17.0/amqp", 97), ("2.56.0/core-types", 97)]


@pytest.mark.parametrize(
    ("name", "step"),
    [(name, 13 * step) for name, step in FLIPS] + [pytest.param(*each, marks=pytest.mark.slow) for each in FLIPS],
)
def test_flipped_bits_never_part_the_two_decoders(name: str, step: int, tmp_path: Path) -> None:
    """Bits of a small page, one after the other: the same lines, and the same damage."""
    case = next(case for case in cases() if str(case) == name)
    data = case.data()
    state = next(iter(load_state(data / "paging", data / "journal", data / "bindings").stores()))
    first = state.store.pages[0]
    content = first.path.read_bytes()[:4000]
    page = replace(first, path=tmp_path / first.path.name)
    for bit in range(0, len(content) * 8, step):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << (bit % 8)
        page.path.write_bytes(flipped)
        assert fast(page, state, state.store, NEWEST)[0] == reference(page, state, state.store, NEWEST), bit
