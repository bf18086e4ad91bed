"""Messages of the journal that a broker cannot read, found as columns are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pagefmt.check.broker_reader import read_as_broker
from pagefmt.codec.messages.persisters import AMQP
from pagefmt.codec.pages.record import ORDINARY, OTHER_LARGE
from pagefmt.describe.arrow_schema import Detail
from pagefmt.editions import Edition
from pagefmt.findings import Finding, Severity, about_data
from pagefmt.outstanding.journal_parts import JournalPart, JournalParts
from pagefmt.vectors import PageBytes, decode_page

_LARGE_TYPE: Final = 5 + 8  # offset in a record: after start mark, length and transaction; the persister follows
_TAKE_OUT: Final = "save what is left of it with 'pagectl messages decode' and take it out with 'pagectl recover'"


def unreadable_messages(parts: JournalParts, edition: Edition) -> Iterator[Finding]:
    """Yield a finding for each unreadable message. ``edition``: of the broker that would be started."""
    for part in parts.parts():
        if not isinstance(part, JournalPart):
            yield about_data(Severity.WARNING, "journal-file", "journal", part.why, "is working on it")
            continue
        for odd_record in decode_page(PageBytes(part.page.content), 0, Detail.PROPERTIES).odd.values():
            file, damage = part.damage(odd_record)
            yield about_data(
                Severity.ERROR,
                "unreadable-message",
                f"journal/{file.name}",
                f"offset {damage.offset}: {damage.kind}: {damage.detail}",
                _at_start(memoryview(part.page.content)[odd_record.offset :], edition),
            )


def _at_start(record: memoryview, edition: Edition) -> str:
    """Return what a starting broker does with an unreadable message (docs/spec/journal.md 7.5)."""
    reading = read_as_broker(record, edition)
    if reading.error and not reading.records:
        return f"does not start; {_TAKE_OUT}"
    large_type, persister = record[_LARGE_TYPE], record[_LARGE_TYPE + 1]
    if large_type == OTHER_LARGE or (large_type == ORDINARY and persister in AMQP):
        return "starts; a client or protocol that needs what cannot be read does not get the message"
    if edition < Edition.ARTEMIS_2_28:
        return f"does not start (AMQ224000); {_TAKE_OUT}"
    return f"starts, logs AMQ222304 and loses the message; before the first start, {_TAKE_OUT}"
