"""Where the bytes of a directory are: by part, and by address."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from pagectl.reports.form import Count, Report
from pagectl.reports.listing import COUNT, SIZE, RowListing, TableColumn

if TYPE_CHECKING:
    from pagectl.running.disk_count import Counting
    from pagefmt.directory.usage import AddressUsage, FileTotals
    from pagefmt.directory.usage_content import JournalContent


class FileAmount(Report):
    """Files and their bytes."""

    files: Count
    bytes: Count
    on_disk: Count
    """Bytes that the file system has allocated."""

    @classmethod
    def of(cls, totals: FileTotals) -> FileAmount:
        """Return the report of file totals."""
        return cls(files=totals.files, bytes=totals.bytes, on_disk=totals.on_disk)


class JournalUse(Report):
    """How much of the message journal is still needed."""

    files: Count
    bytes: Count
    live_files: Count
    """Files with at least one record that is still needed."""
    live_records: Count
    live_bytes: Count
    reclaimable_bytes: Count | None
    """Bytes of files that ``journal compact`` frees; null if it leaves the journal alone."""

    @classmethod
    def of(cls, content: JournalContent) -> JournalUse:
        """Return the report of a journal's content."""
        return cls(
            files=content.files,
            bytes=content.size,
            live_files=content.live_files,
            live_records=content.live_records,
            live_bytes=content.live,
            reclaimable_bytes=content.reclaimable,
        )


class AddressBytes(Report):
    """The bytes of one address."""

    address: str | None
    """Null for a store folder whose address is not known."""
    folder: str | None
    """Store folder; null for an address that has none but owns large messages."""
    bytes: Count
    on_disk: Count
    """Bytes that the file system has allocated."""
    pages: Count
    page_bytes: Count
    other_bytes: Count
    """Bytes of other files in the store folder."""
    large_messages: Count
    large_bytes: Count

    @classmethod
    def of(cls, row: AddressUsage) -> AddressBytes:
        """Return the report of an address."""
        return cls(
            address=row.address,
            folder=row.folder,
            bytes=row.bytes,
            on_disk=row.on_disk,
            pages=row.pages.files,
            page_bytes=row.pages.bytes,
            other_bytes=row.other.bytes,
            large_messages=row.large.files,
            large_bytes=row.large.bytes,
        )


class DiskUsage(Report):
    """``disk usage --format json``: where the bytes of a directory are."""

    dir: str
    took_for: str
    """What the directory was recognised as."""
    total: FileAmount
    paging: FileAmount
    journal: FileAmount
    bindings: FileAmount
    large_messages: FileAmount
    rest: dict[str, FileAmount]
    """Other content of the instance, by its first folder or file."""
    journal_content: JournalUse | None
    """Null if the journal was not read."""
    addresses: list[AddressBytes]
    unreadable: list[str]
    """What could not be read or counted."""

    @classmethod
    def of(cls, counting: Counting) -> DiskUsage:
        """Return the report of what was counted."""
        usage = counting.usage
        return cls(
            dir=str(counting.place.given),
            took_for=str(counting.place.kind),
            total=FileAmount.of(usage.total),
            paging=FileAmount.of(usage.paging),
            journal=FileAmount.of(usage.journal),
            bindings=FileAmount.of(usage.bindings),
            large_messages=FileAmount.of(usage.large),
            rest={name: FileAmount.of(part) for name, part in sorted(usage.rest.items())},
            journal_content=None if counting.journal is None else JournalUse.of(counting.journal),
            addresses=list(map(AddressBytes.of, usage.addresses)),
            unreadable=list(counting.remarks),
        )

    def parts(self) -> list[tuple[str, FileAmount]]:
        """Return the parts that have files, the largest first."""
        parts = {
            "paging": self.paging,
            "journal": self.journal,
            "bindings": self.bindings,
            "large messages": self.large_messages,
            **self.rest,
        }
        return sorted((part for part in parts.items() if part[1].files), key=lambda part: (-part[1].bytes, part[0]))


class UsageRow(Report):
    """A line of ``disk usage --format jsonl``: a part, or an address, whose bytes paging and large messages include."""

    part: str
    """``address`` for the row of an address."""
    address: str | UnsetType | None = UNSET
    folder: str | UnsetType | None = UNSET
    files: Count
    bytes: Count
    on_disk: Count
    """Bytes that the file system has allocated."""
    pages: Count | UnsetType = UNSET
    page_bytes: Count | UnsetType = UNSET
    large_messages: Count | UnsetType = UNSET
    large_bytes: Count | UnsetType = UNSET


def usage_rows(counting: Counting) -> Iterator[UsageRow]:
    """Yield a row for each part, then one for each address, both the largest first."""
    for name, part in DiskUsage.of(counting).parts():
        yield UsageRow(part=name, files=part.files, bytes=part.bytes, on_disk=part.on_disk)
    for row in counting.usage.addresses:
        yield UsageRow(
            part="address",
            address=row.address,
            folder=row.folder,
            files=row.pages.files + row.other.files + row.large.files,
            bytes=row.bytes,
            on_disk=row.on_disk,
            pages=row.pages.files,
            page_bytes=row.pages.bytes,
            large_messages=row.large.files,
            large_bytes=row.large.bytes,
        )


USAGE = RowListing(
    "rows",
    UsageRow,
    (
        TableColumn("part", "PART"),
        TableColumn("address", "ADDRESS", null="-"),
        TableColumn("folder", "FOLDER", null="-", usual=False),
        TableColumn("files", "FILES", COUNT),
        TableColumn("bytes", "BYTES", SIZE),
        TableColumn("on_disk", "ON DISK", SIZE),
        TableColumn("pages", "PAGES", COUNT, null="-"),
        TableColumn("page_bytes", "PAGE BYTES", SIZE, null="-"),
        TableColumn("large_messages", "LARGE", COUNT, null="-"),
        TableColumn("large_bytes", "LARGE BYTES", SIZE, null="-"),
    ),
)
ANSWERS = {"disk-usage": DiskUsage, "disk-usage.line": UsageRow}
