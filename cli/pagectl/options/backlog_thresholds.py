"""``NAME=RANGE`` of ``messages check``: which number of a backlog alerts, and when; backlogs judged by them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple

import typer

from pagectl.options.disk_thresholds import with_sizes_in_bytes
from pagectl.options.durations import parse_duration
from pagectl.terminal.nagios import Range, Status

if TYPE_CHECKING:
    from pageengine.paging.next_send import NextSend
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


# unit of each figure in performance data, as the plugin convention spells it
UNITS: Final = BacklogNumbers("", "B", "", "B", "s")  # type: ignore[arg-type]
NAMES: Final = BacklogNumbers._fields
# threshold name for the used percentage of an address's page limit
PAGE_LIMIT: Final = "page-limit"
_TIME: Final = r"(?i)\b\d+(?:\.\d+)?[dhms](?:\d+(?:\.\d+)?[dhms])*\b"
Ranges = Mapping[str, Range]
WarningOption = Annotated[
    list[str] | None,
    typer.Option(
        "-w",
        "--warning",
        metavar="NAME=RANGE",
        help="Warning threshold: messages=1000, bytes=1G, pages=10, held=1G, oldest=6h or page-limit=80 (percent); "
        "repeatable.",
    ),
]
CriticalOption = Annotated[
    list[str] | None,
    typer.Option(
        "-c", "--critical", metavar="NAME=RANGE", help="Critical threshold, written the same way; repeatable."
    ),
]


def parse_ranges(texts: list[str] | None, option: str) -> Ranges:
    """Parse ``NAME=RANGE`` texts into ranges by name. Raise a usage error that names ``option``.

    ``bytes`` and ``held`` accept sizes with units, ``oldest`` durations.
    """
    ranges: dict[str, Range] = {}
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
            ranges[name] = Range.parse(written)
        except ValueError:
            example = {"oldest": "6h, 30m:6h", "bytes": "1G, 10M:1G", "held": "1G, 10M:1G"}.get(name, "1000, 10:1000")
            raise typer.BadParameter(f"{option} {text!r}: not a range such as {example}") from None
    return ranges


class BacklogThresholds(NamedTuple):
    """The warning and critical ranges of one call."""

    warn: Ranges
    crit: Ranges

    def status(self, numbers: BacklogNumbers) -> Status:
        """Return the gravest status of all figures, UNKNOWN if the backlog is not known."""
        if numbers.messages is None:
            return Status.UNKNOWN
        return Status.worst(self.of(name, value) for name, value in numbers._asdict().items())

    @property
    def ask_page_limit(self) -> bool:
        """Return whether a threshold is about the page limit."""
        return PAGE_LIMIT in self.warn or PAGE_LIMIT in self.crit

    def of(self, name: str, value: float | None) -> Status:
        """Return the status of one figure; an unknown figure with a threshold is UNKNOWN."""
        limits = (self.crit.get(name), Status.CRITICAL), (self.warn.get(name), Status.WARNING)
        if value is None:
            return Status.UNKNOWN if any(limit for limit, _ in limits) else Status.OK
        return next((status for limit, status in limits if limit is not None and limit.alerts(value)), Status.OK)


class AddressState(NamedTuple):
    """What a broker that starts does with the next message for an address (``sends``; None: not known).

    ``queues``: messages of each queue, in journal and pages; None: not known.
    """

    address: str
    sends: NextSend | None
    queues: dict[str, int | None]

    @property
    def used_percent(self) -> float | None:
        """Return the used percentage of the page limit, None if there is no limit or it is not known."""
        limit = self.sends.limit if self.sends is not None else None
        return round(100 * limit.used, 1) if limit is not None else None

    def status(self, thresholds: BacklogThresholds) -> Status:
        """Return CRITICAL if the address takes no message, else the status of its page limit."""
        if self.sends is not None and self.sends.refusal is not None:
            return Status.CRITICAL
        return Status.OK if self.used_percent is None else thresholds.of(PAGE_LIMIT, self.used_percent)


class JudgedBacklogs(NamedTuple):
    """Judged backlogs, gravest first, and addresses by name. ``by``: what a backlog is of, queue or address.

    ``by_name``: whether the call names queues or addresses. ``remarks``: what is wrong with the pages, each with the
    status that it is worth.
    """

    rows: list[tuple[Backlog, BacklogNumbers, Status]]
    thresholds: BacklogThresholds
    by: Literal["queue", "address"]
    by_name: bool
    remarks: list[tuple[Status, str]]
    addresses: list[AddressState]

    @property
    def alerting(self) -> list[tuple[Status, AddressState]]:
        """Return addresses that take no message or whose page limit alerts, the gravest first."""
        judged = [(address.status(self.thresholds), address) for address in self.addresses]
        return sorted((pair for pair in judged if pair[0] is not Status.OK), key=lambda pair: -pair[0].rank)

    @property
    def status(self) -> Status:
        """Return the status of the whole check."""
        return Status.worst(
            [
                *(status for _, _, status in self.rows),
                *(status for status, _ in self.remarks),
                *(status for status, _ in self.alerting),
            ]
        )
