"""``pages verify`` with columns and vectors says what it says record by record."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest
from both_decoders import assert_same_verdict, pages_of
from golden_cases import GoldenCase, cases, spread
from mutated_directories import mutated

from pagefmt.check.broker_verdict import PageContext
from pagefmt.check.cross.survey import survey_page, survey_with_care
from pagefmt.check.page_reports import verify_page
from pagefmt.storage import files
from pagefmt.storage.files import NotReadable
from pagefmt.vectors import load_state, sound_records
from pagefmt.vectors.routes import route_columns

CASES = cases()


@pytest.mark.parametrize("case", spread(CASES, 5), ids=str)
def test_pages_of_brokers(case: GoldenCase) -> None:
    draw = Random(str(case))
    for _, page in pages_of(case):
        content = bytearray(page.path.read_bytes()[: 1 << 20])
        assert_same_verdict(bytes(content), page)
        for _ in range(5 if content else 0):
            content[draw.randrange(len(content))] ^= 1 << draw.randrange(8)
            assert_same_verdict(bytes(content), page)


def test_ordinary_messages_are_proven_to_be_sound() -> None:
    proven: Counter[str] = Counter()
    for case in CASES:
        for _, page in pages_of(case):
            proven[case.version] += assert_same_verdict(page.path.read_bytes())
    assert {version for version, count in proven.items() if count > 100} >= {"2.56.0", "2.28.0", "artemis-1.5.6"}


def test_chunks_and_records_longer_than_these(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = {case: count_of(case) for case in CASES[::7]}
    monkeypatch.setattr(sound_records, "CHUNK", 700)
    for case, count in expected.items():
        assert 0 <= count_of(case) <= count


def count_of(case: GoldenCase) -> int:
    return sum(assert_same_verdict(page.path.read_bytes(), page) for _, page in pages_of(case))


def test_a_file_that_is_read_in_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sound_records, "_SMALL", 1)
    monkeypatch.setattr(sound_records, "PLAIN", -1)
    monkeypatch.setattr(sound_records, "CHUNK", 5000)
    for _, page in (each for case in CASES[::9] for each in pages_of(case)):
        expected = verify_page(page, PageContext(last=True))
        with monkeypatch.context() as patch:
            patch.setattr(files, "WHOLE", 1000)
            patch.setattr(files, "_AHEAD", 1 << 14)
            assert verify_page(page, PageContext(last=True)) == expected, page


def surveyed(data: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Assert that both surveys of every page agree, and return how many pages vectors apply to."""
    monkeypatch.setattr(route_columns, "SMALL", 0)
    at_once = 0
    state = load_state(data / "paging", data / "journal", data / "bindings")
    for store in state.stores():
        for page in store.store.pages:
            for bodies in (False, True):
                with_care = survey_with_care(store, page, bodies=bodies)
                assert survey_page(store, page, bodies=bodies) == with_care, (page, bodies)
                at_once += vectors_apply(page)
    return at_once


def vectors_apply(page: route_columns.PageFile) -> bool:
    try:
        return bool(list(route_columns.routed(page)))
    except (route_columns.IrregularPage, NotReadable):
        return False


def test_surveys_of_brokers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sum(surveyed(case.data(), monkeypatch) for case in CASES[::3]) > 100


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_surveys_of_changed_directories(first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(first, first + 20):
        surveyed(mutated(seed)[1].write(tmp_path / str(seed)), monkeypatch)
