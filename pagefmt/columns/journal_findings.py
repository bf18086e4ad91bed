"""Messages of the journal that a broker cannot read, found as columns are read."""

from __future__ import annotations

from collections.abc import Iterator

from pagefmt.columns.arrays.schema import Detail
from pagefmt.columns.page import decode_page
from pagefmt.editions import Edition
from pagefmt.findings import Finding, Severity, about_data
from pagefmt.outstanding.journal_parts import JournalPart, JournalParts
from pagefmt.pages.gather import PageBytes
from pagefmt.verify.broker_reader import read_as_broker


def unreadable_messages(parts: JournalParts, edition: Edition) -> Iterator[Finding]:
    """One finding for each. ``edition``: of the broker that would be started."""
    for part in parts.parts():
        if not isinstance(part, JournalPart):
            yield about_data(Severity.WARNING, "journal-file", "journal", part.why, "is working on it")
            continue
        for found in decode_page(PageBytes(part.page.content), 0, Detail.PROPERTIES).odd.values():
            file, damage = part.damage(found)
            reading = read_as_broker(memoryview(part.page.content)[found.offset :], edition)
            yield about_data(
                Severity.ERROR,
                "unreadable-message",
                f"journal/{file.name}",
                f"offset {damage.offset}: {damage.kind}: {damage.detail}",
                "does not start"
                if reading.error and not reading.records
                else "starts, and fails when the message is delivered",
            )
