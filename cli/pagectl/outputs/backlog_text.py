"""``messages check`` as a monitoring line and as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from pagectl.options.backlog_thresholds import NAMES, PAGE_LIMIT, UNITS, AddressState, BacklogNumbers, JudgedBacklogs
from pagectl.terminal.nagios import Perf, Status, lines
from pagefmt.quantities import SECOND, count_text, duration_text, size_text

if TYPE_CHECKING:
    from pagefmt.outstanding.backlog import Backlog

SERVICE: Final = "MESSAGES"
NAMED: Final = 3  # backlogs that the line names; the lines below and JSON have all
_EFFECTS: Final = {
    "refused": "refuses what is sent",
    "dropped": "drops what is sent",
    "blocked": "blocks its producers",
}


def _address_text(state: AddressState) -> str:
    sends, limit = state.sends, state.sends.limit if state.sends is not None else None
    parts = []
    if sends is not None and sends.refusal is not None:
        parts.append(f"{_EFFECTS[sends.effect or 'refused']} ({sends.refusal})")
    if limit is not None:
        most = [size_text(limit.bytes)] if limit.bytes is not None else []
        most += [count_text(limit.messages, "message")] if limit.messages is not None else []
        parts.append(f"page limit {state.used_percent:g} % used ({' or '.join(most)}, {limit.policy.value})")
    return f"{state.address}: {', '.join(parts)}"


def summary(judged: JudgedBacklogs) -> str:
    """Return what alerts; if nothing does, the largest of each number."""
    alerting = [row for row in judged.rows if row[2] is not Status.OK]
    parts = [_address_text(address) for _, address in judged.alerting]
    parts += [f"{_name(backlog, judged)}: {', '.join(_alerts(numbers, judged))}" for backlog, numbers, _ in alerting]
    texts = parts[:NAMED] + [f"{len(parts) - NAMED} more"] * (len(parts) > NAMED)
    texts += [remark for _, remark in judged.remarks[:NAMED]]
    if texts:
        return "; ".join(texts)
    numbers = _most(judged.rows)
    what = count_text(len(judged.rows), judged.by, "addresses" if judged.by == "address" else "")
    return f"{what}, at most {', '.join(_numbers_text(numbers))}" if judged.rows else "there is no queue"


def _alerts(numbers: BacklogNumbers, judged: JudgedBacklogs) -> list[str]:
    if numbers.messages is None:
        return ["not known"]
    statuses = {name: judged.thresholds.of(name, value) for name, value in numbers._asdict().items()}
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


def _name(backlog: Backlog, judged: JudgedBacklogs) -> str:
    address = "(no address)" if backlog.address is None else backlog.address
    return address if judged.by == "address" else backlog.queue or address


def _most(rows: Iterable[tuple[Backlog, BacklogNumbers, Status]]) -> BacklogNumbers:
    """Return the largest of each number; None if one of them is not known."""
    columns = list(zip(*(numbers for _, numbers, _ in rows), strict=True)) or [(0,)] * len(NAMES)
    return BacklogNumbers(*(None if None in column else max(column) for column in columns))


def nagios(judged: JudgedBacklogs, *, details: bool = False) -> str:
    """Return the line of the plugin; with ``details`` also a line for each backlog and remark."""
    below = _details(judged) if details else ()
    return lines(SERVICE, judged.status, summary(judged), _performance(judged), below)


def _details(judged: JudgedBacklogs) -> Iterator[str]:
    for address in judged.addresses:
        status = address.status(judged.thresholds)
        if status is not Status.OK or address.used_percent is not None:
            yield f"{status.name} {_address_text(address)}"
    for backlog, numbers, status in judged.rows:
        of = "" if judged.by == "address" else f" of {backlog.address if backlog.address is not None else '?'}"
        yield f"{status.name} {_name(backlog, judged)}{of}: {', '.join(_numbers_text(numbers))}"
    yield from (f"{status.name} {remark}" for status, remark in judged.remarks)


def _performance(judged: JudgedBacklogs) -> Iterator[Perf]:
    """Yield the numbers of each named backlog; without names the largest of each, so that the labels stay the same."""
    shown = [(f"{_name(backlog, judged)} ", numbers) for backlog, numbers, _ in judged.rows] if judged.by_name else []
    warn, crit = judged.thresholds
    for before, numbers in shown or [("", _most(judged.rows))]:
        for name, value, unit in zip(NAMES, numbers, UNITS, strict=True):
            yield Perf(f"{before}{name}", value, str(unit), warn.get(name), crit.get(name), 0)
    used = [address.used_percent for address in judged.addresses if address.used_percent is not None]
    if used:
        yield Perf(PAGE_LIMIT, max(used), "%", warn.get(PAGE_LIMIT), crit.get(PAGE_LIMIT), 0, 100)
