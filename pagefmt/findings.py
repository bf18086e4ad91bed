"""A finding: what a check found, where, and what to do. One kind for page files, configurations and replays.

Plain fields with a total order, so that no report depends on the order in which things were checked. Imports nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, StrEnum
from typing import NamedTuple


class Severity(Enum):
    """How grave a finding is.

    ``ERROR``: messages are lost, or a broker refuses. ``WARNING``: very likely wrong, without loss. ``INFO``: worth
    knowing; called a remark in texts, and ``notice`` in the JSON of ``pages verify``.
    """

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    def __init__(self, name: str) -> None:
        """``said`` is the word for people; the graver severity has the lower rank and comes first."""
        self.said = "remark" if name == "info" else name
        self.rank = len(type(self).__members__)

    def __lt__(self, other: Severity) -> bool:
        return self.rank < other.rank


class Position(NamedTuple):
    """A place in a text file. ``line`` and ``column`` count characters from 1; 0 means the whole file."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


def some(names: Iterable[object], most: int = 5) -> str:
    """Return the first names for a sentence, and how many more there are."""
    every = [str(name) for name in names]
    return ", ".join(every[:most]) + (f" and {len(every) - most} more" if len(every) > most else "")


def nearest(word: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the name most similar to a word, ignoring case; empty if none is similar."""
    from difflib import get_close_matches

    by_lower = {name.lower(): name for name in sorted(names, reverse=True)}
    close = get_close_matches(word.lower(), by_lower, 1, cutoff)
    return by_lower[close[0]] if close else ""


def did_you_mean(
    word: str, names: Iterable[str], otherwise: str = "", *, cutoff: float = 0.6, shown: str = "'{}'"
) -> str:
    """Return advice on an unknown word: the most similar name, formatted by ``shown``, or ``otherwise``."""
    near = nearest(word, names, cutoff)
    return f"did you mean {shown.format(near)}?" if near else otherwise


class FailOn(StrEnum):
    """The lowest severity that makes a lint fail."""

    ERROR = "error"
    WARNING = "warning"
    NEVER = "never"

    def fails(self, findings: Iterable[Finding]) -> bool:
        """Return whether one of the findings is at least as grave."""
        if self is FailOn.NEVER:
            return False
        most = Severity(self.value).rank
        return any(finding.severity.rank <= most for finding in findings)


class Fix(NamedTuple):
    """The one sure repair of a finding: ``old``, which stands at ``place``, becomes ``new``."""

    place: Position
    old: str
    new: str


# A tuple: large configurations give thousands of findings, and a frozen dataclass costs several times as much.
class Finding(NamedTuple):
    """What a check found.

    Args:
        place: what it is about: a file with line and column, or (line 0) a store, page, queue or address.
        severity: how grave it is.
        rule: identifier of the rule or check.
        message: what was seen.
        path: path of the element or key inside the document, where there is one.
        help: what to do.
        why: what the broker does, or would do.
        fix: how it is repaired, where there is one sure way.
        stops_start: whether a broker does not start because of it.
    """

    place: Position
    severity: Severity
    rule: str
    message: str
    path: str = ""
    help: str = ""
    why: str = ""
    fix: Fix | None = None
    stops_start: bool = False


def about_data(severity: Severity, rule: str, place: str, message: str, why: str = "") -> Finding:
    """Return a finding about data on disk. ``place``: its store, page, queue or journal record."""
    return Finding(Position(place), severity, rule, message, why=why)


def gravest_first(finding: Finding) -> tuple[Severity, str, str, str, str]:
    """Return the sort key of a finding in a report on data."""
    return finding.severity, finding.rule, finding.place.file, finding.message, finding.why
