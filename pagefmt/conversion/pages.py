"""A page record by record in the new form; each keeps its number."""

from __future__ import annotations

from collections.abc import Iterator

from pagefmt.bytes.wire import Undecodable
from pagefmt.compaction.journals import LARGEST_ID
from pagefmt.conversion.forms import NewForm
from pagefmt.pages.frames import Damage
from pagefmt.pages.page import OddRecord, Page
from pagefmt.pages.record import FRAME, OTHER_LARGE, Layout
from pagefmt.pages.routes import Route
from pagefmt.pages.stubs import stub


class NewPage:
    """One page. When ``records`` is exhausted: ``changed``, whether any is other than it was; ``lost``: what cannot be
    read, in the place of which a stub stands; ``highest``: of the ids in it that damage has not made absurd."""

    def __init__(self, page: Page, form: NewForm, address: str | None) -> None:
        self.page, self.form, self.address = page, form, address
        self.old = form.old or page.layout() is Layout.OLD
        self.changed = False
        self.lost: list[Damage] = []
        self.highest = 0

    @property
    def rewritten(self) -> bool:
        """The file is not copied as it is."""
        return self.old or self.changed

    def records(self) -> Iterator[bytes | memoryview]:
        """With their frames."""
        for found in self.page.handed_out():
            if isinstance(found, Damage):
                yield self._stub(found, 0)
            else:
                self.highest = max(self.highest, *(each for each in (found[3], found[5]) if each < LARGEST_ID), 0)
                yield self._record(found)

    def content(self) -> Iterator[bytes | memoryview]:
        """What stands behind the last record of a page of 2.x is taken along."""
        yield from self.records()
        if not self.old:
            yield self.page.buf[self.page.bytes_read :]

    def _record(self, route: Route) -> bytes | memoryview:
        number, offset, length, _, large, message_id, _ = route
        same = self.page.buf[offset : offset + length + FRAME]
        if not self.old and large != OTHER_LARGE:
            return same
        found = self.page.understood(route)
        if isinstance(found, OddRecord):
            if found.record is None:
                return self._stub(found.damage, message_id) if self.old else same
            found = found.record
        if not self.old and self.form.stays(found.message):
            return same
        try:
            new = self.form.record(found, self.address)
        except Undecodable as err:
            return self._stub(self.page.undecodable(offset, number, err), message_id)
        self.changed = True
        return new

    def _stub(self, damage: Damage, message_id: int) -> bytes:
        self.lost.append(damage)
        self.changed = True
        return stub(Layout.NEW, max(message_id, 0))
