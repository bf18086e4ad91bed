"""What ``pages inspect`` and ``journal inspect`` report while they read, as text or JSON."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from pagectl.options.formats import ListFormat
from pagectl.reports.inspection import (
    DamagedEnd,
    DamageDetail,
    InspectedJournalRecord,
    InspectedRecord,
    TornDetail,
    TornJournalRecord,
    inspected_fields,
)
from pagectl.terminal.hexview import HexView
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import JsonItems, coloured, folded
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pagefmt.codec.pages.frames import Damage
    from pagefmt.codec.pages.page import Page
    from pagefmt.codec.pages.page_file import PageFile
    from pagefmt.directory.locate import DataLocation
    from pagefmt.directory.paging import Store
    from pagefmt.journal.files import JournalFile
    from pagefmt.journal.records import JournalFrame
    from pagefmt.journal.scan import TornRecord


def page_inspection(form: ListFormat, place: DataLocation, *, with_bytes: bool) -> PageInspection:
    """Return what shows the records of pages in a format. ``with_bytes``: with their bytes."""
    if form is ListFormat.text:
        return PageInspectionText(place, with_bytes=with_bytes)
    return PageInspectionJson(with_bytes=with_bytes, lines=form is ListFormat.jsonl)


def journal_inspection(form: ListFormat, *, with_bytes: bool) -> JournalInspectionText | JournalInspectionJson:
    """Return what shows the records of journal files in a format. ``with_bytes``: with their bytes."""
    if form is ListFormat.text:
        return JournalInspectionText(with_bytes=with_bytes)
    return JournalInspectionJson(with_bytes=with_bytes, lines=form is ListFormat.jsonl)


class PageInspectionJson:
    """A JSON object for each record of a page, and for its damage."""

    def __init__(self, *, with_bytes: bool, lines: bool) -> None:
        self._with_bytes = with_bytes
        self._items = JsonItems("records", lines=lines)

    def begin(self, store: Store, file: PageFile, page: Page) -> None:
        """Take the page whose records follow."""
        self._store, self._file, self._page = store, file, page

    def record(self, number: int, offset: int, length: int) -> None:
        """Write a record with its fields."""
        from pagefmt.describe.anatomy import record_fields

        buf = self._page.buf
        fields = inspected_fields(buf, record_fields(buf, offset, length), with_bytes=self._with_bytes)
        self._items.add(
            "records",
            InspectedRecord(
                store=self._store.name,
                store_address=self._store.address,
                page=self._file.number,
                number=number,
                offset=offset,
                length=length,
                fields=fields,
            ),
        )

    def end(self, records: int) -> None:
        """Do nothing: only text has sums."""

    def damage(self, damage: Damage) -> None:
        """Write where the reading of the page stopped."""
        self._items.add(
            "records",
            DamagedEnd(
                store=self._store.name,
                store_address=self._store.address,
                page=self._file.number,
                damage=DamageDetail.of(damage),
            ),
        )

    def close(self) -> None:
        """Write the end of the document."""
        self._items.end()


class PageInspectionText:
    """The fields of each record of a page, with the bytes beside them if that is wanted."""

    def __init__(self, place: DataLocation, *, with_bytes: bool) -> None:
        self._place = place
        self._view = HexView(sys.stdout, with_bytes=with_bytes, coloured=coloured(sys.stdout))

    def begin(self, store: Store, file: PageFile, page: Page) -> None:
        """Print the head of a page whose records follow."""
        self._file, self._page = file, page
        layout = page.layout()
        shown = "not known from any record" if layout is None else str(layout.value)
        address = "no address" if store.address is None else one_line(store.address)
        self._view.heading(folded(f"page {file.number}  {one_line(str(file.path))}"))
        self._view.line(f"address {address}, {file.size} bytes, layout {shown}")

    def record(self, number: int, offset: int, length: int) -> None:
        """Print a record with its fields."""
        self._view.record(self._page.buf, number, offset, length)

    def end(self, records: int) -> None:
        """Print how many of the bytes belong to records."""
        read = self._page.bytes_read
        self._view.line(f"{count_text(records, 'record')}, {read} of {self._file.size} bytes belong to them")

    def damage(self, damage: Damage) -> None:
        """Print where the reading of the page stopped, and how many whole records follow."""
        behind = sum(1 for _ in self._page.recovered())
        self._view.damage(self._page.buf, damage, behind, self._place)

    def close(self) -> None:
        """Do nothing: a text is complete."""


PageInspection: TypeAlias = PageInspectionText | PageInspectionJson


class JournalInspectionJson:
    """A JSON object for each record of a journal file, and for each torn one."""

    def __init__(self, *, with_bytes: bool, lines: bool) -> None:
        self._with_bytes = with_bytes
        self._items = JsonItems("records", lines=lines)

    def begin(self, file: JournalFile) -> None:
        """Take the file whose records follow."""
        self._file = file

    def record(self, frame: JournalFrame, content: bytes) -> None:
        """Write a record. ``content``: its bytes."""
        from pagefmt.describe.journal_anatomy import journal_fields

        within = frame._replace(at=0, body=frame.body - frame.at)
        fields = journal_fields(content, within, self._file.header.version)
        self._items.add(
            "records",
            InspectedJournalRecord(
                file=self._file.name,
                offset=frame.at,
                length=frame.total,
                fields=inspected_fields(content, fields, with_bytes=self._with_bytes, base=frame.at),
            ),
        )

    def torn(self, records: Iterable[TornRecord]) -> None:
        """Write the torn records of a file."""
        for record in records:
            torn = TornDetail(offset=record.offset, detail=record.detail)
            self._items.add("records", TornJournalRecord(file=self._file.name, torn=torn))

    def close(self) -> None:
        """Write the end of the document."""
        self._items.end()


class JournalInspectionText:
    """The fields of each record of a journal file, with the bytes beside them if that is wanted."""

    def __init__(self, *, with_bytes: bool) -> None:
        self._view = HexView(sys.stdout, with_bytes=with_bytes, coloured=coloured(sys.stdout))

    def begin(self, file: JournalFile) -> None:
        """Print the head of a file whose records follow."""
        self._file = file
        header = file.header
        self._view.heading(folded(f"{file.name}  {one_line(str(file.path))}"))
        self._view.line(
            f"file id {header.file_id}, {file.size} bytes, format {header.version}, user version {header.user_version}"
        )

    def record(self, frame: JournalFrame, content: bytes) -> None:
        """Print a record. ``content``: its bytes."""
        from pagefmt.describe.journal_anatomy import journal_fields

        within = frame._replace(at=0, body=frame.body - frame.at)
        fields = journal_fields(content, within, self._file.header.version)
        self._view.fields(content, _title(frame), 0, frame.total, fields, frame.at)

    def torn(self, records: Iterable[TornRecord]) -> None:
        """Print the torn records of a file."""
        for record in records:
            self._view.torn(record.offset, record.detail)

    def close(self) -> None:
        """Do nothing: a text is complete."""


def _title(frame: JournalFrame) -> str:
    from pagefmt.journal.record_types import type_name
    from pagefmt.journal.records import RecordKind

    kind = RecordKind(frame.kind).name
    return f"{kind} {frame.id} {type_name(frame.user_type)}" if frame.user_type else f"{kind} {frame.id or frame.tx}"
