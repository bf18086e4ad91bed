"""What an export has written, and what is not in the table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from pagectl.reports.form import Count, Report
from pagefmt.storage.remote_paths import FarPath
from pagefmt.table.table_content import StoredIn

if TYPE_CHECKING:
    from pagefmt.spark.export_job import ExportJob
    from pagefmt.spark.exporting import Exported


class RowOrigins(Report):
    """Numbers of messages by where they were stored."""

    journal: Count
    pages: Count


class MissingRows(Report):
    """Where the rows of a damaged file end before it does."""

    broker: str
    store: str | None
    """Null for the journal."""
    page: Count | None
    file: str
    offset: Count
    """Byte at which the damage begins."""
    bytes: Count | None
    """Bytes that are not in the table; null: not known."""
    number: Count | None
    """Number of the first record of the page that is not in the table."""
    kind: str
    standing: bool
    """Whether an earlier export has reported it, and the page, which was not read again, is as it was then."""


class UnreadBroker(Report):
    """A broker that is not, or not completely, in the table."""

    broker: str
    why: str


class ChangedPage(Report):
    """A page with other content than was exported before."""

    broker: str
    store: str
    page: Count
    rows: Count
    """New messages, which were added."""
    missing: Count
    """Messages that were exported and are no longer in the page; they stay in the table."""


class DeletedPages(Report):
    """Pages of a store that are gone; their rows stay in the table."""

    broker: str
    store: str
    pages: list[Annotated[list[Count], Meta(min_length=2, max_length=2)]]
    """First and last page of each range."""


class ExportedPages(Report):
    """What became of the pages since the last export."""

    skipped: Count
    """Pages that are as they were."""
    added: Count
    grew: Count
    changed: list[ChangedPage]
    deleted: list[DeletedPages]


class ExportReport(Report):
    """``export --format json``: what was written, and what is not in the table."""

    to: str
    """The folder as it was named."""
    wrote: str
    brokers: Count
    rows: Count
    from_: RowOrigins | None = msgspec.field(name="from")
    """Null for tables without messages."""
    bytes: Count
    """Bytes of the files."""
    damaged: list[MissingRows]
    harmed: Count
    """With --what: rows that report something damaged or not wholly known."""
    failed: list[UnreadBroker]
    pages: ExportedPages | None
    """With --incremental: what became of the pages; null without."""

    @classmethod
    def of(cls, job: ExportJob, exported: Exported) -> ExportReport:
        """Return the report of an export."""
        written = exported.written
        origins = RowOrigins(journal=written.from_journal, pages=written.rows - written.from_journal)
        return cls(
            to=str(job.folder) if isinstance(job.folder, FarPath) else job.to,
            wrote=str(job.folder.absolute()),
            brokers=exported.brokers,
            rows=written.rows,
            from_=origins if job.spec.content.of_messages and job.spec.within is not StoredIn.HISTORY else None,
            bytes=written.bytes,
            damaged=[
                MissingRows(**lost, standing=standing)
                for rows, standing in ((written.damaged, False), (written.standing, True))
                for lost in rows
            ],
            harmed=written.harmed,
            failed=[UnreadBroker(broker=name, why=why) for name, why in exported.failed.items()],
            pages=None if written.pages is None else msgspec.convert(written.pages, ExportedPages),
        )


ANSWERS = {"export": ExportReport}
