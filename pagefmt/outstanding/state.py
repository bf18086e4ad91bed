"""What is still to be delivered, and who keeps the disk full (docs/spec/journal.md 7).

    state = load_state(paging, journal, bindings)
    for store in state.stores():
        summary = store.summary()          # per queue and per page; one page in memory at a time

Messages that never left the journal are not part of this; ``PagingState.journal`` has their references.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache, partial
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from pagefmt.ahead import one_ahead
from pagefmt.directory.bindings import Bindings, QueueBinding
from pagefmt.directory.locate import DataLocation, LocationKind
from pagefmt.directory.locks import running_broker
from pagefmt.directory.store_findings import StoreFault, every_page, store_findings
from pagefmt.errors import PageFmtError
from pagefmt.findings import Finding, Severity
from pagefmt.journal.load import LoadedJournal
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.outstanding.ack_state import LIVE, AckState, PageRule
from pagefmt.outstanding.knowledge import (
    KnownJournals,
    Unknown,
    UnknownPart,
    load_journals,
    load_names,
    lost_acknowledgements,
    unknown_address,
)
from pagefmt.outstanding.page_load import PageLoad, QueueLoad, spanned
from pagefmt.outstanding.snapshot import Snapshot, take_snapshot
from pagefmt.pages.frames import Damage, DamageKind
from pagefmt.pages.page import open_page
from pagefmt.pages.paging import PageFile, PagingDirectory, Store, open_paging, read_store, same_addresses
from pagefmt.pages.record import FRAME
from pagefmt.pages.routes import Route
from pagefmt.quantities import count_text

_UNKNOWN_FAULTS: Final = (StoreFault.NO_ADDRESS, StoreFault.UNLISTED)
BEING_WRITTEN: Final = "being written"
DELETED: Final = "deleted by the broker meanwhile"
_HALF_WRITTEN: Final = (DamageKind.FRAGMENT, DamageKind.TORN, DamageKind.ZERO_TAIL)


class CannotKnow(PageFmtError):
    """A question that needs a directory which is not there."""


class StoreSummary(NamedTuple):
    """``queues``: of the address by id, also those that nothing is outstanding for. ``pages`` ascending.

    ``moving``: page → what a running broker is doing with it.
    ``unknown`` set: the loads say what the acknowledgement records say, not what is outstanding.
    """

    address: str | None
    folder: str
    queues: tuple[QueueLoad, ...]
    pages: tuple[PageLoad, ...]
    unknown: Unknown | None
    moving: dict[int, str]


class StoreRemark(Enum):
    """What a remark on a store is about."""

    UNKNOWN = "unknown"
    SAME_ADDRESS = "same address"
    LOST = "lost acknowledgements"


@dataclass(frozen=True, slots=True)
class StoreState:
    """One store folder with what the journals say about it.

    ``queues``: of its address; None: any. ``unknown`` set: what is outstanding in it is not known, and ``queues`` are
    all that it might be for. ``same_address``: this folder and others of its address, in listing order.
    ``addresses``: of all queues. ``live``: a broker is at work on it. ``again``: as ``KnownJournals`` has it.
    """

    store: Store
    journal: MessageJournal
    queues: dict[int, QueueBinding] | None
    unknown: Unknown | None = None
    same_address: tuple[str, ...] = ()
    addresses: Collection[str] = ()
    live: bool = False
    again: Callable[[], int | None] = lambda: None

    @property
    def read_instead(self) -> str | None:
        """The folder of the same address that a broker reads; None where it reads this one."""
        return self.same_address[-1] if self.same_address and self.same_address[-1] != self.store.name else None

    @property
    def unseen(self) -> str | None:
        """Why messages may wait in it that nobody sees: it cannot be listed, its address cannot be read, or a page is a
        link, which a broker follows."""
        if self.read_instead is not None:
            return None
        hidden = self.store.text.unseen and self.store.pages
        if self.store.problem or hidden:
            return self.store.problem or f"{self.store.name}: {self.store.text.problem}"
        linked = next((each for each in self.store.others if each.is_linked_page), None)
        if linked is None or self.store.address is None:
            return None
        return f"{self.store.name}/{linked.name} is not a regular file"

    def faults(self, asked: Callable[[int], bool] = every_page) -> Iterator[Finding]:
        """Yield what is wrong with the folder and its entries, but not that it has no address or cannot be listed.

        ``asked``: whether an entry with this page number is told.
        """
        for finding in store_findings(self.store, self.addresses, asked):
            if finding.severity is not Severity.INFO and finding.rule not in _UNKNOWN_FAULTS:
                yield finding

    def left_out(self, asked: Callable[[int], bool] = every_page) -> Iterator[str]:
        """Yield one line for each reason why messages of the store are not delivered, or not read here.

        Damage inside of pages is not among them, nor what ``unknown`` says.
        """
        if self.read_instead is not None and self.store.pages:
            yield (
                f"{self.store.name}: a broker delivers nothing from it, because {self.read_instead} names the same "
                "address; 'pagectl pages salvage' merges both"
            )
        elif not (self.queues or self.unknown or self.store.problem) and any(page.size for page in self.store.pages):
            yield (
                f"{self.store.name}: the bindings contain no queue of {self.store.address}, so its "
                f"{count_text(len(self.store.pages), 'page')} are never read"
            )
        by_rule: dict[str, list[Finding]] = {}
        for finding in self.faults(asked):
            by_rule.setdefault(finding.rule, []).append(finding)
        for first, *others in by_rule.values():
            more = f" and {count_text(len(others), 'other')}" if others else ""
            yield f"{str(first.place).removeprefix('store ').replace(', ', '/', 1)}{more}: {first.message}"

    def rule(self, page: int) -> PageRule | None:
        """The rule for the records of one page; None where the journal is not known."""
        if self.unknown is not None and self.unknown.part is UnknownPart.JOURNAL:
            return None
        return PageRule(self.journal, self.queues, page, live=self.live)

    def not_known(self, shown: str) -> str | None:
        """Set where it is not known what is outstanding: why, empty where that is so of the whole directory.

        ``shown``: what the answer has in place of it.
        """
        if self.unknown is None or self.unknown.alone or not (self.store.pages or self.store.problem):
            return None
        if self.store.problem:
            return self.store.problem
        if self.unknown.part is UnknownPart.ADDRESS:
            return f"{self.store.name}: {self.unknown.reason}; {shown}"
        return ""

    def motion(self, page: PageFile, damage: Damage) -> str | None:
        """As ``motion_of``; None where no broker is at work."""
        return motion_of(damage, newest=page.number == self.store.current_page) if self.live else None

    def sure_rule(self, page: int) -> PageRule:
        """The same. Raises ``CannotKnow`` where the journal is not known."""
        rule = self.rule(page)
        if rule is None:
            raise CannotKnow(f"{self.store.folder}: the journal is not known")
        return rule

    def remarks(self, messages: int, waiting: int | None) -> Iterator[tuple[StoreRemark, str]]:
        """What has to be said beside the number of messages, and of those unacknowledged (None: not counted)."""
        if self.unknown is not None and (messages or not self.unknown.alone):
            yield StoreRemark.UNKNOWN, self.unknown.about(messages, waiting)
        if self.read_instead is not None:
            yield (
                StoreRemark.SAME_ADDRESS,
                f"{self.read_instead} names the same address, and a broker delivers only from that one; 'pagectl pages "
                f"salvage' merges the {count_text(messages, 'message')} of this one into it",
            )
        elif self.same_address:
            remark = "another folder names the same address; a broker delivers only from this one"
            yield StoreRemark.SAME_ADDRESS, remark
        damage = self.journal.loaded.damage
        told = self.unknown is not None and self.unknown.part is UnknownPart.JOURNAL_FILE
        if damage is not None and waiting and not told:
            again = self.again()
            most = waiting if again is None else min(waiting, again)
            yield StoreRemark.LOST, lost_acknowledgements(damage, most)

    def ack_states(self, page: PageFile) -> Iterator[tuple[Route, list[tuple[int, AckState]]]]:
        """Every readable record of a page with what becomes of it for each queue that it names."""
        rule = self.sure_rule(page.number)
        with open_page(page) as opened:
            for route in opened.routes():
                yield route, rule.ack_states(route[0], route[3], route[6])

    def pages(self, queues: dict[int, QueueLoad], look: PageLook[LoadOfPage] | None = None) -> Iterator[PageLoad]:
        """Page by page; ``queues`` is filled on the way."""
        look = look or StoreState.page
        for page in self.store.pages:
            load, found = look(self, page)
            for queue in load.held_by:
                self._queue(queues, queue).add(load, found[queue])
            yield load

    def page(self, page: PageFile, keep: bool = False) -> LoadOfPage:
        """One page, and what it holds for each queue: with vectors, or record by record where they do not apply."""
        from pagefmt.outstanding.route_columns import IrregularPage

        try:
            return self._at_once(page, keep)
        except IrregularPage:
            return self._with_care(page, keep)

    def _at_once(self, page: PageFile, keep: bool) -> LoadOfPage:
        from pagefmt.outstanding.page_sum import PageSum
        from pagefmt.outstanding.route_columns import routed

        found = PageSum(page.number, keep)
        rule = self.sure_rule(page.number)
        for routes in routed(page):
            found.take(rule, routes)
        return found.load(page.size), found.queues

    def _with_care(self, page: PageFile, keep: bool) -> LoadOfPage:
        rule = self.sure_rule(page.number)
        counts: Counter[AckState] = Counter()
        found: dict[int, QueueLoad] = {}
        transactions: set[int] = set()
        live_records = live_bytes = 0
        with open_page(page) as opened:
            for route in opened.routes():
                number, _, length, tx, _, _, ids = route
                live = False
                if tx >= 0:
                    transactions.add(tx)
                for queue in ids:
                    ack_state = rule.ack_state(queue, number, tx)
                    counts[ack_state] += 1
                    if ack_state in LIVE:
                        live = True
                        self._queue(found, queue).take(ack_state, page.number, route, keep)
                if live:
                    live_records += 1
                    live_bytes += length + FRAME
            records, read, damage = opened.count, opened.bytes_read, opened.damage_in_messages()
        held_by = tuple(sorted(found))
        return PageLoad(
            page.number, page.size, records, read, live_records, live_bytes, held_by, dict(counts), damage,
            spanned(transactions),
        ), found  # fmt: skip

    def _queue(self, queues: dict[int, QueueLoad], queue: int) -> QueueLoad:
        found = queues.get(queue)
        if found is None:
            binding = self.queues.get(queue) if self.queues else None
            found = queues[queue] = QueueLoad(queue, binding)
        return found

    def summary(self, look: PageLook[LoadOfPage] | None = None, *, positions: bool = False) -> StoreSummary:
        """The whole store. ``positions``: with them, for who looks himself. Raises ``CannotKnow`` where the journal is
        not known."""
        expected = {} if self.unknown is not None else self.queues or {}
        queues = {number: QueueLoad(number, binding) for number, binding in sorted(expected.items())}
        pages = tuple(self.pages(queues, look or partial(StoreState.page, keep=positions)))
        ordered = tuple(queue for _, queue in sorted(queues.items()))
        moving = {
            load.page: motion
            for page, load in zip(self.store.pages, pages, strict=True)
            if load.damage is not None and (motion := self.motion(page, load.damage)) is not None
        }
        pages = tuple(load for load in pages if moving.get(load.page) != DELETED)
        return StoreSummary(self.store.address, self.store.name, ordered, pages, self.unknown, moving)


R = TypeVar("R")
PageLook = Callable[[StoreState, PageFile], R]
"""What looks at one page of a store."""
LoadOfPage = tuple[PageLoad, dict[int, QueueLoad]]
"""Of one page, and of the queues that it holds something for."""


@contextmanager
def looking_ahead(look: PageLook[R], stores: Sequence[StoreState], jobs: int) -> Iterator[PageLook[R]]:
    """``look`` for the pages of these stores in their order, of which some may be left out, by several processes."""
    pages = [(known, page) for known in stores for page in known.store.pages]
    with one_ahead(lambda at: look(*at), pages, (page.size for _, page in pages), jobs) as found:
        rest = iter(pages)
        yield lambda _, page: found(next(each for each in rest if each[1] is page))


@dataclass(frozen=True, slots=True)
class PagingState:
    """Journal, bindings and paging directory of one broker, loaded. ``bindings`` None: queues have no names.

    ``same_address``: addresses with several folders, in listing order: a broker reads the last one only.
    ``live``: a broker is at work. ``snapshot``: its pages, older than what the journal says; None where the stores
    that are asked about were listed before.
    """

    paging: PagingDirectory
    known: KnownJournals
    same_address: dict[str, list[str]]
    snapshot: Snapshot | None = None
    live: bool = False

    @property
    def journal(self) -> MessageJournal:
        """The message journal; empty where it is not known."""
        return self.known.journal

    @property
    def bindings(self) -> Bindings | None:
        """The bindings as far as they can be read."""
        return self.known.bindings

    @property
    def unknown(self) -> Unknown | None:
        """What keeps every store from being judged."""
        return self.known.unknown_journal or self.known.unknown_bindings or self.known.unread

    @property
    def addresses(self) -> set[str]:
        """Of all queues."""
        return {queue.address for queue in self.bindings.queues.values()} if self.bindings else set()

    def stores(self) -> Iterator[StoreState]:
        """All folders, by name; also those without an address, which brokers skip."""
        return self.of(self.paging.stores())

    def of(self, stores: Iterable[Store]) -> Iterator[StoreState]:
        """These folders, one at a time."""
        queues: dict[str, dict[int, QueueBinding]] = {}
        for number, queue in (self.bindings.queues if self.bindings else {}).items():
            queues.setdefault(queue.address, {})[number] = queue
        for store in stores:
            seen = store if self.snapshot is None else self.snapshot.cut(store)
            yield replace(self._state(seen, queues), live=self.live, again=self.known.again)

    def store(self, folder: Path) -> StoreState:
        """One folder."""
        return next(self.of([read_store(folder)]))

    def _state(self, store: Store, queues: dict[str, dict[int, QueueBinding]]) -> StoreState:
        """The one place that decides what is known of a store."""
        same = tuple(self.same_address.get(store.address, ())) if store.address is not None else ()
        if same and same[-1] != store.name:
            return StoreState(store, self.journal, {}, None, same, queues)
        if store.problem is not None:
            reason = f"{store.problem}, so its contents are not known"
            closed = Unknown(UnknownPart.FOLDER, reason, permitted=store.permitted)
            return StoreState(store, self.journal, None, closed, same, queues)
        unknown = self.known.unknown_journal or unknown_address(store) or self.known.unknown_bindings
        unknown = unknown or self.known.unread
        if self.known.unknown_bindings is not None:
            return StoreState(store, self.journal, None, unknown, same, queues)
        if store.address is None:
            return StoreState(store, self.journal, self.bindings.queues if self.bindings else None, unknown)
        return StoreState(store, self.journal, queues.get(store.address, {}), unknown, same, queues)


def motion_of(damage: Damage, *, newest: bool) -> str | None:
    """What a running broker is doing where this looks like damage; None where it is damage.

    It writes to the ``newest`` page of a store only, and deletes a page that all queues are done with.
    """
    if damage.kind is DamageKind.GONE:
        return DELETED
    return BEING_WRITTEN if newest and damage.kind in _HALF_WRITTEN else None


def load_state(paging: Path, journal: Path | None, bindings: Path | None) -> PagingState:
    """Journals are read now, pages when they are asked for."""
    place = DataLocation(paging, LocationKind.DATA, paging, journal, bindings)
    return _loaded(place, open_paging(paging), live=False, look=lambda loaded: None)


def load_place(
    place: DataLocation, *, locked: bool = False, look: Callable[[LoadedJournal], object] = lambda loaded: None
) -> PagingState:
    """What is known about the pages of a place; a store or page that lies by itself is all of its directory.

    ``locked``: this process holds the broker's locks, so that no broker is at work. ``look``: as ``load_journals``.
    """
    live = not locked and running_broker(place.journal) is not None
    return _loaded(place, _paging(place), live, look)


def load_pages(place: DataLocation) -> PagingState:
    """As ``load_place``, with the pages as they lie: nothing is known of what was acknowledged."""
    paging = _paging(place)
    live = running_broker(place.journal) is not None
    return PagingState(paging, load_names(place), same_addresses(paging), None, live)


def _paging(place: DataLocation) -> PagingDirectory:
    if place.paging is not None:
        return open_paging(place.paging)
    if place.store is not None:
        return PagingDirectory(place.store.parent, (place.store.name,), ())
    return PagingDirectory(place.given, (), ())


def _loaded(
    place: DataLocation, paging: PagingDirectory, live: bool, look: Callable[[LoadedJournal], object]
) -> PagingState:
    snapshot = take_snapshot(paging, place.large_messages) if live else None
    state = PagingState(paging, load_journals(place, look), same_addresses(paging), snapshot, live)
    return replace(state, known=state.known._replace(again=cache(lambda: _again(state))))


def _again(state: PagingState) -> int | None:
    """Return how many messages may be delivered again at most where a journal is damaged; None: not known.

    A record may have acknowledged a page with all that is in it.
    """
    damage = state.journal.loaded.damage
    if damage is None or state.known.unread is not None:
        return None
    waiting = int((~state.journal.reference_columns()[2]).sum())
    most_in_page = 1
    for store in state.stores():
        summary = store.summary()
        if store.unseen is not None or not all(page.readable for page in summary.pages):
            return None
        waiting += sum(queue.messages for queue in summary.queues)
        most_in_page = max([most_in_page, *(page.records for page in summary.pages)])
    room = damage.most_acknowledgements
    return waiting if room is None else min(waiting, room * most_in_page)
