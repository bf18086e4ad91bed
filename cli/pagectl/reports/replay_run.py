"""One replay in full: every address, queue and crash. Nanoseconds from the start of the trace, sizes in bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import UNSET, Meta, UnsetType

from pagectl.reports.form import Count, EditionName, Report
from pagectl.reports.replay import ReplayedFleet
from pageengine.replay.findings import findings

if TYPE_CHECKING:
    from pageengine.replay.recording import Recording
    from pageengine.replay.records import AddressRecord, CrashRecord, Peak, QueueRecord, Span
    from pageengine.settings.overrides import SettingInForce
    from pagefmt.editions import Edition


class HighestValue(Report):
    """The highest value of a figure, and when it was reached first."""

    value: int
    t: Count
    i: int | None
    """The operation."""

    @classmethod
    def of(cls, peak: Peak, start: int) -> HighestValue:
        """Return the report of a peak; ``start``: time of the trace's first operation."""
        return cls(value=peak.value, t=max(peak.t - start, 0), i=peak.i)


class TimeInState(Report):
    """How often a state was entered, and how long it lasted together."""

    times: Count
    ns: Count

    @classmethod
    def of(cls, span: Span, end: int) -> TimeInState:
        """Return the report of a span, which goes on to ``end`` if it is open."""
        return cls(times=span.times, ns=span.until(end))


class PagedAnswers(Report):
    """How long sends to pages wait for their answer at most."""

    sends: Count
    ns: Count
    longest_ns: Count


# time, highest value until the next point, last value before the next point
Points = list[tuple[Count, int, int]]


class AddressSeries(Report):
    """Figures of an address over time; one that is never above 0 is absent."""

    memory: Points | UnsetType = UNSET
    disk: Points | UnsetType = UNSET
    paging: Points | UnsetType = UNSET
    """1 in page mode."""
    blocked: Points | UnsetType = UNSET
    """Producers that wait."""
    dropped: Points | UnsetType = UNSET
    failed: Points | UnsetType = UNSET
    """Sends that were refused."""


class ReplayedAddress(Report):
    """What happened to an address."""

    sends: dict[str, Count]
    """Sends by result."""
    why: dict[str, Count]
    """Sends that were not stored, by reason."""
    peak_memory: HighestValue
    peak_messages: HighestValue
    peak_disk: HighestValue
    peak_pages: HighestValue
    page_mode: TimeInState
    full: TimeInState
    page_full: TimeInState
    """The page limit was reached."""
    blocked_ns: Count
    """How long producers waited."""
    answers: PagedAnswers | None
    """Null if the trace has no times."""
    series: AddressSeries

    @classmethod
    def of(cls, record: AddressRecord, recording: Recording) -> ReplayedAddress:
        """Return the report of an address."""
        start, end, lines = recording.start or 0, recording.end, record.series.lines
        series: dict[str, Any] = {
            name: [(t - start, high, last) for t, high, last in record.series.points(name)]
            for name in AddressSeries.__struct_fields__
            if name in lines
        }
        return cls(
            sends=dict(sorted(record.sends.items())),
            why=dict(sorted(record.why.items())),
            peak_memory=HighestValue.of(record.memory, start),
            peak_messages=HighestValue.of(record.messages, start),
            peak_disk=HighestValue.of(record.disk, start),
            peak_pages=HighestValue.of(record.pages, start),
            page_mode=TimeInState.of(record.paging, end),
            full=TimeInState.of(record.full, end),
            page_full=TimeInState.of(record.page_full, end),
            blocked_ns=record.blocked_ns,
            answers=_answers(record, recording),
            series=AddressSeries(**series),
        )


def _answers(record: AddressRecord, recording: Recording) -> PagedAnswers | None:
    if recording.answers is None or not recording.timed:
        return None
    return PagedAnswers(sends=record.answers, ns=record.answers_ns, longest_ns=record.longest_answer)


class ReplayedBroker(Report):
    """What happened to all addresses together."""

    peak_memory: HighestValue
    peak_disk: HighestValue
    full: TimeInState
    """The global limit was reached."""
    disk_full: TimeInState

    @classmethod
    def of(cls, recording: Recording) -> ReplayedBroker:
        """Return the report of a recording's broker."""
        start, broker = recording.start or 0, recording.broker
        return cls(
            peak_memory=HighestValue.of(broker.memory, start),
            peak_disk=HighestValue.of(broker.disk, start),
            full=TimeInState.of(broker.full, recording.end),
            disk_full=TimeInState.of(recording.disk_full, recording.end),
        )


