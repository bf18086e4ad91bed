"""What is still to be delivered, and who keeps the disk full (docs/spec/journal.md 7).

    state = load_state(paging, journal, bindings)
    for store in state.stores():
        summary = store.summary()          # per queue and per page; one page in memory at a time

Messages that never left the journal are not part of this; ``PagingState.journal`` has their references.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pagefmt.directory.bindings import Bindings, QueueBinding, load_bindings
from pagefmt.directory.locate import DataLocation
from pagefmt.errors import PageFmtError
from pagefmt.journal.message_journal import MessageJournal, load_messages
from pagefmt.outstanding.ack_state import LIVE, AckState, PageRule
from pagefmt.outstanding.page_load import PageLoad, QueueLoad
from pagefmt.pages.page import open_page
from pagefmt.pages.paging import PageFile, PagingDirectory, Store, duplicates, read_paging, read_store
from pagefmt.pages.record import FRAME
from pagefmt.pages.routes import Route


class CannotKnow(PageFmtError):
    """A question that needs a directory which is not there."""


@dataclass(frozen=True, slots=True)
class StoreSummary:
    """``queues``: of the address by id, also those that nothing is outstanding for. ``pages`` ascending."""

    address: str | None
    folder: str
    queues: tuple[QueueLoad, ...]
    pages: tuple[PageLoad, ...]


@dataclass(frozen=True, slots=True)
class StoreState:
    """One store folder with what the journal says about it. ``queues``: of its address; ``None`` without bindings."""

    store: Store
    journal: MessageJournal
    queues: dict[int, QueueBinding] | None

    def rule(self, page: int) -> PageRule:
        """The rule for the records of one page."""
        return PageRule(self.journal, self.queues, page)

    def ack_states(self, page: PageFile) -> Iterator[tuple[Route, list[tuple[int, AckState]]]]:
        """Every readable record of a page with what becomes of it for each queue that it names."""
        rule = self.rule(page.number)
        with open_page(page.path) as opened:
            for route in opened.routes():
                yield route, rule.ack_states(route[0], route[3], route[6])

    def pages(self, queues: dict[int, QueueLoad] | None = None, keep: bool = False) -> Iterator[PageLoad]:
        """Page by page; ``queues`` is filled on the way."""
        found = {} if queues is None else queues
        for page in self.store.pages:
            yield self._page(page, found, keep)

    def _page(self, page: PageFile, queues: dict[int, QueueLoad], keep: bool) -> PageLoad:
        """Sum up a page with vectors, or record by record where they do not apply."""
        from pagefmt.outstanding.route_columns import IrregularPage

        try:
            load, found = self._at_once(page, keep)
        except IrregularPage:
            load, found = self._with_care(page, keep)
        for queue in load.held_by:
            self._queue(queues, queue).add(load, found[queue])
        return load

    def _at_once(self, page: PageFile, keep: bool) -> tuple[PageLoad, dict[int, QueueLoad]]:
        from pagefmt.outstanding.page_sum import PageSum
        from pagefmt.outstanding.route_columns import routed

        found = PageSum(page.number, keep)
        rule = self.rule(page.number)
        for routes in routed(page):
            found.take(rule, routes)
        return found.load(page.size), found.queues

    def _with_care(self, page: PageFile, keep: bool) -> tuple[PageLoad, dict[int, QueueLoad]]:
        rule = self.rule(page.number)
        counts: Counter[AckState] = Counter()
        found: dict[int, QueueLoad] = {}
        live_records = live_bytes = 0
        with open_page(page.path) as opened:
            for number, _, length, tx, _, _, ids in opened.routes():
                live = False
                for queue in ids:
                    ack_state = rule.ack_state(queue, number, tx)
                    counts[ack_state] += 1
                    if ack_state in LIVE:
                        live = True
                        self._queue(found, queue).take(ack_state, page.number, number, length + FRAME, keep)
                if live:
                    live_records += 1
                    live_bytes += length + FRAME
            records, read, damage = opened.count, opened.bytes_read, opened.damage_in_messages()
        held_by = tuple(sorted(found))
        load = PageLoad(page.number, page.size, records, read, live_records, live_bytes, held_by, dict(counts), damage)
        return load, found

    def _queue(self, queues: dict[int, QueueLoad], queue: int) -> QueueLoad:
        found = queues.get(queue)
        if found is None:
            binding = self.queues.get(queue) if self.queues else None
            found = queues[queue] = QueueLoad(queue, binding)
        return found

    def summary(self, *, positions: bool = False) -> StoreSummary:
        """The whole store."""
        queues = {number: QueueLoad(number, binding) for number, binding in sorted((self.queues or {}).items())}
        pages = tuple(self.pages(queues, positions))
        ordered = tuple(queue for _, queue in sorted(queues.items()))
        return StoreSummary(self.store.address, self.store.name, ordered, pages)


@dataclass(frozen=True, slots=True)
class PagingState:
    """Journal, bindings and paging directory of one broker, loaded. ``bindings`` ``None``: queues have no names."""

    paging: PagingDirectory
    journal: MessageJournal
    bindings: Bindings | None

    def stores(self) -> Iterator[StoreState]:
        """All folders, by name; also those without an address, which brokers skip."""
        return self.of(self.paging.stores())

    def of(self, stores: Iterable[Store]) -> Iterator[StoreState]:
        """These folders, one at a time."""
        queues = self._queues_by_address()
        for store in stores:
            yield self._state(store, queues)

    def store(self, folder: Path) -> StoreState:
        """One folder."""
        return self._state(read_store(folder), self._queues_by_address())

    def _state(self, store: Store, queues: dict[str, dict[int, QueueBinding]] | None) -> StoreState:
        own = None if queues is None else queues.get(store.address or "", {}) if store.address is not None else {}
        return StoreState(store, self.journal, own)

    def _queues_by_address(self) -> dict[str, dict[int, QueueBinding]] | None:
        if self.bindings is None:
            return None
        found: dict[str, dict[int, QueueBinding]] = {}
        for number, queue in self.bindings.queues.items():
            found.setdefault(queue.address, {})[number] = queue
        return found

    def duplicates(self) -> dict[str, list[str]]:
        """Addresses with several folders → the folders in listing order: a broker delivers from the last one only."""
        return duplicates(self.paging.stores(), self.paging)


def load_state(paging: Path, journal: Path | None, bindings: Path | None) -> PagingState:
    """Journal and bindings are read now, pages when they are asked for. Raises ``CannotKnow`` without journal."""
    if journal is None:
        raise CannotKnow(
            f"{paging}: the journal is not beside it, so what was acknowledged is not known; "
            "name the data directory or the instance, or the configuration with --broker-xml"
        )
    return PagingState(read_paging(paging), load_messages(journal), load_bindings(bindings) if bindings else None)


def load_place(place: DataLocation) -> PagingState | None:
    """Journal and bindings of a place; None where there is no journal."""
    if place.paging is None or place.journal is None:
        return None
    return load_state(place.paging, place.journal, place.bindings)
