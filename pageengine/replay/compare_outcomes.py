"""Differences of two outcomes: the first operation, and sums over all (docs/spec/trace-format.md 2).

States are compared whole, not as the changes that happen to be written: a field that has the same value in both is
equal, however it got that value. Left out are free text (``detail``), lines on which a broker did not come to rest, and
what a crash loses, which no broker reports.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from pageengine.replay.outcome_reading import FullState, Line, RunningState

DECISIONS = frozenset(
    (
        "r",
        "broker",
        "why",
        "status",
        "error",
        "page",
        "nr",
        "got",
        "redelivered",
        "count",
        "released",
        "abandoned",
        "vote",
    )
)
IGNORED = frozenset(("i", "state", "detail", "unsettled", "loss"))
ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """Differing field: a key of the line, or ``part.field`` of the state. A missing value is ``ABSENT``."""

    name: str
    left: Any
    right: Any


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """First line that differs. ``i``: number of the operation; None: the end line."""

    i: int | None
    op: str | None
    fields: tuple[FieldDifference, ...]


@dataclass(slots=True)
class Comparison:
    """Counts of a comparison.

    ``operations`` were compared; the others are in one outcome only. ``changes``: outcomes of sends, by pair.
    """

    operations: int = 0
    only_left: int = 0
    only_right: int = 0
    lines_different: int = 0
    fields_different: int = 0
    unsettled: int = 0
    first: FirstDifference | None = None
    by_field: Counter[str] = field(default_factory=Counter)
    changes: Counter[tuple[str, str]] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)

    @property
    def equal(self) -> bool:
        """Return whether no line differs and none is missing."""
        return not (self.lines_different or self.only_left or self.only_right)


def compare_outcomes(
    left: Iterable[Line], right: Iterable[Line], *, left_start: Line, right_start: Line, decisions_only: bool = False
) -> Comparison:
    """Compare operation lines and end lines, given in order, after two header lines."""
    result = Comparison()
    states = _States()
    states.apply(left_start, right_start)
    for left_line, right_line in zip_longest(left, right):
        if left_line is None or right_line is None:
            result.only_left += right_line is None and "end" not in left_line
            result.only_right += left_line is None and "end" not in right_line
            continue
        states.apply(left_line, right_line)
        if left_line.get("unsettled") or right_line.get("unsettled"):
            result.unsettled += 1
            continue
        field_differences = list(_keys(left_line, right_line, decisions_only))
        if not decisions_only:
            field_differences += states.differences()
        _count(result, left_line, right_line, field_differences)
    return result


def _count(result: Comparison, left_line: Line, right_line: Line, field_differences: list[FieldDifference]) -> None:
    if "end" not in left_line:
        result.operations += 1
        if left_line.get("op") == "send":
            before, after = str(left_line.get("r")), str(right_line.get("r"))
            result.left[before] += 1
            result.right[after] += 1
            if before != after:
                result.changes[before, after] += 1
    if not field_differences:
        return
    result.lines_different += 1
    result.fields_different += len(field_differences)
    result.by_field.update(one_.name.rpartition(".")[2] for one_ in field_differences)
    if result.first is None:
        result.first = FirstDifference(left_line.get("i"), left_line.get("op"), tuple(field_differences))


def _keys(left_line: Line, right_line: Line, decisions_only: bool) -> Iterator[FieldDifference]:
    for name in (*left_line, *(key for key in right_line if key not in left_line)):
        if name in IGNORED or (decisions_only and name not in DECISIONS):
            continue
        mine, theirs = left_line.get(name, ABSENT), right_line.get(name, ABSENT)
        if mine != theirs:
            yield FieldDifference(name, mine, theirs)


@dataclass(slots=True)
class _States:
    """Both states side by side, and the fields in which they differ now; the cost is proportional to the changes."""

    left: RunningState = field(default_factory=RunningState)
    right: RunningState = field(default_factory=RunningState)
    different: dict[tuple[str, str], None] = field(default_factory=dict)

    def apply(self, left_line: Line, right_line: Line) -> None:
        touched = self.left.apply(left_line)
        for part, names in self.right.apply(right_line).items():
            before = touched.get(part, set())
            touched[part] = None if names is None or before is None else before | names
        for part, names in touched.items():
            self._update_differences(part, names)

    def _update_differences(self, part: str, names: set[str] | None) -> None:
        mine, theirs = self.left.parts.get(part), self.right.parts.get(part)
        if names is None or mine is None or theirs is None:
            self.different = {key: None for key in self.different if key[0] != part}
            names = {*(mine or {}), *(theirs or {})}
        for name in sorted(names):
            if _value(self.left.parts, part, name) != _value(self.right.parts, part, name):
                self.different[part, name] = None
            else:
                self.different.pop((part, name), None)

    def differences(self) -> list[FieldDifference]:
        return [
            FieldDifference(f"{part}.{name}", _value(self.left.parts, part, name), _value(self.right.parts, part, name))
            for part, name in self.different
        ]


def _value(parts: FullState, part: str, name: str) -> Any:
    return parts.get(part, {}).get(name, ABSENT)
