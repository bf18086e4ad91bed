"""One ``messages check`` as a monitoring line, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pagectl.options.backlog_thresholds import NAMES, PAGE_LIMIT, UNITS, BacklogNumbers, BacklogThresholds
from pagectl.terminal.nagios import Perf, Status, lines
from pagefmt.quantities import SECOND, count_text, duration_text, size_text

if TYPE_CHECKING:
    from pageengine.paging.next_send import NextSend
    from pagefmt.outstanding.backlog import Backlog

SERVICE: Final = "MESSAGES"
NAMED: Final = 3
"""Backlogs that the line names; the lines below and JSON have all."""


_EFFECTS: Final = {
    "refused": "refuses what is sent",
    "dropped": "drops what is sent",
    "blocked": "blocks its producers",
}


class AddressState(NamedTuple):
    """``sends``: what a broker that starts does with the next message, None: not known. ``queues``: messages of each,
    journal and pages together."""

    address: str
    sends: NextSend | None
    queues: dict[str, int | None]

    @property
    def used_percent(self) -> float | None:
        """Of the page limit; None: there is none, or it is not known."""
        limit = self.sends.limit if self.sends is not None else None
        return round(100 * limit.used, 1) if limit is not None else None

    def status(self, thresholds: BacklogThresholds) -> Status:
        """CRITICAL where it takes no message; else as the page limit is asked about."""
        if self.sends is not None and self.sends.refusal is not None:
            return Status.CRITICAL
        return Status.OK if self.used_percent is None else thresholds.of(PAGE_LIMIT, self.used_percent)

    def __str__(self) -> str:
        sends, limit = self.sends, self.sends.limit if self.sends is not None else None
        parts = []
        if sends is not None and sends.refusal is not None:
            parts.append(f"{_EFFECTS[sends.effect or 'refused']} ({sends.refusal})")
        if limit is not None:
            most = [size_text(limit.bytes)] if limit.bytes is not None else []
            most += [count_text(limit.messages, "message")] if limit.messages is not None else []
            parts.append(f"page limit {self.used_percent:g} % used ({' or '.join(most)}, {limit.policy.value})")
        return f"{self.address}: {', '.join(parts)}"


class BacklogReport(NamedTuple):
    """Judged backlogs, gravest first. ``by``: queue or address. ``by_name``: the operator named them.

    ``remarks``: what is wrong with the pages, each with the status that it is worth. ``addresses`` by name.
    """

    rows: list[tuple[Backlog, BacklogNumbers, Status]]
    thresholds: BacklogThresholds
    by: str
    by_name: bool
    remarks: list[tuple[Status, str]]
    addresses: list[AddressState]

    @property
    def alerting(self) -> list[tuple[Status, AddressState]]:
        """Addresses that take no message, or whose page limit is nearer than was asked for."""
        judged = [(each.status(self.thresholds), each) for each in self.addresses]
        return sorted((each for each in judged if each[0] is not Status.OK), key=lambda each: -each[0].rank)

    @property
    def status(self) -> Status:
        """Of the whole check."""
        return Status.worst(
            [
                *(status for _, _, status in self.rows),
                *(status for status, _ in self.remarks),
                *(status for status, _ in self.alerting),
            ]
        )


def summary(report: BacklogReport) -> str:
    """What alerts; where nothing does, the sums."""
    alerting = [row for row in report.rows if row[2] is not Status.OK]
    parts = [str(address) for _, address in report.alerting]
    parts += [f"{_name(backlog, report)}: {', '.join(_alerts(numbers, report))}" for backlog, numbers, _ in alerting]
    told = parts[:NAMED] + [f"{len(parts) - NAMED} more"] * (len(parts) > NAMED)
    told += [remark for _, remark in report.remarks[:NAMED]]
    if told:
        return "; ".join(told)
    numbers = _most(report.rows)
    what = count_text(len(report.rows), report.by, "addresses" if report.by == "address" else "")
    return f"{what}, at most {', '.join(_numbers_text(numbers))}" if report.rows else "there is no queue"


def _alerts(numbers: BacklogNumbers, report: BacklogReport) -> list[str]:
    if numbers.messages is None:
        return ["not known"]
    statuses = {name: report.thresholds.of(name, value) for name, value in numbers._asdict().items()}
    return [text for name, text in zip(NAMES, _numbers_text(numbers), strict=True) if statuses[name] is not Status.OK]


def _numbers_text(numbers: BacklogNumbers) -> list[str]:
    messages, size, pages, held, oldest = numbers
    return [
        "? messages" if messages is None else count_text(messages, "message"),
        "? bytes waiting" if size is None else f"{size_text(size)} waiting",
        "? pages" if pages is None else count_text(pages, "page"),
        "? held" if held is None else f"{size_text(held)} held",
        "oldest ?" if oldest is None else f"oldest {duration_text(oldest * SECOND)}",
    ]


def _name(backlog: Backlog, report: BacklogReport) -> str:
    address = "(no address)" if backlog.address is None else backlog.address
    return address if report.by == "address" else backlog.queue or address


def _most(rows: Iterable[tuple[Backlog, BacklogNumbers, Status]]) -> BacklogNumbers:
    """The largest of each number; None where one of them is not known."""
    columns = list(zip(*(numbers for _, numbers, _ in rows), strict=True)) or [(0,)] * len(NAMES)
    return BacklogNumbers(*(None if None in column else max(column) for column in columns))


def nagios(report: BacklogReport, *, details: bool = False) -> str:
    """The one line; with ``details`` one for each backlog and remark below it."""
    below = _details(report) if details else ()
    return lines(SERVICE, report.status, summary(report), _performance(report), below)


def _details(report: BacklogReport) -> Iterator[str]:
    for address in report.addresses:
        status = address.status(report.thresholds)
        if status is not Status.OK or address.used_percent is not None:
            yield f"{status.name} {address}"
    for backlog, numbers, status in report.rows:
        of = "" if report.by == "address" else f" of {backlog.address if backlog.address is not None else '?'}"
        yield f"{status.name} {_name(backlog, report)}{of}: {', '.join(_numbers_text(numbers))}"
    yield from (f"{status.name} {remark}" for status, remark in report.remarks)


def _performance(report: BacklogReport) -> Iterator[Perf]:
    """Of each backlog that was named; else the largest of each number, so that the labels stay the same."""
    shown = [(f"{_name(backlog, report)} ", numbers) for backlog, numbers, _ in report.rows] if report.by_name else []
    warn, crit = report.thresholds
    for before, numbers in shown or [("", _most(report.rows))]:
        for name, value, unit in zip(NAMES, numbers, UNITS, strict=True):
            yield Perf(f"{before}{name}", value, str(unit), warn.get(name), crit.get(name), 0)
    used = [address.used_percent for address in report.addresses if address.used_percent is not None]
    if used:
        yield Perf(PAGE_LIMIT, max(used), "%", warn.get(PAGE_LIMIT), crit.get(PAGE_LIMIT), 0, 100)


def as_json(report: BacklogReport) -> dict[str, Any]:
    """The whole report as plain values; sizes in bytes, ages in seconds."""
    return {
        "status": report.status.name,
        "exit_status": int(report.status),
        "text": summary(report),
        "by": report.by,
        "backlogs": [
            {
                "status": status.name, "address": backlog.address, "queue": backlog.queue, "id": backlog.id,
                "messages": backlog.messages, "journal": backlog.in_journal,
                "bytes": backlog.bytes, "in_doubt": backlog.in_doubt,
                "pages_held": backlog.pages, "bytes_held": backlog.disk, "bytes_held_alone": backlog.alone,
                "oldest": backlog.oldest, "age": numbers.oldest,
            }
            for backlog, numbers, status in report.rows
        ],
        "addresses": [_address_json(address) for address in report.addresses],
        "remarks": [remark for _, remark in report.remarks],
    }  # fmt: skip


def _address_json(found: AddressState) -> dict[str, Any]:
    sends = found.sends
    limit = sends.limit if sends is not None else None
    return {
        "address": found.address,
        "page_full": None if sends is None else sends.page_full,
        "refused_now": None if sends is None else sends.refusal is not None,
        "reason": None if sends is None or sends.refusal is None else str(sends.refusal),
        "page_limit": None
        if limit is None
        else {
            "bytes": limit.bytes,
            "messages": limit.messages,
            "policy": limit.policy.value,
            "used_percent": found.used_percent,
        },
        "queues": found.queues,
    }
