"""Findings of a replay: one sentence about an address, a queue or the broker each, most serious first."""

from __future__ import annotations

from collections.abc import Iterator

from pageengine.replay.recording import CONNECTION_DROPPED, Recording
from pageengine.replay.records import AddressRecord, Span
from pagefmt.findings import Finding, Position, Severity
from pagefmt.quantities import duration_text, size_text

WORTH_TELLING = 0.01
"""A hold shorter than this share of the replay is no finding."""


RULES = {
    "lost": Severity.ERROR,
    "refused": Severity.ERROR,
    "blocked": Severity.WARNING,
    "held": Severity.WARNING,
    "limit": Severity.WARNING,
    "paged": Severity.INFO,
}
"""Rules of the findings, most serious first."""
_ORDER = list(RULES)


def _finding(rule: str, place: str, message: str) -> Finding:
    return Finding(Position(place), RULES[rule], rule, message)


def findings(recording: Recording) -> list[Finding]:
    """All findings of a finished recording, in a fixed order."""
    found = [*_broker(recording), *_held(recording), *_starved(recording)]
    for record in recording.addresses.values():
        found += _address(record, recording)
    return sorted(found, key=lambda one: (_ORDER.index(one.rule), one.place, one.message))


def _address(record: AddressRecord, recording: Recording) -> Iterator[Finding]:
    name = record.name
    if dropped := record.sends["dropped"]:
        reasons = _reasons(record, ("address_full", "page_full", "disk_full"))
        yield _finding("lost", name, f"address {name} dropped {_count(dropped, 'message')}{reasons}")
    if failed := record.sends["failed"]:
        errors = tuple(key for key in sorted(record.why) if key.isupper() and key not in _ROUTING)
        errors += (CONNECTION_DROPPED,)
        yield _finding("refused", name, f"address {name} refused {_count(failed, 'message')}{_reasons(record, errors)}")
    if blocked := record.sends["blocked"]:
        left = blocked - record.released - record.abandoned
        tail = f"; {_count(left, 'send')} still waited at the end" if left else ""
        tail += f"; {_count(record.abandoned, 'send')} lost with the broker" if record.abandoned else ""
        waited = duration_text(record.blocked_ns)
        yield _finding("blocked", name, f"producers to {name} were blocked {_times(blocked)}, {waited} in all{tail}")
    if record.page_full.times:
        yield _finding("limit", name, f"address {name} was at its page limit {_held_for(record.page_full, recording)}")
    if record.paging.times:
        yield _finding(
            "paged",
            name,
            f"address {name} was in page mode {_held_for(record.paging, recording)}; at most "
            f"{_count(record.pages.value, 'page')} with {size_text(record.disk.value)} on disk",
        )
    elif record.full.times:
        yield _finding("limit", name, f"address {name} was full {_held_for(record.full, recording)}")


_ROUTING = ("NO_BINDINGS", "NO_BINDINGS_DLA", "DUPLICATED_ID")


def _broker(recording: Recording) -> Iterator[Finding]:
    broker, end = recording.broker, recording.end
    if recording.no_space is not None:
        yield _finding(
            "refused", "broker",
            f"the disk has 0 bytes left from operation {recording.no_space} on: a broker stops itself at its next "
            "write (critical I/O error); what follows is what it would decide if it went on",
        )  # fmt: skip
    if recording.disk_full.times:
        yield _finding("blocked", "broker", f"the disk counted as full {_held_for(recording.disk_full, recording)}")
    only_global = broker.full.until(end) - recording.disk_full.until(end)
    if broker.full.times and (only_global > 0 or not recording.disk_full.times):
        yield _finding("limit", "broker", f"the global limit was reached {_held_for(broker.full, recording)}")
    for name in ("unsupported", "malformed"):
        if count := recording.results[name]:
            yield _finding("limit", "trace", f"{_count(count, 'line')} of the trace could not be applied ({name})")


def _held(recording: Recording) -> Iterator[Finding]:
    span = recording.end - (recording.start or 0)
    for hold in recording.holds:
        if hold.end - hold.start <= span * WORTH_TELLING and span:
            continue
        held = f" for {duration_text(hold.end - hold.start)}" if recording.timed else ""
        yield _finding(
            "held", hold.queue, f"queue {hold.queue} held {hold.pages} of {_count(hold.total, 'page')}{held}"
        )


def _starved(recording: Recording) -> Iterator[Finding]:
    for (consumer, queue), count in recording.starved.items():
        yield _finding(
            "held",
            queue,
            f"consumer {consumer} got nothing {_times(count)} though queue {queue} had messages waiting "
            "(its selector, or the read limit)",
        )


def _reasons(record: AddressRecord, keys: tuple[str, ...]) -> str:
    reasons = [f"{record.why[key]} {key.replace('_', ' ').lower()}" for key in keys if record.why[key]]
    return f" ({', '.join(reasons)})" if reasons else ""


def _held_for(span: Span, recording: Recording) -> str:
    """How often and how long; without times in the trace, how often."""
    lasting = f", {duration_text(span.until(recording.end))} in all" if recording.timed else ""
    return f"{_times(span.times)}{lasting}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
