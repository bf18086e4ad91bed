"""Whatever there is much of in a data directory: of four times as much a unit costs a command no more.

Calls are counted, of Python's functions and of those in C, and lines that loops repeat: no clock is looked at.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from growing_stores import KINDS, READING, made, words
from program import call

FEW = 24
# Of the work for a unit, where there are four times as many: counts are exact, so that a share which grows with the
# square shows among few units, long before it is 1.4 among many.
MOST_GROWTH = 1.1
FLOOR = 2.0  # steps for a unit below which nothing of a command depends on the units


class StepCount:
    """How many calls were made and how many lines were executed."""

    def __init__(self) -> None:
        self.steps = 0

    def profile(self, frame: FrameType, event: str, argument: Any) -> None:
        self.steps += event in ("call", "c_call")

    def trace(self, frame: FrameType, event: str, argument: Any) -> Any:
        self.steps += event == "line"
        return self.trace

    def of(self, command: list[str]) -> int:
        before, self.steps = sys.gettrace(), 0
        sys.setprofile(self.profile)
        sys.settrace(self.trace)
        try:
            answer = call(*command)
        finally:
            sys.settrace(before)
            sys.setprofile(None)
        assert answer.status in (0, 1) or "nothing was written" in answer.err, answer
        return self.steps


def steps(kind: str, command: str, folder: Path, count: int) -> int:
    data = folder / f"{kind}-{count}"
    if not data.exists():
        made(kind, data, count)
    out = folder / f"out-{len(list(folder.iterdir()))}"
    return StepCount().of(words(command, data, out))


def growth(kind: str, command: str, folder: Path, few: int) -> float:
    """Return the factor by which the work for one unit grows with the number of units, without a call's fixed costs."""
    steps(kind, command, folder, few)  # imports what it needs
    small = steps(kind, command, folder, 2 * few) - steps(kind, command, folder, few)
    large = steps(kind, command, folder, 8 * few) - steps(kind, command, folder, 4 * few)
    return max(large / (4 * few), FLOOR) / max(small / few, FLOOR)


def check(kind: str, command: str, folder: Path, few: int) -> None:
    found = growth(kind, command, folder, few)
    assert found <= MOST_GROWTH, f"{command} on many {kind}: a unit costs {found:.2f} times as much"


SLOW = ("messages decode", "messages find", "messages xml", "pages decode --format csv", "recover")


@pytest.mark.parametrize("command", [each for each in READING if not each.startswith(SLOW)])
def test_a_unit_costs_the_same_among_more(command: str, tmp_path: Path) -> None:
    for kind in ("pages", "queues", "addresses"):
        check(kind, command, tmp_path, FEW // 2)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", READING)
def test_a_unit_of_each_kind_costs_the_same_among_more(command: str, kind: str, tmp_path: Path) -> None:
    check(kind, command, tmp_path, FEW)


def test_a_sum_that_is_copied_for_each_page_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A former version added surveys with ``+=`` of counters, which copies the left one.
    update = Counter.update

    def copied(counter: Any, *words: Any) -> None:
        update(counter, *words)
        counter += {}

    monkeypatch.setattr(Counter, "update", copied)
    with pytest.raises(AssertionError, match="times as much"):
        check("pages", "large verify", tmp_path, FEW)
