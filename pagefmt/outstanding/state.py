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

from pagefmt.codec.pages.frames import Damage, DamageKind
from pagefmt.codec.pages.page import open_page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.record import FRAME
from pagefmt.codec.pages.routes import Route
from pagefmt.directory.bindings import Bindings, QueueBinding
from pagefmt.directory.locate import DataLocation, LocationKind
from pagefmt.directory.locks import running_broker
from pagefmt.directory.paging import PagingDirectory, Store, open_paging, read_store, same_addresses
from pagefmt.directory.store_findings import StoreFault, every_page, store_findings
from pagefmt.errors import PageFmtError
from pagefmt.findings import Finding, Severity
from pagefmt.journal.load import LoadedJournal
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.outstanding.ack_state import LIVE, AckState, PageRule
from pagefmt.outstanding.loaded_journals import (
    KnownJournals,
    Unknown,
    UnknownPart,
    load_journals,
    load_names,
    lost_acknowledgements,
    unknown_address,
)
from pagefmt.outstanding.page_load import PageLoad, QueueLoad, spanned
from pagefmt.outstanding.page_vectors import LoadOfPage, PageVectors
from pagefmt.outstanding.snapshot import Snapshot, take_snapshot
from pagefmt.parallel import one_ahead
from pagefmt.quantities import count_text

_UNKNOWN_FAULTS: Final = (StoreFault.NO_ADDRESS, StoreFault.UNLISTED)
BEING_WRITTEN: Final = "being written"
DELETED: Final = "deleted by the broker meanwhile"
_HALF_WRITTEN: Final = (DamageKind.FRAGMENT, DamageKind.TORN, DamageKind.ZERO_TAIL)


class CannotKnow(PageFmtError):
    """A question that needs a directory which is not there."""