class ReplayedQueue(Report):
    """What happened to a queue."""

    address: str | None
    peak_messages: HighestValue
    peak_paged: HighestValue
    left: Count
    """Messages at the end."""
    left_paged: Count
    """Messages in pages at the end."""

    @classmethod
    def of(cls, record: QueueRecord, start: int) -> ReplayedQueue:
        """Return the report of a queue; ``start``: time of the trace's first operation."""
        return cls(
            address=record.address,
            peak_messages=HighestValue.of(record.messages, start),
            peak_paged=HighestValue.of(record.paged, start),
            left=record.now.n or 0,
            left_paged=record.now.paged_n or 0,
        )


class ReplayMoment(Report):
    """An event that a report shows, such as the begin of page mode."""

    t: Count
    i: int
    """The operation."""
    where: str
    what: str


class CrashLosses(Report):
    """Messages of an address that a crash affects."""

    lost: Count
    perhaps_lost: Count
    again: Count
    """Messages that are delivered again."""
    perhaps_again: Count


class ReplayedCrash(Report):
    """What a crash costs."""

    t: Count
    i: Count
    """The operation."""
    addresses: dict[str, CrashLosses]
    answered: Count
    """Messages that are lost although their send was answered."""
    incomplete: bool
    """Whether the outcome does not name all messages."""

    @classmethod
    def of(cls, crash: CrashRecord, start: int) -> ReplayedCrash:
        """Return the report of a crash; ``start``: time of the trace's first operation."""
        losses = {
            name: CrashLosses(**{kind: counts[kind] for kind in CrashLosses.__struct_fields__})
            for name, counts in crash.messages.items()
        }
        return cls(t=crash.t - start, i=crash.i, addresses=losses, answered=crash.answered, incomplete=crash.incomplete)


class ReplayFinding(Report):
    """A sentence about what matters in a replay."""

    weight: str
    where: str
    sentence: str


class ReplayedSetting(Report):
    """A setting that the replay used."""

    value: str
    source: str


class ReplayRun(Report):
    """``replay run --format json``: what a broker would do with a trace."""

    name: str
    trace: str
    config: str
    edition: EditionName
    wrote: str | UnsetType = UNSET
    """The data directory that was written."""
    operations: Count
    duration_ns: Count
    results: dict[str, Count]
    """Operations by result."""
    addresses: dict[str, ReplayedAddress]
    broker: ReplayedBroker
    queues: dict[str, ReplayedQueue]
    moments: list[ReplayMoment]
    more_moments: Count
    """Moments that are left out."""
    failed_acks: dict[str, Annotated[int, Meta(ge=1)]]
    crashes: list[ReplayedCrash]
    findings: list[ReplayFinding]
    settings: dict[str, dict[str, ReplayedSetting]]
    """By address, or ``broker``."""
    warnings: list[str]
    """What of the trace was not replayed."""
    unknown: list[str] | UnsetType = UNSET
    """What the trace cannot have, because its source does not say it."""

    @classmethod
    def of(
        cls,
        recording: Recording,
        settings: Mapping[str, Sequence[SettingInForce]],
        *,
        trace: Path,
        config: Path,
        edition: Edition,
        wrote: Path | None = None,
        warnings: Sequence[str] = (),
    ) -> ReplayRun:
        """Return the report of a finished recording.

        ``settings``: those in force, by address or ``broker``; ``wrote``: the data directory.
        """
        start = recording.start or 0
        return cls(
            name=recording.name,
            trace=str(trace),
            config=str(config),
            edition=edition.value,
            wrote=UNSET if wrote is None else str(wrote.absolute()),
            operations=recording.operations,
            duration_ns=recording.end - start,
            results=dict(sorted(recording.results.items())),
            addresses={
                name: ReplayedAddress.of(record, recording) for name, record in sorted(recording.addresses.items())
            },
            broker=ReplayedBroker.of(recording),
            queues={name: ReplayedQueue.of(record, start) for name, record in sorted(recording.queues.items())},
            moments=[
                ReplayMoment(t=moment.t - start, i=moment.i, where=moment.where, what=moment.what)
                for moment in recording.moments
            ],
            more_moments=recording.more_moments,
            failed_acks=dict(sorted(recording.failed_acks.items())),
            crashes=[ReplayedCrash.of(crash, start) for crash in recording.crashes],
            findings=[
                ReplayFinding(weight=finding.rule, where=finding.place.file, sentence=finding.message)
                for finding in findings(recording)
            ],
            settings={
                where: {setting.name: ReplayedSetting(value=setting.value, source=setting.source) for setting in values}
                for where, values in settings.items()
            },
            warnings=list(warnings),
            unknown=list(recording.unknown) or UNSET,
        )


ANSWERS = {"replay-run": (ReplayRun, ReplayedFleet)}
