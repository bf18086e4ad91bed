"""What is read for messages, in its order: the pages of stores, and for ``messages`` the journal in front of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from pagectl.running.reading import each_store, warn_unknown_outstanding
from pagectl.terminal.streams import note, warning
from pagefmt.quantities import count_text
from pagefmt.table.table_content import StoredIn

if TYPE_CHECKING:
    from pagefmt.arrays import Ints
    from pagefmt.codec.messages.large import LargeMessages
    from pagefmt.codec.pages.file_part import FilePart
    from pagefmt.codec.pages.frames import Damage
    from pagefmt.codec.pages.page_file import PageFile
    from pagefmt.codec.pages.page_in_memory import PageInMemory
    from pagefmt.directory.locate import DataLocation
    from pagefmt.editions import Edition
    from pagefmt.outstanding.journal_parts import JournalPart, JournalParts
    from pagefmt.outstanding.message_filter import MessageFilter
    from pagefmt.outstanding.message_location import MessageOrigin, PageOrigin, ScheduledRecord
    from pagefmt.outstanding.state import PagingState, StoreState
    from pagefmt.table.table import PageSource


# bytes of pages that brokers read ahead for a queue by default (max-read-page-bytes: two pages)
READ_AHEAD: Final = 20 << 20


class PageToRead(NamedTuple):
    """``known``: of its store. ``origin``: set where lines say where messages lie. ``part``: None: all of it."""

    known: StoreState | JournalPart
    page: PageFile | PageInMemory
    choice: MessageFilter
    origin: MessageOrigin | None = None
    part: FilePart | None = None

    def is_whole(self) -> bool:
        """Return whether the page is read from start to end, with no record left for later."""
        from pagefmt.outstanding.message_location import PageOrigin

        return self.part is None and not (isinstance(self.origin, PageOrigin) and self.origin.apart)

    def is_whole_page(self) -> bool:
        """Return whether this is a page file that is read from start to end."""
        from pagefmt.codec.pages.page_file import PageFile

        return isinstance(self.page, PageFile) and self.is_whole()

    def source(self) -> PageSource:
        """Return the page as a source of rows of a table."""
        from pagefmt.codec.pages.file_part import WHOLE_FILE
        from pagefmt.table.table import PageSource

        store, number = self.known.store, self.page.number
        rule, part = self.known.rule(number), self.part or WHOLE_FILE
        return PageSource(self.page, number, store.name, store.address, rule, part, origin=self.origin)

    def tell(self, damaged: Damage) -> bool:
        """Report damage on standard error.

        Returns whether it is damage, as opposed to a file that a running broker is changing.
        """
        from pagefmt.codec.pages.frames import DamageKind

        file, damage, motion = self.placed(damaged)
        if motion is not None:
            note(f"{file}: offset {damage.offset}: {motion}")
            return False
        if damage.kind is not DamageKind.NOT_PERMITTED:  # those were told before
            warning(f"{file}: offset {damage.offset}: {damage.kind}: {damage.detail}")
        return True

    def placed(self, damaged: Damage) -> tuple[str, Damage, str | None]:
        """Return the damaged file, the damage with its offset there, and what a running broker is doing to the file.

        The last is None if no running broker explains the damage.
        """
        from pagefmt.codec.pages.page_file import PageFile
        from pagefmt.outstanding.journal_parts import JournalPart

        if isinstance(self.known, JournalPart):
            file, damage = self.known.damage(damaged)
            return str(file.path), damage, None
        assert isinstance(self.page, PageFile)
        return str(self.page.path), damaged, self.known.motion(self.page, damaged)


@dataclass(slots=True)
class PageSources:
    """The pages of all stores that are asked for. ``damaged``: something was met that cannot be read or is unknown."""

    place: DataLocation
    state: PagingState
    choice: MessageFilter
    damaged: bool = False

    def __iter__(self) -> Iterator[PageToRead]:
        yield from self.in_front()
        yield from map(self.prepared, self.pages())

    @property
    def listable(self) -> bool:
        """Return whether all pages can be listed before any is read."""
        return True

    def in_front(self) -> Iterator[PageToRead]:
        """Yield what is read before the pages."""
        yield from ()

    def prepared(self, page: PageToRead) -> PageToRead:
        """Return a page of ``pages`` with the origin that its lines show."""
        return page

    def pages(self) -> Iterator[PageToRead]:
        """Yield the chosen pages of all stores, in the order of the stores."""
        for store_state in each_store(self.place, self.state):
            choice = self.choice.of_store(store_state.store.address)
            if choice is None:
                continue
            if choice.outstanding or store_state.store.problem:
                self.damaged |= warn_unknown_outstanding(store_state, "what is unacknowledged is shown")
            for why in store_state.left_out(choice.pages.__contains__):
                self.damaged = True
                warning(why)
            for page in store_state.store.pages:
                if page.number in choice.pages:
                    yield PageToRead(store_state, page, choice)


@dataclass(slots=True)
class AllSources(PageSources):
    """The journal as well, unless ``within`` names one of the two.

    What one queue waits for comes ``in_order``: that in which it is delivered, where so many bytes of pages
    (``window``) are in memory together. ``part_size``: bytes per part of the journal, None for the usual size.
    """

    within: StoredIn = StoredIn.LIVE
    large: LargeMessages | None = None
    edition: Edition | None = None
    in_order: bool = True
    window: int = READ_AHEAD
    part_size: int | None = None
    now: int = field(default_factory=lambda: int(time.time() * 1000))
    _later: list[tuple[int, PageToRead]] = field(default_factory=list)

    def __iter__(self) -> Iterator[PageToRead]:
        queue = self._delivered_queue
        if queue is None:
            yield from PageSources.__iter__(self)
            return
        journal = self._journal_parts()
        yield from self._delivered(journal, queue)
        self._tell_gone(journal)

    @property
    def _delivered_queue(self) -> int | None:
        queues = self.choice.queues if self.in_order and self.choice.outstanding else None
        return next(iter(queues)) if queues is not None and len(queues) == 1 else None

    @property
    def listable(self) -> bool:
        """Return whether all pages can be listed first: not in delivery order, which depends on their content."""
        return self._delivered_queue is None

    def in_front(self) -> Iterator[PageToRead]:
        """Yield the parts of the journal."""
        if self._with_journal:
            journal = self._journal_parts()
            yield from self._journal(journal, None)
            self._tell_gone(journal)

    @property
    def _with_journal(self) -> bool:
        from pagefmt.outstanding.message_filter import PageRange

        return self.choice.pages == PageRange() and self.within is not StoredIn.PAGES

    def pages(self) -> Iterator[PageToRead]:
        """Yield the chosen pages of all stores, in order; none if only the journal is read."""
        if self.within is not StoredIn.JOURNAL:
            yield from PageSources.pages(self)

    def _journal_parts(self) -> JournalParts:
        from pagefmt.directory.edition_evidence import assumed_edition
        from pagefmt.outstanding.journal_parts import JournalParts
        from pagefmt.outstanding.schedules import BrokerStart

        edition = self.edition or assumed_edition(self.state.bindings, self.state.journal)
        parts = JournalParts(self.state, self.large, BrokerStart(self.now, edition))
        missing = {message for message, _ in parts.messages.lost}
        if missing and not self.state.live:
            self.damaged = True
            warning(
                f"{count_text(len(missing), 'message')} that queues refer to are missing from the journal; "
                f"see: {self.place.call('messages verify')}"
            )
        return parts

    def _tell_gone(self, journal: JournalParts) -> None:
        if journal.gone:
            note(f"not shown: {count_text(journal.gone, 'message')} of the journal that the broker finished meanwhile")

    def _delivered(self, journal: JournalParts, queue: int) -> Iterator[PageToRead]:
        """Yield parts in delivery order.

        Messages that a broker reads into memory together come by priority, scheduled ones last, by their time.
        """
        from pagefmt.table.delivery_order import delivery_order

        due, priority, later, times = delivery_order(journal, queue)
        together: list[_Turn] = []
        if self._with_journal:
            for priority_value in sorted(set(priority.tolist()), reverse=True):
                together.append(_Turn(-priority_value, True, self._journal(journal, due[priority == priority_value])))
            for n, at in enumerate(times.tolist()):
                self._later += [(at, part) for part in self._journal(journal, later[n : n + 1])]
        size = 0
        for page in self.pages():
            if size > self.window:
                yield from _by_turn(together)
                together, size = [], 0
            together += self._turns(page, journal.start.edition)
            size += page.page.size
        yield from _by_turn(together)
        for _, part in sorted(self._later, key=lambda priority_value: (priority_value[0] < 0, priority_value[0])):
            yield part

    def _turns(self, page: PageToRead, edition: Edition) -> Iterator[_Turn]:
        from pagefmt.codec.messages.amqp_message import DEFAULT_PRIORITY
        from pagefmt.codec.pages.page_file import PageFile
        from pagefmt.table.delivery_order import page_turns

        assert isinstance(page.page, PageFile)
        origin = self._origin(page, apart=True)
        turns = page_turns(page.page, page.known.rule(page.page.number), page.choice, origin, edition)
        if turns is None:
            yield _Turn(-DEFAULT_PRIORITY, True, self._whole(page))
            return
        self._later += [(record.time, self._record(page, record)) for record in origin.set_apart]
        for turn in turns:
            origin_of_turn = replace(self._origin(page), only=turn.numbers)
            yield _Turn(-turn.priority, not turn.late, iter((page._replace(origin=origin_of_turn, part=turn.part),)))

    def _whole(self, page: PageToRead) -> Iterator[PageToRead]:
        """Yield a page that is not regular in its own order, and set its scheduled records apart."""
        origin = self._origin(page, apart=True)
        yield page._replace(origin=origin)
        self._later += [(record.time, self._record(page, record)) for record in origin.set_apart]

    def _journal(self, journal: JournalParts, numbers: Ints | None) -> Iterator[PageToRead]:
        from pagefmt.outstanding.journal_parts import JournalPart

        choice = self.choice.of_store(None)
        for part in journal.parts(numbers, self.part_size) if choice is not None else ():
            if isinstance(part, JournalPart) and choice is not None:
                yield PageToRead(part, part.page, choice, part.origin)
            elif not isinstance(part, JournalPart):
                self.damaged = True
                warning(f"{part.why}; {count_text(part.messages, 'message')} of the journal not shown")

    def prepared(self, page: PageToRead) -> PageToRead:
        """Return a page with the states of its messages in their queues."""
        return page._replace(origin=self._origin(page))

    def _origin(self, page: PageToRead, *, apart: bool = False) -> PageOrigin:
        from pagefmt.codec.pages.page_file import PageFile
        from pagefmt.outstanding.message_location import PageOrigin

        store_state = page.known
        assert isinstance(page.page, PageFile)
        unknown = None if store_state.unknown is None else store_state.unknown.reason
        file = f"{store_state.store.name}/{page.page.name}"
        queues = self.state.bindings.queues if self.state.bindings is not None else {}
        return PageOrigin(queues, unknown, self.large, self.now, file, apart)

    def _record(self, page: PageToRead, record: ScheduledRecord) -> PageToRead:
        from pagefmt.codec.pages.file_part import FilePart

        part = FilePart(record.offset, record.number, record.end)
        return page._replace(origin=self._origin(page), part=part)


class _Turn(NamedTuple):
    """What is delivered together. ``priority``: negative, so that they sort; ``after``: others of it come first."""

    priority: int
    after: bool
    parts: Iterator[PageToRead]


def _by_turn(together: list[_Turn]) -> Iterator[PageToRead]:
    for turn in sorted(together, key=lambda turn: turn[:2]):
        yield from turn.parts
