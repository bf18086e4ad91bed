"""Where two outcomes differ: the first operation, and the sums of the rest (docs/spec/trace-format.md 2).

States are compared whole, not as the changes that happen to be written: a field that both have at the same value is
equal, however each came to it. Free text (``detail``), lines on which a broker did not come to rest, and what a crash
loses, which no broker tells, are left out.
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
    """``name``: a key of the line, or ``part.field`` of the state. A value that is not there is ``ABSENT``."""

    name: str
    left: Any
    right: Any


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """``i``: number of the operation; None: the end line."""

    i: int | None
    op: str | None
    fields: tuple[FieldDifference, ...]


@dataclass(slots=True)
class Comparison:
    """``operations`` were compared; the others are in one outcome only. ``changes``: what became of sends, by pair."""

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
        """Whether no line differs and none is missing."""
        return not (self.lines_different or self.only_left or self.only_right)


def compare_outcomes(
    left: Iterable[Line], right: Iterable[Line], *, left_start: Line, right_start: Line, decisions_only: bool = False
) -> Comparison:
    """Compare operation lines and end lines, given in order, after two header lines."""
    result = Comparison()
    states = _States()
    states.apply(left_start, right_start)
    for one, other in zip_longest(left, right):
        if one is None or other is None:
            result.only_left += other is None and "end" not in one
            result.only_right += one is None and "end" not in other
            continue
        states.apply(one, other)
        if one.get("unsettled") or other.get("unsettled"):
            result.unsettled += 1
            continue
        found = list(_keys(one, other, decisions_only))
        if not decisions_only:
            found += states.differences()
        _count(result, one, other, found)
    return result


def _count(result: Comparison, one: Line, other: Line, found: list[FieldDifference]) -> None:
    if "end" not in one:
        result.operations += 1
        if one.get("op") == "send":
            before, after = str(one.get("r")), str(other.get("r"))
            result.left[before] += 1
            result.right[after] += 1
            if before != after:
                result.changes[before, after] += 1
    if not found:
        return
    result.lines_different += 1
    result.fields_different += len(found)
    result.by_field.update(one_.name.rpartition(".")[2] for one_ in found)
    if result.first is None:
        result.first = FirstDifference(one.get("i"), one.get("op"), tuple(found))


def _keys(one: Line, other: Line, decisions_only: bool) -> Iterator[FieldDifference]:
    for name in (*one, *(key for key in other if key not in one)):
        if name in IGNORED or (decisions_only and name not in DECISIONS):
            continue
        mine, theirs = one.get(name, ABSENT), other.get(name, ABSENT)
        if mine != theirs:
            yield FieldDifference(name, mine, theirs)


@dataclass(slots=True)
class _States:
    """Both states side by side, and the fields in which they differ now; the work is that of the changes."""

    left: RunningState = field(default_factory=RunningState)
    right: RunningState = field(default_factory=RunningState)
    different: dict[tuple[str, str], None] = field(default_factory=dict)

    def apply(self, one: Line, other: Line) -> None:
        touched = self.left.apply(one)
        for part, names in self.right.apply(other).items():
            before = touched.get(part, set())
            touched[part] = None if names is None or before is None else before | names
        for part, names in touched.items():
            self._look(part, names)

    def _look(self, part: str, names: set[str] | None) -> None:
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