class StoreSummary(NamedTuple):
    """What the queues of a store wait for.

    ``queues``: of the address by id, also those that nothing is outstanding for. ``pages`` ascending.

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
    """A store folder with the facts that the journals hold about it.

    ``queues``: of its address; None: any. ``unknown`` set: what is outstanding in it is not known, and ``queues`` are
    all that it might be for. ``same_address``: this folder and others of its address, in listing order.
    ``addresses``: of all queues. ``live``: a broker is at work on it. ``again``: as ``KnownJournals`` has it.
    ``vectors``: reads whole pages in one pass; None: every page is read record by record.
    """

    store: Store
    journal: MessageJournal
    queues: dict[int, QueueBinding] | None
    unknown: Unknown | None = None
    same_address: tuple[str, ...] = ()
    addresses: Collection[str] = ()
    live: bool = False
    again: Callable[[], int | None] = lambda: None
    vectors: PageVectors | None = None

    @property
    def read_instead(self) -> str | None:
        """Return the folder of the same address that a broker reads, or None if it reads this one."""
        return self.same_address[-1] if self.same_address and self.same_address[-1] != self.store.name else None

    @property
    def unseen(self) -> str | None:
        """Return why messages may wait here unseen, or None.

        The folder cannot be listed, its address cannot be read, or a page is a link, which a broker follows.
        """
        if self.read_instead is not None:
            return None
        hidden = self.store.text.unseen and self.store.pages
        if self.store.problem or hidden:
            return self.store.problem or f"{self.store.name}: {self.store.text.problem}"
        linked = next((entry for entry in self.store.others if entry.is_linked_page), None)
        if linked is None or self.store.address is None:
            return None
        return f"{self.store.name}/{linked.name} is not a regular file"

    def faults(self, is_wanted: Callable[[int], bool] = every_page) -> Iterator[Finding]:
        """Yield what is wrong with the folder and its entries, but not that it has no address or cannot be listed.

        ``is_wanted``: whether to report an entry with this page number.
        """
        for finding in store_findings(self.store, self.addresses, is_wanted):
            if finding.severity is not Severity.INFO and finding.rule not in _UNKNOWN_FAULTS:
                yield finding

    def left_out(self, is_wanted: Callable[[int], bool] = every_page) -> Iterator[str]:
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
        for finding in self.faults(is_wanted):
            by_rule.setdefault(finding.rule, []).append(finding)
        for first, *others in by_rule.values():
            more = f" and {count_text(len(others), 'other')}" if others else ""
            yield f"{str(first.place).removeprefix('store ').replace(', ', '/', 1)}{more}: {first.message}"

    def rule(self, page: int) -> PageRule | None:
        """Return the rule for the records of one page, or None if the journal is not known."""
        if self.unknown is not None and self.unknown.part is UnknownPart.JOURNAL:
            return None
        return PageRule(self.journal, self.queues, page, live=self.live)

    def not_known(self, shown: str) -> str | None:
        """Return why it is not known what is outstanding in this store, or None if there is nothing to report.

        The reason is empty if it applies to the whole directory. ``shown``: what a report shows instead.
        """
        if self.unknown is None or self.unknown.alone or not (self.store.pages or self.store.problem):
            return None
        if self.store.problem:
            return self.store.problem
        if self.unknown.part is UnknownPart.ADDRESS:
            return f"{self.store.name}: {self.unknown.reason}; {shown}"
        return ""

    def motion(self, page: PageFile, damage: Damage) -> str | None:
        """Return what ``motion_of`` does, or None if no broker is running."""
        return motion_of(damage, newest=page.number == self.store.current_page) if self.live else None

    def sure_rule(self, page: int) -> PageRule:
        """Return the rule for the records of one page. Raise ``CannotKnow`` if the journal is not known."""
        rule = self.rule(page)
        if rule is None:
            raise CannotKnow(f"{self.store.folder}: the journal is not known")
        return rule

    def remarks(self, messages: int, waiting: int | None) -> Iterator[tuple[StoreRemark, str]]:
        """Yield the remarks that qualify the number of messages, and of unacknowledged ones (None: not counted)."""
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
        is_reported = self.unknown is not None and self.unknown.part is UnknownPart.JOURNAL_FILE
        if damage is not None and waiting and not is_reported:
            again = self.again()
            most = waiting if again is None else min(waiting, again)
            yield StoreRemark.LOST, lost_acknowledgements(damage, most)

    def ack_states(self, page: PageFile) -> Iterator[tuple[Route, list[tuple[int, AckState]]]]:
        """Yield the route of each readable record of a page, with its state for each queue that it names.

        Raise ``CannotKnow`` if the journal is not known.
        """
        rule = self.sure_rule(page.number)
        with open_page(page) as opened:
            for route in opened.routes():
                yield route, rule.ack_states(route[0], route[3], route[6])

    def pages(self, queues: dict[int, QueueLoad], read_page: PageLook[LoadOfPage] | None = None) -> Iterator[PageLoad]:
        """Yield the load of each page by rising number, after its loads for queues were added to ``queues``, by id.

        ``read_page``: None for ``page``. Raises ``CannotKnow`` if the journal is not known.
        """
        read_page = read_page or StoreState.page
        for page in self.store.pages:
            load, loads = read_page(self, page)
            for queue in load.held_by:
                self._queue(queues, queue).add(load, loads[queue])
            yield load

    def page(self, page: PageFile, keep: bool = False) -> LoadOfPage:
        """Return the load of one page, and of each queue that it holds something for.

        ``keep``: with the numbers of the records that are outstanding.
        """
        load = self.vectors.load(page, self.sure_rule(page.number), keep) if self.vectors is not None else None
        return self._load_by_record(page, keep) if load is None else load

    def _load_by_record(self, page: PageFile, keep: bool) -> LoadOfPage:
        """Do what ``page`` does for any page, reading it record by record. Raise ``CannotKnow``."""
        rule = self.sure_rule(page.number)
        counts: Counter[AckState] = Counter()
        loads: dict[int, QueueLoad] = {}
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
                        self._queue(loads, queue).take(ack_state, page.number, route, keep)
                if live:
                    live_records += 1
                    live_bytes += length + FRAME
            records, read, damage = opened.count, opened.bytes_read, opened.damage_in_messages()
        held_by = tuple(sorted(loads))
        return PageLoad(
            page.number,
            page.size,
            records,
            read,
            live_records,
            live_bytes,
            held_by,
            dict(counts),
            damage,
            spanned(transactions),
        ), loads

    def _queue(self, queues: dict[int, QueueLoad], queue: int) -> QueueLoad:
        load = queues.get(queue)
        if load is None:
            binding = self.queues.get(queue) if self.queues else None
            load = queues[queue] = QueueLoad(queue, binding)
        return load

    def summary(self, read_page: PageLook[LoadOfPage] | None = None, *, positions: bool = False) -> StoreSummary:
        """Return the load of the whole store. Raise ``CannotKnow`` if the journal is not known.

        ``positions``: also keep the outstanding positions of each queue.
        """
        expected = {} if self.unknown is not None else self.queues or {}
        queues = {number: QueueLoad(number, binding) for number, binding in sorted(expected.items())}
        pages = tuple(self.pages(queues, read_page or partial(StoreState.page, keep=positions)))
        ordered = tuple(queue for _, queue in sorted(queues.items()))
        moving = {
            load.page: motion
            for page, load in zip(self.store.pages, pages, strict=True)
            if load.damage is not None and (motion := self.motion(page, load.damage)) is not None
        }
        pages = tuple(load for load in pages if moving.get(load.page) != DELETED)
        return StoreSummary(self.store.address, self.store.name, ordered, pages, self.unknown, moving)


R = TypeVar("R")
# Reads one page of a store.
PageLook = Callable[[StoreState, PageFile], R]


@contextmanager
def looking_ahead(read_page: PageLook[R], stores: Sequence[StoreState], jobs: int) -> Iterator[PageLook[R]]:
    """Run ``read_page`` ahead, in several processes, for the stores' pages in order; some pages may be skipped."""
    pages = [(state, page) for state in stores for page in state.store.pages]
    with one_ahead(lambda at: read_page(*at), pages, (page.size for _, page in pages), jobs) as result_of:
        remaining = iter(pages)
        yield lambda _, page: result_of(next(item for item in remaining if item[1] is page))


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
    vectors: PageVectors | None = None

    @property
    def journal(self) -> MessageJournal:
        """Return the message journal, empty if it is not known."""
        return self.known.journal

    @property
    def bindings(self) -> Bindings | None:
        """Return the bindings as far as they can be read."""
        return self.known.bindings

    @property
    def unknown(self) -> Unknown | None:
        """Return what keeps every store from being judged, if anything."""
        return self.known.unknown_journal or self.known.unknown_bindings or self.known.unread

    @property
    def addresses(self) -> set[str]:
        """Return the addresses of all queues."""
        return {queue.address for queue in self.bindings.queues.values()} if self.bindings else set()

    def stores(self) -> Iterator[StoreState]:
        """Yield all folders by name, including those without an address, which brokers skip."""
        return self.of(self.paging.stores())

    def of(self, stores: Iterable[Store]) -> Iterator[StoreState]:
        """Yield the state of these folders, one at a time."""
        queues: dict[str, dict[int, QueueBinding]] = {}
        for number, queue in (self.bindings.queues if self.bindings else {}).items():
            queues.setdefault(queue.address, {})[number] = queue
        for store in stores:
            seen = store if self.snapshot is None else self.snapshot.cut(store)
            yield replace(self._state(seen, queues), live=self.live, again=self.known.again, vectors=self.vectors)

    def store(self, folder: Path) -> StoreState:
        """Return the state of one folder."""
        return next(self.of([read_store(folder)]))

    def _state(self, store: Store, queues: dict[str, dict[int, QueueBinding]]) -> StoreState:
        """Decide what is known of a store: the only function that does."""
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
    """Return what a running broker is doing if that explains the damage, else None.

    It writes to the ``newest`` page of a store only, and deletes a page that all queues are done with.
    """
    if damage.kind is DamageKind.GONE:
        return DELETED
    return BEING_WRITTEN if newest and damage.kind in _HALF_WRITTEN else None


