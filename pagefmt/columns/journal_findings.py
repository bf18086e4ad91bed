"""Messages of the journal that a broker cannot read, found as columns are read."""

from __future__ import annotations

from collections.abc import Iterator

from pagefmt.columns.arrays.schema import Detail
from pagefmt.columns.page import decode_page
from pagefmt.findings import Finding, Severity, about_data
from pagefmt.outstanding.journal_parts import JournalPart, JournalParts
from pagefmt.pages.gather import PageBytes


def unreadable_messages(parts: JournalParts) -> Iterator[Finding]:
    """One finding for each."""
    for part in parts.parts():
        if not isinstance(part, JournalPart):
            yield about_data(Severity.WARNING, "journal-file", "journal", part.why, "is at work on it")
            continue
        for found in decode_page(PageBytes(part.page.content), 0, Detail.PROPERTIES).odd.values():
            file, damage = part.damage(found)
            yield about_data(
                Severity.ERROR,
                "unreadable-message",
                f"journal/{file.name}",
                f"offset {damage.offset}: {damage.kind}: {damage.detail}",
                "may refuse to start on it",
            )
