"""Files of the journals: what they contain, and how much of it is live."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, cast

from msgspec import Meta

from pagectl.reports.data_findings import DataFinding
from pagectl.reports.form import Checksum, Count, Report
from pagectl.reports.listing import COUNT, SIZE, RowListing, TableColumn

if TYPE_CHECKING:
    from pagefmt.change.compaction.journals import JournalFiles
    from pagefmt.check.journal_files import JournalFileReport
    from pagefmt.journal.overview import JournalFileOverview

JournalName: TypeAlias = Literal["messages", "bindings", "jms"]


def journal_name(journal: JournalFiles) -> JournalName:
    """Return the name of a journal as reports have it."""
    return cast("JournalName", journal.name)


class JournalFileContent(Report):
    """A file of a journal: its records, live and dead, and its condition. Counts are null if it cannot be read."""

    journal: JournalName
    file: str
    id: int | None
    size: Count
    records: Count | None
    live_records: Count | None
    dead_records: Count | None
    live_bytes: Count | None
    """Bytes that the live records take after a compaction."""
    dead_bytes: Count | None
    condition: str
    """The first of the conditions."""
    conditions: Annotated[list[str], Meta(min_length=1)]
    remarks: list[str]

    @classmethod
    def of(cls, journal: JournalFiles, row: JournalFileOverview) -> JournalFileContent:
        """Return the report of a file."""
        readable = row.records is not None
        return cls(
            journal=journal_name(journal),
            file=row.name,
            id=row.id,
            size=row.size,
            records=row.records,
            live_records=row.live,
            dead_records=(row.records or 0) - (row.live or 0) if readable else None,
            live_bytes=row.live_bytes,
            dead_bytes=max(0, (row.record_bytes or 0) - (row.live_bytes or 0)) if readable else None,
            condition=row.conditions[0],
            conditions=list(row.conditions),
            remarks=list(row.remarks),
        )


class JournalSums(Report):
    """All files of a journal together."""

    journal: JournalName
    folder: str
    files: Count
    bytes: Count
    records: Count
    live_records: Count
    prepared_transactions: Count
    freeable: Count | None
    """Bytes that ``journal compact`` frees; null if it leaves the journal alone."""

    @classmethod
    def of(cls, journal: JournalFiles, rows: list[JournalFileOverview], freeable: int | None) -> JournalSums:
        """Return the report of a journal. ``freeable``: bytes, None if a compaction leaves it alone."""
        return cls(
            journal=journal_name(journal),
            folder=str(journal.folder),
            files=len(journal.loaded.files),
            bytes=sum(row.size for row in rows),
            records=sum(row.records or 0 for row in rows),
            live_records=sum(row.live or 0 for row in rows),
            prepared_transactions=len(journal.loaded.prepared),
            freeable=freeable,
        )


class JournalContents(Report):
    """``journal ls --format json``: the files of all journals, and each journal."""

    files: list[JournalFileContent]
    journals: list[JournalSums]


class JournalFileFault(Report):
    """Something wrong in a file of a journal."""

    kind: str
    offset: Count
    detail: str


class VerifiedJournalFile(Report):
    """A file of a journal, and what a broker does with it. Numbers are null if the file is not read."""

    journal: JournalName
    file: str
    id: int | None
    version: int | None
    user_version: int | None
    size: Count
    records: Count | None
    record_bytes: Count | None
    unused_bytes: Count | None
    lost_bytes: Count | None
    """Bytes that hold no record although records were written there."""
    crc32c: Checksum | None
    broker: Literal["reads", "passes-over", "ignores", "deletes", "carries-out", "does-not-start"]
    broker_text: str
    faults: list[JournalFileFault]

    @classmethod
    def of(cls, report: JournalFileReport) -> VerifiedJournalFile:
        """Return the report of a file."""
        values: dict[str, Any] = {name: getattr(report, name) for name in cls.__struct_fields__}
        faults = [
            JournalFileFault(kind=fault.kind, offset=fault.offset, detail=fault.detail) for fault in report.faults
        ]
        return cls(**values | {"broker": report.broker.value, "faults": faults})


class VerifiedJournals(Report):
    """``journal verify --format json``: every file, and what is wrong across them and other files."""

    files: list[VerifiedJournalFile]
    findings: list[DataFinding]


FILES = RowListing(
    "files",
    JournalFileContent,
    (
        TableColumn("id", "ID", COUNT),
        TableColumn("size", "SIZE", SIZE),
        TableColumn("records", "RECORDS", COUNT),
        TableColumn("live_records", "LIVE", COUNT),
        TableColumn("dead_records", "DEAD", COUNT),
        TableColumn("live_bytes", "LIVE BYTES", SIZE),
        TableColumn("dead_bytes", "DEAD BYTES", SIZE),
        TableColumn("conditions", "CONDITION"),
        TableColumn("file", "FILE"),
    ),
    left_out=("remarks",),
)
ANSWERS = {
    "journal-ls": JournalContents,
    "journal-ls.line": (JournalFileContent, JournalSums),
    "journal-verify": VerifiedJournals,
    "journal-verify.line": (VerifiedJournalFile, DataFinding),
}
