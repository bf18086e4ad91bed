"""What is read for messages, in its order: the pages of stores, and for ``messages`` the journal in front of them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from pagectl.running.reading import each_store, told_unknown
from pagectl.terminal.streams import note, warning
from pagefmt.columns.table_content import StoredIn
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pagefmt.columns.table import PageSource
    from pagefmt.directory.locate import DataLocation
    from pagefmt.editions import Edition
    from pagefmt.messages.large import LargeMessages
    from pagefmt.outstanding.journal_parts import JournalPart, JournalParts
    from pagefmt.outstanding.message_filter import MessageFilter
    from pagefmt.outstanding.origins import MessageOrigin, PageOrigin, ScheduledRecord
    from pagefmt.outstanding.state import PagingState, StoreState
    from pagefmt.pages.chunks import FilePart
    from pagefmt.pages.frames import Damage
    from pagefmt.pages.gather import Ints
    from pagefmt.pages.in_memory import PageInMemory
    from pagefmt.pages.paging import PageFile


READ_AHEAD: Final = 20 << 20
"""Bytes of pages that brokers hold of a queue unless told otherwise (max-read-page-bytes: two pages)."""


class PageToRead(NamedTuple):
    """``known``: of its store. ``origin``: set where lines say where messages lie. ``part``: None: all of it."""

    known: StoreState | JournalPart
    page: PageFile | PageInMemory
    choice: MessageFilter
    origin: MessageOrigin | None = None
    part: FilePart | None = None

    def is_whole(self) -> bool:
        """To be read from start to end, with nothing that is left for later."""
        from pagefmt.outstanding.origins import PageOrigin

        return self.part is None and not (isinstance(self.origin, PageOrigin) and self.origin.apart)

    def is_whole_page(self) -> bool:
        """The same, of a page file."""
        from pagefmt.pages.paging import PageFile

        return isinstance(self.page, PageFile) and self.is_whole()

    def source(self) -> PageSource:
        """Return the page as a source of rows of a table."""
        from pagefmt.columns.table import PageSource
        from pagefmt.pages.chunks import WHOLE_FILE

        store, number = self.known.store, self.page.number
        rule, part = self.known.rule(number), self.part or WHOLE_FILE
        return PageSource(self.page, number, store.name, store.address, rule, part, origin=self.origin)

    def tell(self, found: Damage) -> bool:
        """Say it on standard error; whether it is damage, and not what a running broker is doing."""
        from pagefmt.pages.frames import DamageKind

        file, damage, motion = self.placed(found)
        if motion is not None:
            note(f"{file}: offset {damage.offset}: {motion}")
            return False
        if damage.kind is not DamageKind.NOT_PERMITTED:  # those were told before
            warning(f"{file}: offset {damage.offset}: {damage.kind}: {damage.detail}")
        return True

    def placed(self, found: Damage) -> tuple[str, Damage, str | None]:
        """The file that it is in, the damage at its place there, and what a running broker does in its place."""
        from pagefmt.outstanding.journal_parts import JournalPart
        from pagefmt.pages.paging import PageFile

        if isinstance(self.known, JournalPart):
            file, damage = self.known.damage(found)
            return str(file.path), damage, None
        assert isinstance(self.page, PageFile)
        return str(self.page.path), found, self.known.motion(self.page, found)


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
        """What to read is known before anything was read."""
        return True

    def in_front(self) -> Iterator[PageToRead]:
        """What comes before the pages."""
        yield from ()

    def prepared(self, found: PageToRead) -> PageToRead:
        """One of ``pages`` with what its lines say of it."""
        return found

    def pages(self) -> Iterator[PageToRead]:
        """Of all stores, in their order."""
        for known in each_store(self.place, self.state):
            choice = self.choice.of_store(known.store.address)
            if choice is None:
                continue
            if choice.outstanding or known.store.problem:
                self.damaged |= told_unknown(known, "what is unacknowledged is shown")
            for why in known.left_out(choice.pages.__contains__):
                self.damaged = True
                warning(why)
            for page in known.store.pages:
                if page.number in choice.pages:
                    yield PageToRead(known, page, choice)


@dataclass(slots=True)
class AllSources(PageSources):
    """The journal as well, unless ``within`` names one of the two.

    What one queue waits for comes ``in_order``: that in which it is delivered, where so many bytes of pages
    (``window``) are in memory together.
    """

    within: StoredIn = StoredIn.LIVE
    large: LargeMessages | None = None
    edition: Edition | None = None
    in_order: bool = True
    window: int = READ_AHEAD
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
        """What is delivered when is found on the way."""
        return self._delivered_queue is None

    def in_front(self) -> Iterator[PageToRead]:
        """The journal."""
        if self._with_journal:
            journal = self._journal_parts()
            yield from self._journal(journal, None)
            self._tell_gone(journal)

    @property
    def _with_journal(self) -> bool:
        from pagefmt.outstanding.message_filter import PageRange

        return self.choice.pages == PageRange() and self.within is not StoredIn.PAGES

    def pages(self) -> Iterator[PageToRead]:
        """Of all stores, in their order; none if only the journal is asked for."""
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
        """All that is read together comes by priority, what has a time at its time."""
        from pagefmt.columns.delivery_order import delivery_order

        due, priority, later, times = delivery_order(journal, queue)
        together: list[_Turn] = []
        if self._with_journal:
            for each in sorted(set(priority.tolist()), reverse=True):
                together.append(_Turn(-each, True, self._journal(journal, due[priority == each])))
            for n, at in enumerate(times.tolist()):
                self._later += [(at, part) for part in self._journal(journal, later[n : n + 1])]
        size = 0
        for found in self.pages():
            if size > self.window:
                yield from _by_turn(together)
                together, size = [], 0
            together += self._turns(found, journal.start.edition)
            size += found.page.size
        yield from _by_turn(together)
        for _, part in sorted(self._later, key=lambda each: (each[0] < 0, each[0])):
            yield part

    def _turns(self, found: PageToRead, edition: Edition) -> Iterator[_Turn]:
        from pagefmt.columns.delivery_order import page_turns
        from pagefmt.messages.amqp_message import DEFAULT_PRIORITY
        from pagefmt.pages.paging import PageFile

        assert isinstance(found.page, PageFile)
        origin = self._origin(found, apart=True)
        turns = page_turns(found.page, found.known.rule(found.page.number), found.choice, origin, edition)
        if turns is None:
            yield _Turn(-DEFAULT_PRIORITY, True, self._whole(found))
            return
        self._later += [(each.time, self._record(found, each)) for each in origin.set_apart]
        for turn in turns:
            mine = replace(self._origin(found), only=turn.numbers)
            yield _Turn(-turn.priority, not turn.late, iter((found._replace(origin=mine, part=turn.part),)))

    def _whole(self, found: PageToRead) -> Iterator[PageToRead]:
        """A page that is not regular, in its own order."""
        origin = self._origin(found, apart=True)
        yield found._replace(origin=origin)
        self._later += [(each.time, self._record(found, each)) for each in origin.set_apart]

    def _journal(self, journal: JournalParts, numbers: Ints | None) -> Iterator[PageToRead]:
        from pagefmt.outstanding.journal_parts import JournalPart

        choice = self.choice.of_store(None)
        for part in journal.parts(numbers) if choice is not None else ():
            if isinstance(part, JournalPart) and choice is not None:
                yield PageToRead(part, part.page, choice, part.origin)
            elif not isinstance(part, JournalPart):
                self.damaged = True
                warning(f"{part.why}; {count_text(part.messages, 'message')} of the journal not shown")

    def prepared(self, found: PageToRead) -> PageToRead:
        """With how its messages stand with their queues."""
        return found._replace(origin=self._origin(found))

    def _origin(self, found: PageToRead, *, apart: bool = False) -> PageOrigin:
        from pagefmt.outstanding.origins import PageOrigin
        from pagefmt.pages.paging import PageFile

        known = found.known
        assert isinstance(found.page, PageFile)
        unknown = None if known.unknown is None else known.unknown.reason
        file = f"{known.store.name}/{found.page.name}"
        queues = self.state.bindings.queues if self.state.bindings is not None else {}
        return PageOrigin(queues, unknown, self.large, self.now, file, apart)

    def _record(self, found: PageToRead, record: ScheduledRecord) -> PageToRead:
        from pagefmt.pages.chunks import FilePart

        part = FilePart(record.offset, record.number, record.end)
        return found._replace(origin=self._origin(found), part=part)


class _Turn(NamedTuple):
    """What is delivered together. ``priority``: negative, so that they sort; ``after``: others of it come first."""

    priority: int
    after: bool
    parts: Iterator[PageToRead]


def _by_turn(together: list[_Turn]) -> Iterator[PageToRead]:
    for turn in sorted(together, key=lambda turn: turn[:2]):
        yield from turn.parts
