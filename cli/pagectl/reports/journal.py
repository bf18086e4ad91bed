"""Files of the journals: what they contain, and how much of it is live."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, cast

from msgspec import Meta

from pagectl.reports.form import Count, Report
from pagectl.reports.listing import COUNT, SIZE, RowListing, TableColumn

if TYPE_CHECKING:
    from pagefmt.compaction.journals import JournalFiles
    from pagefmt.journal.overview import JournalFileOverview

JournalName: TypeAlias = Literal["messages", "bindings", "jms"]


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
            journal=cast("JournalName", journal.name), file=row.name, id=row.id, size=row.size, records=row.records,
            live_records=row.live, dead_records=(row.records or 0) - (row.live or 0) if readable else None,
            live_bytes=row.live_bytes,
            dead_bytes=max(0, (row.record_bytes or 0) - (row.live_bytes or 0)) if readable else None,
            condition=row.conditions[0], conditions=list(row.conditions), remarks=list(row.remarks),
        )  # fmt: skip


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
            journal=cast("JournalName", journal.name), folder=str(journal.folder), files=len(journal.loaded.files),
            bytes=sum(row.size for row in rows), records=sum(row.records or 0 for row in rows),
            live_records=sum(row.live or 0 for row in rows), prepared_transactions=len(journal.loaded.prepared),
            freeable=freeable,
        )  # fmt: skip


class JournalContents(Report):
    """``journal ls --format json``: the files of all journals, and each journal."""

    files: list[JournalFileContent]
    journals: list[JournalSums]


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
ANSWERS = {"journal-ls": JournalContents, "journal-ls.line": (JournalFileContent, JournalSums)}
