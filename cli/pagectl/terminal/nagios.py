"""Monitoring-plugin convention: statuses, ranges, performance values, the one line.

A range is ``[@]start:end``: ``10`` is 0 to 10, ``10:`` is 10 and up, ``~:10`` has no lower end. Without ``@`` a value
outside the range alerts, with ``@`` one inside it; the ends belong to the range. A performance value is
``'label'=value[UOM];warn;crit;min;max``. Text holds neither ``|`` nor a newline.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from enum import IntEnum
from typing import Final, Literal, NamedTuple, TypeAlias

from pagectl.terminal.sanitise import one_line, without_secrets

StatusWord: TypeAlias = Literal["OK", "WARNING", "CRITICAL", "UNKNOWN"]


class Status(IntEnum):
    """Statuses of monitoring plugins, which are their exit statuses."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3

    @property
    def word(self) -> StatusWord:
        """Return the name of the status in lines and reports."""
        return _WORDS[self.value]

    @property
    def rank(self) -> int:
        """UNKNOWN ranks between WARNING and CRITICAL, so that a certain alarm is not hidden."""
        return _RANK.index(self)

    @classmethod
    def worst(cls, statuses: Iterable[Status]) -> Status:
        """Return the most serious status, OK if there is none."""
        return max(statuses, key=lambda status: status.rank, default=cls.OK)


_WORDS: Final[tuple[StatusWord, ...]] = ("OK", "WARNING", "CRITICAL", "UNKNOWN")
_RANK: Final = (Status.OK, Status.WARNING, Status.UNKNOWN, Status.CRITICAL)
_NUMBER: Final = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)"
_RANGE: Final = rf"(?a)(@?)(?:(~|{_NUMBER})?:)?({_NUMBER})?"


class Range(NamedTuple):
    """Values that are in order, or with ``inside`` those that are not."""

    start: float
    end: float
    inside: bool = False

    @classmethod
    def parse(cls, text: str) -> Range:
        """Parse a range ``[@]start:end`` of the plugin convention.

        Raise ``ValueError`` with a message if it is invalid.
        """
        match = re.fullmatch(_RANGE, text.strip())
        if match is None or text.strip() in ("", "@"):
            raise ValueError(f"{text!r} is not a range such as 10, 10:, ~:10, 10:20 or @10:20")
        at, start, end = match.groups()
        low = -math.inf if start == "~" else float(start or 0)
        high = math.inf if end is None else float(end)
        if low > high:
            raise ValueError(f"range {text!r} starts above its end")
        return cls(low, high, bool(at))

    def alerts(self, value: float) -> bool:
        """Return whether the range alerts about a value."""
        return (self.start <= value <= self.end) is self.inside

    def __str__(self) -> str:
        start = "~:" if self.start == -math.inf else "" if self.start == 0 else f"{number(self.start)}:"
        end = "" if self.end == math.inf else number(self.end)
        return f"{'@' if self.inside else ''}{start or ('' if end else '0:')}{end}"


class Perf(NamedTuple):
    """One performance value. ``unit`` is one of the convention's: "", s, %, B, c."""

    label: str
    value: float | int | None
    unit: str = ""
    warn: Range | None = None
    crit: Range | None = None
    low: float | int | None = None
    high: float | int | None = None

    def __str__(self) -> str:
        label = _label(self.label)
        if self.value is None:
            return f"{label}=U"
        ends = ["" if end is None else number(end) for end in (self.low, self.high)]
        alerts = ["" if alert is None else str(alert) for alert in (self.warn, self.crit)]
        return f"{label}={number(self.value)}{self.unit};{';'.join([*alerts, *ends])}"


def _label(text: str) -> str:
    """Return a label in quotes, with apostrophes doubled and equals signs, which are not allowed, replaced."""
    return "'" + plain(text).replace("=", "_").replace("'", "''") + "'"


def number(value: float | int) -> str:
    """Return a number with digits, point and minus only: no exponent, no trailing zeros."""
    if isinstance(value, int) or value == int(value):
        return str(int(value))
    text = f"{value:.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def plain(text: str) -> str:
    """Text that can stand in the line: no ``|``, no newline, nothing that steers a terminal."""
    return one_line(without_secrets(text)).replace("|", "\\x7c")


def line(service: str, status: Status, text: str, perfs: Iterable[Perf] = ()) -> str:
    """``SERVICE STATUS - text | 'label'=…`` without a newline."""
    values = " ".join(str(perf) for perf in perfs)
    return f"{service} {status.name} - {plain(text)}" + (f" | {values}" if values else "")


def lines(service: str, status: Status, text: str, perfs: Iterable[Perf], details: Iterable[str]) -> str:
    """Return the whole output: the plugin's line, followed by a line for each of ``details``."""
    return "".join(f"{text_line}\n" for text_line in (line(service, status, text, perfs), *map(plain, details)))
