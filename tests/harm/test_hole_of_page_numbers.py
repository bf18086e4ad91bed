"""A page number far behind the others: a broker looks for each number between, and delivers nothing meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest
from harmed import golden, json_of, no_trace, pagectl, pages_of

from pagefmt.directory.paging import LARGEST_NUMBER, WITHIN_REACH, page_name

LAST = 8
"""The last page of ``scattered-acks``, of 1, 2, 3, 6 and 7."""


def moved(tmp_path: Path, number: int) -> Path:
    data = golden("scattered-acks").copy(tmp_path)
    last = pages_of(data)[-1]
    assert last.name == page_name(LAST)
    last.rename(last.with_name(page_name(number)))
    return data


def test_a_hole_that_brokers_pass_over_at_once_is_well(tmp_path: Path) -> None:
    data = moved(tmp_path, 7 + WITHIN_REACH)
    assert pagectl("pages", "ls", data).status == 0
    assert pagectl("pages", "compact", data).status == 0


@pytest.mark.parametrize("number", [8 + WITHIN_REACH, LARGEST_NUMBER])
def test_one_verdict_on_a_wider_one(number: int, tmp_path: Path) -> None:
    data = moved(tmp_path, number)
    for words in (("ls",), ("verify",), ("outstanding",), ("compact",)):
        answer = pagectl("pages", *words, data)
        no_trace(answer)
        assert answer.status == 1 and "pagectl pages salvage" in " ".join(answer.out.split()), answer
    (store,) = json_of(pagectl("pages", "compact", data, "--format", "json"))["stores"]
    assert store["steps"] == [] and "far beyond" in store["left_alone"]


@pytest.mark.parametrize("number", [8 + WITHIN_REACH, LARGEST_NUMBER])
def test_salvage_gives_it_a_near_number(number: int, tmp_path: Path) -> None:
    data, out = moved(tmp_path, number), tmp_path / "out"
    ids = [line["id"] for line in pagectl("pages", "decode", data, "--format", "jsonl").lines()]
    answer = pagectl("pages", "salvage", data, "--out", out, "--format", "json")
    no_trace(answer)
    (store,) = json_of(answer)["stores"]
    assert answer.status == 0 and store["damaged"] == [page_name(number)] and store["lost"] == []
    assert [path.name for path in pages_of(out)] == [page_name(n) for n in (1, 2, 3, 6, 7, 9)], (
        "8 is named in the journal"
    )
    assert [line["id"] for line in pagectl("pages", "decode", out, "--format", "jsonl").lines()] == ids
