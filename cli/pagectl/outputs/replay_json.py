"""A replay as one JSON object. Times in nanoseconds from the start of the trace, sizes in bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pageengine.replay.recording import LOSSES, Recording
from pageengine.replay.records import AddressRecord, Peak, Span
from pageengine.settings.overrides import SettingInForce
from pagefmt.findings import Finding

SERIES = ("memory", "disk", "paging", "blocked", "dropped", "failed")


def replay_json(
    recording: Recording,
    found: Sequence[Finding],
    settings: Mapping[str, Sequence[SettingInForce]],
    facts: Mapping[str, str],
) -> dict[str, Any]:
    """Everything that the report shows."""
    start = recording.start or 0
    return {
        "name": recording.name,
        **facts,
        "operations": recording.operations,
        "duration_ns": recording.end - start,
        "results": dict(sorted(recording.results.items())),
        "addresses": {name: _address(record, recording) for name, record in sorted(recording.addresses.items())},
        "broker": _broker(recording),
        "queues": {
            name: {
                "address": one.address,
                "peak_messages": _peak(one.messages, start),
                "peak_paged": _peak(one.paged, start),
                "left": one.now.n or 0,
                "left_paged": one.now.paged_n or 0,
            }
            for name, one in sorted(recording.queues.items())
        },
        "moments": [
            {"t": one.t - start, "i": one.i, "where": one.where, "what": one.what} for one in recording.moments
        ],
        "more_moments": recording.more_moments,
        "failed_acks": dict(sorted(recording.failed_acks.items())),
        "crashes": [
            {
                "t": one.t - start,
                "i": one.i,
                "addresses": {name: {kind: count[kind] for kind in LOSSES} for name, count in one.messages.items()},
                "answered": one.answered,
                "incomplete": one.incomplete,
            }
            for one in recording.crashes
        ],
        "findings": [{"weight": one.rule, "where": one.place.file, "sentence": one.message} for one in found],
        "settings": {
            where: {one.name: {"value": one.value, "source": one.source} for one in values}
            for where, values in settings.items()
        },
    }


def _broker(recording: Recording) -> dict[str, Any]:
    start, broker = recording.start or 0, recording.broker
    return {
        "peak_memory": _peak(broker.memory, start),
        "peak_disk": _peak(broker.disk, start),
        "full": _span(broker.full, recording.end),
        "disk_full": _span(recording.disk_full, recording.end),
    }


def _address(record: AddressRecord, recording: Recording) -> dict[str, Any]:
    start = recording.start or 0
    return {
        "sends": dict(sorted(record.sends.items())),
        "why": dict(sorted(record.why.items())),
        "peak_memory": _peak(record.memory, start),
        "peak_messages": _peak(record.messages, start),
        "peak_disk": _peak(record.disk, start),
        "peak_pages": _peak(record.pages, start),
        "page_mode": _span(record.paging, recording.end),
        "full": _span(record.full, recording.end),
        "page_full": _span(record.page_full, recording.end),
        "blocked_ns": record.blocked_ns,
        "answers": _answers(record, recording),
        "series": {
            name: [[t - start, high, last] for t, high, last in record.series.points(name)]
            for name in SERIES
            if name in record.series.lines
        },
    }


def _answers(record: AddressRecord, recording: Recording) -> dict[str, int] | None:
    """How long sends to pages wait for their answer; None: the trace has no times."""
    if recording.answers is None or not recording.timed:
        return None
    return {"sends": record.answers, "ns": record.answers_ns, "longest_ns": record.longest_answer}


def _peak(peak: Peak, start: int) -> dict[str, int]:
    return {"value": peak.value, "t": max(peak.t - start, 0), "i": peak.i}


def _span(span: Span, end: int) -> dict[str, int]:
    return {"times": span.times, "ns": span.until(end)}
