"""Page 2147483647 is the last one there can be: nothing is written behind it."""

from __future__ import annotations

from pathlib import Path

import pytest
from harmed import (
    LAST_PAGE,
    acknowledgement,
    bound_queue,
    data_directory,
    journal_with,
    no_trace,
    pagectl,
    pages_of,
    record,
    store,
)

DAMAGED = record(1) + b"\x7bxx" + record(2)


def numbers(folder: Path) -> list[int]:
    return [int(path.name.partition(".")[0]) for path in pages_of(folder)]


def rescued(folder: Path) -> list[int]:
    """Return the ids of all messages that can be decoded, by page and position."""
    answer = pagectl("pages", "decode", folder, "--format", "jsonl")
    no_trace(answer)
    return [line["id"] for line in answer.lines()]


@pytest.mark.parametrize("last", [LAST_PAGE, LAST_PAGE - 1], ids=["the last", "the last but one"])
def test_no_page_is_written_behind_the_last(last: int, tmp_path: Path) -> None:
    data, out = data_directory(tmp_path, {5: record(9), last: DAMAGED}), tmp_path / "out"
    answer = pagectl("pages", "salvage", data, "--out", out)
    assert answer.status in (1, 2), answer
    if answer.status == 1:
        assert max(numbers(out)) <= LAST_PAGE
        assert sorted(rescued(out)) == [1, 2, 9], answer
    else:
        assert not out.exists() and str(last) in answer.err, answer


def test_one_page_by_itself(tmp_path: Path) -> None:
    data, out = data_directory(tmp_path, {LAST_PAGE: DAMAGED}), tmp_path / "out"
    answer = pagectl("pages", "salvage", pages_of(data)[0], "--out", out)
    assert answer.status in (1, 2), answer
    if answer.status == 1:
        assert max(numbers(out)) <= LAST_PAGE and sorted(rescued(out)) == [1, 2]


@pytest.mark.parametrize(
    "name", [f"{LAST_PAGE}.page.invalidPage", f"{LAST_PAGE + 1}.page.invalidPage", f"{LAST_PAGE + 1}.page", "x.page"]
)
def test_names_that_only_look_like_pages(name: str, tmp_path: Path) -> None:
    # Their records are moved to pages whose numbers a broker reads.
    data, out = data_directory(tmp_path, {1: record(9)}), tmp_path / "out"
    (pages_of(data)[0].parent / name).write_bytes(b"\x7bxx" + record(1) + record(2))
    answer = pagectl("pages", "salvage", data, "--out", out)
    assert answer.status in (0, 1), answer
    assert max(numbers(out)) <= LAST_PAGE and sorted(rescued(out)) == [1, 2, 9]


@pytest.mark.parametrize("named", [LAST_PAGE, LAST_PAGE + 1, (1 << 63) - 1], ids=["last", "behind it", "i64"])
def test_an_acknowledgement_that_names_it(named: int, tmp_path: Path) -> None:
    # Salvage does not use page numbers that acknowledgements name, but these cannot be numbers of later pages.
    data, out = data_directory(tmp_path, {1: DAMAGED, 2: record(9)}), tmp_path / "out"
    queue = bound_queue(data)
    journal_with(data, [acknowledgement(named, 0, queue, 901)])
    answer = pagectl("pages", "salvage", data, "--out", out)
    assert answer.status in (1, 2), answer
    if answer.status == 1:
        assert max(numbers(out)) <= LAST_PAGE and sorted(rescued(out)) == [1, 2, 9]
    else:
        assert not out.exists() and "2147483647" in answer.err, answer


def test_several_stores_of_which_one_is_full(tmp_path: Path) -> None:
    data, out = data_directory(tmp_path, {LAST_PAGE: DAMAGED}), tmp_path / "out"
    store(data / "paging", {1: record(5) + b"\x7bxx" + record(6)}, "b", "33333333-1111-11ee-8111-111111111111")
    answer = pagectl("pages", "salvage", data, "--out", out)
    assert answer.status == 1, answer
    assert max(numbers(out)) <= LAST_PAGE
    assert {5, 6, 1} <= set(rescued(out))
