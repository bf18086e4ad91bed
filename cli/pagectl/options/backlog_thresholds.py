"""``NAME=RANGE`` of ``messages check``: which number of a backlog alerts, and when."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

import typer

from pagectl.options.disk_thresholds import with_sizes_in_bytes
from pagectl.options.durations import parse_duration
from pagectl.terminal.nagios import Range, Status

if TYPE_CHECKING:
    from pagefmt.outstanding.backlog import Backlog


class BacklogNumbers(NamedTuple):
    """What is judged of a backlog; None: not known. ``messages`` with those in doubt, ``oldest`` in seconds."""

    messages: int | None
    bytes: int | None
    pages: int | None
    held: int | None
    oldest: int | None

    @classmethod
    def of(cls, backlog: Backlog, now: float) -> BacklogNumbers:
        """``now``: seconds since 1970."""
        age = backlog.age(now)
        waiting = None if backlog.messages is None else backlog.messages + (backlog.in_doubt or 0)
        return cls(waiting, backlog.bytes, backlog.pages, backlog.disk, None if age is None else int(age))


UNITS: Final = BacklogNumbers("", "B", "", "B", "s")  # type: ignore[arg-type]
"""By number, as the convention of plugins writes them."""
NAMES: Final = BacklogNumbers._fields
PAGE_LIMIT: Final = "page-limit"
"""Of an address: how much of its page limit is used, in percent."""
_TIME: Final = r"(?i)\b\d+(?:\.\d+)?[dhms](?:\d+(?:\.\d+)?[dhms])*\b"
Ranges = Mapping[str, Range]


def parse_ranges(texts: list[str] | None, option: str) -> Ranges:
    """By name of a number. Sizes may have units in ``bytes`` and ``held``, lengths of time in ``oldest``."""
    found: dict[str, Range] = {}
    for text in texts or ():
        name, equals, written = text.partition("=")
        names = (*NAMES, PAGE_LIMIT)
        if not equals or name not in names:
            raise typer.BadParameter(f"{option} {text!r}: write NAME=RANGE with one of {', '.join(names)}")
        try:
            if name == "oldest":
                written = re.sub(_TIME, lambda match: f"{parse_duration(match[0]):f}", written)
            elif name in ("bytes", "held"):
                written = with_sizes_in_bytes(written)[0]
            found[name] = Range.parse(written)
        except ValueError:
            example = {"oldest": "6h, 30m:6h", "bytes": "1G, 10M:1G", "held": "1G, 10M:1G"}.get(name, "1000, 10:1000")
            raise typer.BadParameter(f"{option} {text!r}: not a range such as {example}") from None
    return found


class BacklogThresholds(NamedTuple):
    """Of one call."""

    warn: Ranges
    crit: Ranges

    def status(self, numbers: BacklogNumbers) -> Status:
        """The gravest of all numbers; what is not known is UNKNOWN."""
        if numbers.messages is None:
            return Status.UNKNOWN
        return Status.worst(self.of(name, value) for name, value in numbers._asdict().items())

    @property
    def ask_page_limit(self) -> bool:
        """Whether one is about the page limit."""
        return PAGE_LIMIT in self.warn or PAGE_LIMIT in self.crit

    def of(self, name: str, value: float | None) -> Status:
        """The status of one number."""
        asked = (self.crit.get(name), Status.CRITICAL), (self.warn.get(name), Status.WARNING)
        if value is None:
            return Status.UNKNOWN if any(limit for limit, _ in asked) else Status.OK
        return next((status for limit, status in asked if limit is not None and limit.alerts(value)), Status.OK)
