"""A page record by record in the new form; each keeps its number."""

from __future__ import annotations

from collections.abc import Iterator

from pagefmt.change.compaction.journals import LARGEST_ID
from pagefmt.change.conversion.forms import NewForm
from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page import OddRecord, Page
from pagefmt.codec.pages.record import FRAME, OTHER_LARGE, Layout
from pagefmt.codec.pages.routes import Route
from pagefmt.codec.pages.stubs import stub
from pagefmt.codec.wire import Undecodable


class NewPage:
    """One page and its records in the new form.

    After ``records`` is exhausted: ``changed``, whether a record differs from the old one; ``lost``: damage that a stub
    replaces; ``highest``: the highest id in the page, apart from ids that damage made absurd.
    """

    def __init__(self, page: Page, form: NewForm, address: str | None) -> None:
        self.page, self.form, self.address = page, form, address
        self.old = form.old or page.layout() is Layout.OLD
        self.changed = False
        self.lost: list[Damage] = []
        self.highest = 0

    @property
    def rewritten(self) -> bool:
        """Return whether the new file differs from a plain copy."""
        return self.old or self.changed

    def records(self) -> Iterator[bytes | memoryview]:
        """Yield the records with their frames."""
        for record in self.page.handed_out():
            if isinstance(record, Damage):
                yield self._stub(record, 0)
            else:
                self.highest = max(
                    self.highest, *(number for number in (record[3], record[5]) if number < LARGEST_ID), 0
                )
                yield self._record(record)

    def content(self) -> Iterator[bytes | memoryview]:
        """Yield the bytes of the new page. For a page of 2.x this includes the bytes after its last record."""
        yield from self.records()
        if not self.old:
            yield self.page.buf[self.page.bytes_read :]

    def _record(self, route: Route) -> bytes | memoryview:
        number, offset, length, _, large, message_id, _ = route
        same = self.page.buf[offset : offset + length + FRAME]
        if not self.old and large != OTHER_LARGE:
            return same
        record = self.page.understood(route)
        if isinstance(record, OddRecord):
            if record.record is None:
                return self._stub(record.damage, message_id) if self.old else same
            record = record.record
        if not self.old and self.form.stays(record.message):
            return same
        try:
            new = self.form.record(record, self.address)
        except Undecodable as err:
            return self._stub(self.page.undecodable(offset, number, err), message_id)
        self.changed = True
        return new

    def _stub(self, damage: Damage, message_id: int) -> bytes:
        self.lost.append(damage)
        self.changed = True
        return stub(Layout.NEW, max(message_id, 0))
