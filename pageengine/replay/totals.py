"""Totals of a replay in a few figures: a row of a sweep, a column of a comparison."""

from __future__ import annotations

from dataclasses import dataclass

from pageengine.replay.recording import Recording


@dataclass(frozen=True, slots=True)
class Totals:
    """Figures over all addresses; sizes in bytes, times in nanoseconds. None: the outcome does not say."""

    peak_memory: int
    peak_messages: int | None
    peak_disk: int | None
    peak_pages: int
    paged: int
    dropped: int
    refused: int
    blocked: int
    blocked_ns: int | None
    page_mode_ns: int | None
    unapplied: int
    failed_acks: int


def totals(recording: Recording) -> Totals:
    """Return the figures of a finished recording; without times in it, durations are None."""
    records = recording.addresses.values()
    timed, disk = recording.timed, recording.broker.disk.value

    def sends(kind: str) -> int:
        return sum(record.sends[kind] + record.sends[f"released {kind}"] for record in records)

    paged, blocked = sends("paged"), sum(record.sends["blocked"] for record in records)
    page_mode = sum(record.paging.times for record in records)
    counted = all(item.now.elements is not None for item in records if item.now.paging is not None)
    return Totals(
        recording.broker.memory.value,
        recording.broker.messages.value if counted else None,
        disk if disk or not paged else None,
        recording.broker.pages.value,
        paged,
        sends("dropped"),
        sends("failed"),
        blocked,
        sum(record.blocked_ns for record in records) if timed or not blocked else None,
        sum(record.paging.until(recording.end) for record in records) if timed or not page_mode else None,
        recording.results["unsupported"] + recording.results["malformed"],
        recording.failed_acks.total(),
    )
