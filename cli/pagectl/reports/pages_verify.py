"""Pages as ``pages verify`` has read them, to the last byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagectl.reports.data_findings import DataFinding
from pagectl.reports.form import Checksum, Count, EditionName, Report

if TYPE_CHECKING:
    from pagefmt.check.broker_verdict import BrokerVerdict
    from pagefmt.check.page_reports import PageVerdict
    from pagefmt.check.report import PageReport
    from pagefmt.codec.pages.frames import Damage


class SuspectRecord(Report):
    """A record that a broker hands out although it is damaged."""

    position: Count
    message: int
    """Id of the message."""


class PageFault(Report):
    """Something wrong in a page."""

    kind: str
    offset: Count
    number: Count | None
    """Number of the record in the page; null if it is not certain."""
    detail: str

    @classmethod
    def of(cls, fault: Damage) -> PageFault:
        """Return the report of a fault."""
        return cls(kind=fault.kind.value, offset=fault.offset, number=fault.number, detail=fault.detail)


class EditionVerdict(Report):
    """What a broker of another edition does with a page."""

    edition: EditionName
    broker: str
    broker_text: str

    @classmethod
    def of(cls, verdict: BrokerVerdict) -> EditionVerdict:
        """Return the report of a verdict."""
        return cls(edition=verdict.edition.value, broker=verdict.action.value, broker_text=verdict.text)


class VerifiedPage(Report):
    """A page, and what a broker does with it. Of a page that cannot be read, counts are 0 and the rest is null."""

    store: str
    page: Count | None
    file: str
    size: Count | None
    records: Count
    """Records that the broker hands out."""
    bytes_read: Count
    """Bytes up to where the broker stops."""
    suspects: list[SuspectRecord]
    error: str | None
    """Why the broker fails when it reads the page, or why the page cannot be read."""
    crc32c: Checksum | None
    edition: EditionName | None
    """The broker's edition."""
    broker: str | None
    """What the broker does."""
    broker_text: str | None
    decoded: Count
    """Records without a fault."""
    faults: list[PageFault]
    recovered: Count
    """Valid records that the broker does not hand out."""
    recovered_from: Count | None
    """Offset of the first of them."""
    other_editions: list[EditionVerdict]
    """Older editions of the same layout that do something else."""

    @classmethod
    def of(cls, report: PageReport) -> VerifiedPage:
        """Return the report of a page."""
        if report.verdict is not None:
            return cls.of_verdict(report.verdict)
        return cls(
            store=report.store.name,
            page=report.page.number,
            file=report.file,
            size=report.size,
            records=0,
            bytes_read=0,
            suspects=[],
            error=report.problem,
            crc32c=None,
            edition=None,
            broker=None,
            broker_text=None,
            decoded=0,
            faults=[],
            recovered=0,
            recovered_from=None,
            other_editions=[],
        )

    @classmethod
    def of_verdict(cls, verdict: PageVerdict) -> VerifiedPage:
        """Return the report of a page that can be read."""
        reading = verdict.broker.reading
        suspects = [] if reading.suspect is None else [reading.suspect]
        return cls(
            store=verdict.store,
            page=verdict.page,
            file=verdict.file,
            size=verdict.size,
            records=reading.records,
            bytes_read=reading.bytes_read,
            suspects=[SuspectRecord(position=position, message=message) for position, message in suspects],
            error=reading.error,
            crc32c=verdict.crc32c,
            edition=verdict.broker.edition.value,
            broker=verdict.broker.action.value,
            broker_text=verdict.broker.text,
            decoded=verdict.decoded,
            faults=[PageFault.of(fault) for fault in verdict.faults],
            recovered=verdict.recovered,
            recovered_from=verdict.recovered_from,
            other_editions=[EditionVerdict.of(other) for other in verdict.others],
        )


class VerifiedPages(Report):
    """``pages verify --format json``: every page, and what is wrong across pages and other files."""

    pages: list[VerifiedPage]
    findings: list[DataFinding]


ANSWERS = {"pages-verify": VerifiedPages, "pages-verify.line": (VerifiedPage, DataFinding)}