def load_state(
    paging: Path, journal: Path | None, bindings: Path | None, vectors: PageVectors | None = None
) -> PagingState:
    """Read the journals of a directory. Its pages are read when they are needed.

    ``pagefmt.vectors.load_state`` is the same with vectors.
    """
    place = DataLocation(paging, LocationKind.DATA, paging, journal, bindings)
    return _loaded(place, open_paging(paging), False, lambda loaded: None, vectors)


def load_place(
    place: DataLocation,
    *,
    locked: bool = False,
    inspect: Callable[[LoadedJournal], object] = lambda loaded: None,
    vectors: PageVectors | None = None,
) -> PagingState:
    """Read the journals of a place. A store or page outside a paging directory counts as the whole of it.

    ``locked``: this process holds the broker's locks, so no broker is running. ``inspect``: see ``load_journals``.
    ``pagefmt.vectors.load_place`` is the same with vectors.
    """
    live = not locked and running_broker(place.journal) is not None
    return _loaded(place, _paging(place), live, inspect, vectors)


def load_pages(place: DataLocation, vectors: PageVectors | None = None) -> PagingState:
    """Return the state of a place without its message journal: nothing is acknowledged.

    ``pagefmt.vectors.load_pages`` is the same with vectors.
    """
    paging = _paging(place)
    live = running_broker(place.journal) is not None
    return PagingState(paging, load_names(place), same_addresses(paging), None, live, vectors)


def _paging(place: DataLocation) -> PagingDirectory:
    if place.paging is not None:
        return open_paging(place.paging)
    if place.store is not None:
        return PagingDirectory(place.store.parent, (place.store.name,), ())
    return PagingDirectory(place.given, (), ())


def _loaded(
    place: DataLocation,
    paging: PagingDirectory,
    live: bool,
    inspect: Callable[[LoadedJournal], object],
    vectors: PageVectors | None,
) -> PagingState:
    """Read the journals of a place and return the state of its directory. ``inspect``: see ``load_journals``."""
    # A running broker's pages are listed before its journals are read, so that the journals know all about the records
    # in the snapshot. How many messages a damaged journal may repeat is counted on demand, because it reads all pages.
    snapshot = take_snapshot(paging, place.large_messages) if live else None
    state = PagingState(paging, load_journals(place, inspect), same_addresses(paging), snapshot, live, vectors)
    return replace(state, known=state.known._replace(again=cache(lambda: _again(state))))


def _again(state: PagingState) -> int | None:
    """Return the largest number of messages that may be delivered again because the journal is damaged.

    A lost record may have acknowledged a whole page. None if the number is not known.
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
