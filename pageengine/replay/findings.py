"""What a person would say after a replay: a sentence for each finding, most serious first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from pageengine.replay.recording import Recording
from pageengine.replay.records import AddressRecord, Span

WORTH_TELLING = 0.01
"""A hold shorter than this share of the replay is no finding."""


class Weight(IntEnum):
    """How serious, most serious first."""

    LOST = 0
    REFUSED = 1
    BLOCKED = 2
    HELD = 3
    LIMIT = 4
    PAGED = 5


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """A sentence about one address, queue or the broker."""

    weight: Weight
    where: str
    sentence: str


def findings(recording: Recording) -> list[Finding]:
    """All findings of a finished recording, in a fixed order."""
    found = [*_broker(recording), *_held(recording), *_starved(recording)]
    for record in recording.addresses.values():
        found += _address(record, recording)
    return sorted(found)


def _address(record: AddressRecord, recording: Recording) -> Iterator[Finding]:
    name = record.name
    if dropped := record.sends["dropped"]:
        reasons = _reasons(record, ("address_full", "page_full", "disk_full"))
        yield Finding(Weight.LOST, name, f"address {name} dropped {_count(dropped, 'message')}{reasons}")
    if failed := record.sends["failed"]:
        errors = tuple(key for key in sorted(record.why) if key.isupper() and key not in _ROUTING)
        yield Finding(
            Weight.REFUSED, name, f"address {name} refused {_count(failed, 'message')}{_reasons(record, errors)}"
        )
    if blocked := record.sends["blocked"]:
        left = blocked - record.released - record.abandoned
        tail = f"; {_count(left, 'send')} still waited at the end" if left else ""
        tail += f"; {_count(record.abandoned, 'send')} lost with the broker" if record.abandoned else ""
        waited = duration_text(record.blocked_ns)
        yield Finding(
            Weight.BLOCKED, name, f"producers to {name} were blocked {_times(blocked)}, {waited} in all{tail}"
        )
    if record.page_full.times:
        yield Finding(
            Weight.LIMIT, name, f"address {name} was at its page limit {_held_for(record.page_full, recording)}"
        )
    if record.paging.times:
        yield Finding(
            Weight.PAGED,
            name,
            f"address {name} was in page mode {_held_for(record.paging, recording)}; at most "
            f"{_count(record.pages.value, 'page')} with {bytes_text(record.disk.value)} on disk",
        )
    elif record.full.times:
        yield Finding(Weight.LIMIT, name, f"address {name} was full {_held_for(record.full, recording)}")


_ROUTING = ("NO_BINDINGS", "NO_BINDINGS_DLA", "DUPLICATED_ID")


def _broker(recording: Recording) -> Iterator[Finding]:
    broker, end = recording.broker, recording.end
    if recording.disk_full.times:
        yield Finding(Weight.BLOCKED, "broker", f"the disk counted as full {_held_for(recording.disk_full, recording)}")
    only_global = broker.full.until(end) - recording.disk_full.until(end)
    if broker.full.times and (only_global > 0 or not recording.disk_full.times):
        yield Finding(Weight.LIMIT, "broker", f"the global limit was reached {_held_for(broker.full, recording)}")
    for name in ("unsupported", "malformed"):
        if count := recording.results[name]:
            yield Finding(Weight.LIMIT, "trace", f"{_count(count, 'line')} of the trace could not be applied ({name})")


def _held(recording: Recording) -> Iterator[Finding]:
    span = recording.end - (recording.start or 0)
    for hold in recording.holds:
        if hold.end - hold.start <= span * WORTH_TELLING and span:
            continue
        held = f" for {duration_text(hold.end - hold.start)}" if recording.timed else ""
        yield Finding(
            Weight.HELD, hold.queue, f"queue {hold.queue} held {hold.pages} of {_count(hold.total, 'page')}{held}"
        )


def _starved(recording: Recording) -> Iterator[Finding]:
    for (consumer, queue), count in recording.starved.items():
        yield Finding(
            Weight.HELD,
            queue,
            f"consumer {consumer} got nothing {_times(count)} though queue {queue} had messages waiting "
            "(its selector, or the read limit)",
        )


def _reasons(record: AddressRecord, keys: tuple[str, ...]) -> str:
    told = [f"{record.why[key]} {key.replace('_', ' ').lower()}" for key in keys if record.why[key]]
    return f" ({', '.join(told)})" if told else ""


def _held_for(span: Span, recording: Recording) -> str:
    """How often and how long; without times in the trace, how often."""
    lasting = f", {duration_text(span.until(recording.end))} in all" if recording.timed else ""
    return f"{_times(span.times)}{lasting}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def duration_text(nanoseconds: int) -> str:
    """A duration for a person: its two largest units."""
    seconds, rest = divmod(max(nanoseconds, 0), 1_000_000_000)
    if not seconds:
        return f"{rest // 1_000_000} ms" if rest >= 1_000_000 or not rest else f"{rest // 1000} µs"
    if seconds < 10:
        return f"{seconds + rest / 1e9:.1f} s"
    for size, unit, below, lower in ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s")):
        if seconds >= size:
            large, small = divmod(seconds, size)
            small //= below
            return f"{large} {unit} {small} {lower}" if small else f"{large} {unit}"
    return f"{seconds} s"


def bytes_text(count: int) -> str:
    """Bytes for a person: powers of 1024."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{count} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"
