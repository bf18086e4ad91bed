"""What replays come to: rows of a sweep, comparisons, advice, and imported traces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import UNSET, UnsetType

from pagectl.reports.form import Count, Either, Report
from pagectl.reports.listing import COUNT, SIZE, RowListing, TableColumn, ValueForm
from pageengine.replay.sweep import FailedSweepRow
from pagefmt.quantities import duration_text

if TYPE_CHECKING:
    from pageengine.history_import.importing import HistoryImport
    from pageengine.log_import.importing import ImportReport
    from pageengine.replay.advice import Advice, Trial
    from pageengine.replay.sweep import SweepRow
    from pageengine.replay.totals import Totals
    from pagefmt.history.records import HistoryRecords


class ReplayTotals(Report):
    """What a replay comes to, of all addresses together; bytes and nanoseconds, null if the outcome does not say."""

    peak_memory: Count
    peak_messages: Count | None
    """Messages in memory."""
    peak_disk: Count | None
    peak_pages: Count
    paged: Count
    dropped: Count
    refused: Count
    blocked: Count
    blocked_ns: Count | None
    """How long producers waited."""
    page_mode_ns: Count | None
    """How long addresses were in page mode."""
    unapplied: Count
    """Lines of the trace that could not be applied."""
    failed_acks: Count

    @classmethod
    def of(cls, totals: Totals) -> ReplayTotals:
        """Return the report of totals."""
        return cls(**asdict(totals))


class ReplayedVariant(Report):
    """A replay under some settings; bytes and nanoseconds."""

    broker: str | UnsetType = UNSET
    """Whose trace it is, if there are several."""
    number: Count
    settings: list[str]
    """What is set over the configuration."""
    peak_memory: Count
    peak_disk: Count
    paged: Count
    dropped: Count
    refused: Count
    blocked: Count
    blocked_ns: Count
    """How long producers waited."""
    page_mode_ns: Count
    """How long addresses were in page mode."""
    unapplied: Count
    """Lines of the trace that could not be applied."""
    failed_acks: Count
    warnings: list[str]
    """What of the trace was not replayed."""

    @classmethod
    def of(cls, row: SweepRow) -> ReplayedVariant:
        """Return the report of a row."""
        figures: dict[str, Any] = {name: getattr(row.totals, name) for name in FIGURES}
        return cls(
            broker=UNSET if row.broker is None else row.broker,
            number=row.number,
            settings=list(row.settings),
            **figures,
            warnings=list(row.warnings),
        )


FIGURES = (
    "peak_memory", "peak_disk", "paged", "dropped", "refused", "blocked", "blocked_ns", "page_mode_ns", "unapplied",
    "failed_acks",
)  # fmt: skip


class FailedVariant(Report):
    """A replay that failed, of one broker among several."""

    broker: str
    number: Count
    settings: list[str]
    failed: str
    """Why it failed."""

    @classmethod
    def of(cls, row: FailedSweepRow) -> FailedVariant:
        """Return the report of a row."""
        return cls(broker=row.broker, number=row.number, settings=list(row.settings), failed=row.why)


class ReplaySweep(Report):
    """``replay sweep --format json``: replays of one or several traces under every combination of values."""

    variants: list[Either[ReplayedVariant, FailedVariant]]


class ReplayedFleet(Report):
    """``replay run --format json`` with several traces: a replay of each."""

    replays: list[Either[ReplayedVariant, FailedVariant]]


class AdviceTrial(Report):
    """Settings that were tried, and why they do not work."""

    settings: list[str]
    totals: ReplayTotals
    failing: list[str]

    @classmethod
    def of(cls, trial: Trial) -> AdviceTrial:
        """Return the report of a trial."""
        return cls(settings=list(trial.settings), totals=ReplayTotals.of(trial.totals), failing=list(trial.failing))


class AdviceEvidence(Report):
    """Why a setting has its value."""

    setting: str
    sentence: str


class ReplayAdvice(Report):
    """``replay advise --format json``: the settings that work with the least paging; bytes."""

    trace: str
    config: str
    holds: bool
    """Whether any settings work."""
    heap: Count
    disk: Count
    memory: Count
    """What messages may take of the heap."""
    pages: Count
    """What pages may take of the disk."""
    without_limits: ReplayTotals
    best: AdviceTrial | None
    evidence: list[AdviceEvidence]
    tried: list[AdviceTrial]
    warnings: list[str]
    """What of the trace was not replayed."""

    @classmethod
    def of(cls, advice: Advice, trace: Path, config: Path, warnings: Sequence[str]) -> ReplayAdvice:
        """Return the report of an advice for a trace under a configuration."""
        return cls(
            trace=str(trace),
            config=str(config),
            holds=advice.best is not None,
            **asdict(advice.budget),
            without_limits=ReplayTotals.of(advice.demand),
            best=None if advice.best is None else AdviceTrial.of(advice.best),
            evidence=[AdviceEvidence(setting=name, sentence=sentence) for name, sentence in advice.evidence],
            tried=list(map(AdviceTrial.of, advice.trials)),
            warnings=list(warnings),
        )


class ImportedFile(Report):
    """A log or a journal file that was read. ``lines``: null for a journal file."""

    file: str
    lines: Count | None
    records: Count


class ImportedSends(Report):
    """How many sends the log shows, and how many of them the trace lacks."""

    logged: Count
    left_out: Count


class ReplayImport(Report):
    """``replay import --format json``: the trace that was made, and what is not known about it."""

    trace: str
    source: Literal["plugin-log", "audit-log", "plugin-log-info", "history", "journal"]
    files: list[ImportedFile]
    sends: ImportedSends
    operations: dict[str, Count]
    """How many operations of each kind the trace has."""
    unknown: dict[str, Count]
    """What could not be known, and how often."""
    never_known: list[str]
    """What such logs, or a journal, never say."""
    unused_records: Count

    @classmethod
    def of(cls, imported: ImportReport, trace: Path) -> ReplayImport:
        """Return the report of an import that wrote a trace."""
        from pageengine.log_import.importing import ALWAYS

        return cls(
            trace=str(trace),
            source=imported.source.value,
            files=[ImportedFile(file=str(log.path), lines=log.lines, records=log.records) for log in imported.files],
            sends=ImportedSends(logged=imported.logged_sends, left_out=imported.left_out),
            operations=dict(sorted(imported.operations.items())),
            unknown=dict(sorted(imported.unknown.items())),
            never_known=list(ALWAYS),
            unused_records=imported.unused,
        )

    @classmethod
    def of_history(cls, imported: HistoryImport, records: HistoryRecords, trace: Path) -> ReplayImport:
        """Return the report of the import of a history that wrote a trace."""
        from pageengine.history_import.importing import NEVER_IN_JOURNALS

        begins = [*records.columns.begins, len(records.columns)]
        return cls(
            trace=str(trace),
            source="history" if imported.source == "history" else "journal",
            files=[
                ImportedFile(file=str(file.path), lines=None, records=begins[n + 1] - begins[n])
                for n, file in enumerate(records.columns.files)
            ],
            sends=ImportedSends(logged=imported.operations["send"] + imported.left_out, left_out=imported.left_out),
            operations=dict(sorted(imported.operations.items())),
            unknown=dict(sorted(imported.unknown.items())),
            never_known=list(NEVER_IN_JOURNALS),
            unused_records=0,
        )


def variant(row: SweepRow | FailedSweepRow) -> ReplayedVariant | FailedVariant:
    """Return the report of a row, replayed or failed."""
    return FailedVariant.of(row) if isinstance(row, FailedSweepRow) else ReplayedVariant.of(row)


DURATION = ValueForm(lambda nanoseconds: duration_text(nanoseconds) if nanoseconds else "-", right=True)
_COLUMNS = (
    TableColumn("settings", "settings", ValueForm("  ".join, earliest=True)),
    TableColumn("peak_memory", "peak heap", SIZE),
    TableColumn("peak_disk", "peak disk", SIZE),
    TableColumn("paged", "paged", COUNT),
    TableColumn("dropped", "dropped", COUNT),
    TableColumn("refused", "refused", COUNT),
    TableColumn("blocked", "blocked", COUNT),
    TableColumn("blocked_ns", "waited", DURATION),
    TableColumn("page_mode_ns", "page mode", DURATION),
    TableColumn("failed_acks", "acks failed", COUNT),
)


_COLUMNS_OF_SEVERAL = (
    TableColumn("broker", "broker"), *_COLUMNS, TableColumn("failed", "failed", null="-", usual=False),
)  # fmt: skip
VARIANTS: RowListing[Any] = RowListing("variants", ReplayedVariant, _COLUMNS, left_out=("broker", "number", "warnings"))
VARIANTS_OF_SEVERAL: RowListing[Any] = RowListing(
    "variants", ReplayedVariant, _COLUMNS_OF_SEVERAL, left_out=("number", "warnings"), further_rows=(FailedVariant,)
)
REPLAYS: RowListing[Any] = replace(VARIANTS_OF_SEVERAL, key="replays")
ANSWERS = {
    "replay-sweep": ReplaySweep,
    "replay-sweep.line": (ReplayedVariant, FailedVariant),
    "replay-advise": ReplayAdvice,
    "replay-import": ReplayImport,
}
