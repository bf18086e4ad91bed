"""CSV from columns is CSV from messages that were read one by one, byte for byte, with the same warnings and status."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import made_pages
import pytest
import strategies
from generated import examples
from golden_cases import GoldenCase, cases, spread
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutated_directories import mutated
from pagectl.decoding.columns import CELL_COLUMNS
from program import Answer, call

from pagefmt.codec.pages.record import encode_record

EACH = ",".join(sorted(CELL_COLUMNS))
CALLS = (
    ("pages", "decode"),
    ("messages", "decode"),
    ("messages", "decode", "--outstanding"),
    ("messages", "find", "--where", "AMQPriority > 3"),
    ("messages", "decode", "--columns", EACH, "--limit", "7"),
)
SOME = settings(
    max_examples=examples(40), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def answers(data: Path, monkeypatch: pytest.MonkeyPatch, plain: int) -> list[Answer]:
    """Run the calls.

    ``plain``: bytes of pages that are read record by record before columns are used.
    """
    monkeypatch.setattr("pagectl.decoding.run.PLAIN", plain)
    return [call(*words[:2], data, *words[2:], "--format", "csv") for words in CALLS]


def assert_alike(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert answers(data, monkeypatch, 0) == answers(data, monkeypatch, 1 << 40)


@pytest.mark.parametrize("case", spread(cases(), 6), ids=str)
def test_golden_directories(case: GoldenCase, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_alike(case.data(), monkeypatch)


@pytest.mark.parametrize("seed", spread(range(60), 6))
def test_changed_directories(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_alike(mutated(seed)[1].write(tmp_path / "data"), monkeypatch)


NASTY = (
    "",
    "a",
    "-1",
    "=1+1",
    "+2",
    "@x",
    "\t",
    "a\tb",
    "a,b",
    'say "yes"',
    "two\nlines",
    "\r",
    "é",
    "\U0001f600",
    "\u0085",
    "\u200b",
    "\x1b[31m",
    "\x7f",
    "\ud800",
    "\ufffd",
)


def test_texts_that_are_special_in_csv_or_on_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n, text in enumerate(NASTY):
        page = b"".join(
            made_pages.message(each, "a", "body", {"plain": "x", f"n{each}": text, text or "z": "1"}) for each in (1, 2)
        )
        made_pages.store(tmp_path / str(n) / "paging", "a", {1: page})
        assert_alike(tmp_path / str(n), monkeypatch)


@SOME
@given(records=st.lists(strategies.records(), min_size=1, max_size=5))
def test_any_records(
    records: list[Any], tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("made")
    made_pages.store(folder / "paging", "a", {1: b"".join(map(encode_record, records))})
    assert_alike(folder, monkeypatch)
