"""One walk over all pages that collects what the checks need: counts per page, ids in compact arrays."""

from __future__ import annotations

from array import array
from collections import Counter, deque
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from pagefmt.check.cross.large_references import LargeReference, reference_of_page
from pagefmt.codec.pages.frames import Damage, DamageKind
from pagefmt.codec.pages.page import open_page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.directory.bindings import QueueBinding
from pagefmt.directory.paging import LARGEST_NUMBER, Store, newest_page
from pagefmt.outstanding.ack_state import LIVE, AckState
from pagefmt.outstanding.state import DELETED, PageLook, PagingState, StoreState, looking_ahead

_MANY: Final = 64  # with more queues in one record, a vector for each queue costs more than it saves


@dataclass(slots=True)
class QueueSurvey:
    """What the pages of one store hold for one queue; ``plain`` by page: non-transactional records, done or not."""

    ack_states: Counter[AckState] = field(default_factory=Counter)
    plain: Counter[int] = field(default_factory=Counter)


@dataclass(slots=True)
class StoreSurvey:
    """What the pages of one store contain.

    ``records``: page number → number of readable records. ``damaged``: page number → damage at which reading stopped.
    ``bindings``: queues of its address. ``judged``: its queues and their acknowledgements are known, and a broker reads
    the store. ``begun``: the highest page number that has existed; None if no page is known. ``unbound``: ids that no
    queue of its address has → number of records that name them. ``repeated_ids``: ids of messages that it contains more
    than once, ascending. ``closed``: this user may not read all of it, so nothing is derived from it.
    """

    store: Store
    bindings: dict[int, QueueBinding] | None
    judged: bool
    begun: int | None = None
    records: dict[int, int] = field(default_factory=dict)
    damaged: dict[int, Damage] = field(default_factory=dict)
    queues: dict[int, QueueSurvey] = field(default_factory=dict)
    unbound: Counter[int] = field(default_factory=Counter)
    repeated_ids: list[int] = field(default_factory=list)
    closed: bool = False

    @property
    def place(self) -> str:
        """Return the name of the store as findings show it."""
        return f"store {self.store.name}"

    def queue(self, number: int) -> QueueSurvey:
        """Return the counts of the queue with this id, empty at first."""
        counts = self.queues.get(number)
        if counts is None:
            counts = self.queues[number] = QueueSurvey()
        return counts


@dataclass(slots=True)
class DirectorySurvey:
    """What the pages of all stores contain.

    ``large``: message id → first position that names a large body. ``live_large``: ids of these that are still to be
    delivered. ``newest_large``: ids named in a page that a running broker writes to. ``references``: messages with a
    large body, if requested. ``transactions``: ids that pages name. ``ignored_transactions``: ids that the journal does
    not know → number of records.
    """

    state: PagingState
    stores: list[StoreSurvey] = field(default_factory=list)
    large: dict[int, str] = field(default_factory=dict)
    live_large: set[int] = field(default_factory=set)
    newest_large: set[int] = field(default_factory=set)
    references: list[LargeReference] = field(default_factory=list)
    transactions: set[int] = field(default_factory=set)
    ignored_transactions: Counter[int] = field(default_factory=Counter)

    @property
    def closed(self) -> bool:
        """Return whether this user may not read all pages."""
        return any(store.closed for store in self.stores)

    def by_address(self) -> dict[str, StoreSurvey]:
        """Return the stores that a broker reads, by address."""
        return {store.store.address: store for store in self.stores if store.store.address is not None and store.judged}


@dataclass(slots=True)
class PageSurvey:
    """The contents of one page for the survey. ``large``: message id → its first record, and whether any is needed."""

    message_ids: array[int] = field(default_factory=lambda: array("q"))
    queues: dict[int, QueueSurvey] = field(default_factory=dict)
    unbound: Counter[int] = field(default_factory=Counter)
    transactions: set[int] = field(default_factory=set)
    ignored_transactions: Counter[int] = field(default_factory=Counter)
    large: dict[int, tuple[int, bool]] = field(default_factory=dict)
    references: list[LargeReference] = field(default_factory=list)
    records: int = 0
    damage: Damage | None = None

    def needs(self, message: int, record: int, *, live: bool) -> None:
        """Note that a record names the message's large body."""
        first, before = self.large.get(message, (record, False))
        self.large[message] = first, before or live


def survey_page(store: StoreState, page: PageFile, *, bodies: bool) -> PageSurvey:
    """Return the contents of a page, by the fast decoder, or record by record if the page is irregular."""
    from pagefmt.vectors import IrregularPage

    try:
        return _at_once(store, page, bodies=bodies)
    except IrregularPage:
        return survey_with_care(store, page, bodies=bodies)


def _needed(store: StoreState) -> frozenset[AckState]:
    """Return the states that keep a body. A running broker that rolls back a transaction deletes its bodies."""
    return LIVE - {AckState.IN_DOUBT_SEND} if store.live else LIVE


def _at_once(store: StoreState, page: PageFile, *, bodies: bool) -> PageSurvey:
    import numpy as np

    from pagefmt.outstanding.named_queues import ACK_STATES, CODE
    from pagefmt.vectors import IrregularPage, ack_state_columns, routed

    rule, result = store.rule(page.number), PageSurvey()
    needed = np.array([item in _needed(store) for item in ACK_STATES])
    for routes in routed(page):
        if (bodies and routes.large.any()) or any(item.ids.shape[1] > _MANY for item in routes.named):
            raise IrregularPage(page.name)
        message_ids = routes.messages()
        result.message_ids.frombytes(message_ids.astype(np.int64).tobytes())
        plain = None if routes.tx is None else routes.tx <= 0
        ignored, live = np.zeros(len(routes), bool), np.zeros(len(routes), bool)
        # As in survey_with_care, but queue by queue over columns: ``rows`` selects the records that name the queue,
        # ``codes`` are their states, so that counting takes one pass over each vector.
        for item in () if rule is None else ack_state_columns(rule, routes):
            (queue, rows, codes), counts = item, item.counts()
            if AckState.NO_QUEUE in counts:
                result.unbound[queue] += counts[AckState.NO_QUEUE]
                continue
            its = result.queues.setdefault(queue, QueueSurvey())
            its.ack_states.update(counts)
            if count := len(codes) if plain is None else int(plain[rows].sum()):
                its.plain[page.number] += count
            ignored[rows] |= codes == CODE[AckState.IGNORED]
            live[rows] |= needed[codes]
        if routes.tx is not None:
            result.transactions.update(np.unique(routes.tx[routes.tx >= 0]).tolist())
            of_ignored = routes.tx[ignored & (routes.tx >= 0)]
            result.ignored_transactions.update(of_ignored.tolist())
        for n in np.flatnonzero(routes.large).tolist():
            result.needs(int(message_ids[n]), routes.first + n, live=bool(live[n]))
        result.records += len(routes)
    return result


def survey_with_care(store: StoreState, page: PageFile, *, bodies: bool) -> PageSurvey:
    """Return the contents of a page, reading record by record."""
    rule, counts, needed = store.rule(page.number), PageSurvey(), _needed(store)
    with open_page(page) as opened:
        for route in opened.routes():
            number, _, _, tx, large_type, message, queues = route
            counts.message_ids.append(message)
            ack_states = rule.ack_states(number, tx, queues) if rule is not None else []
            for queue, ack_state in ack_states:
                if ack_state is AckState.NO_QUEUE:
                    counts.unbound[queue] += 1
                    continue
                its = counts.queues.setdefault(queue, QueueSurvey())
                its.ack_states[ack_state] += 1
                if tx <= 0:
                    its.plain[page.number] += 1
            if tx >= 0:
                counts.transactions.add(tx)
                if any(ack_state is AckState.IGNORED for _, ack_state in ack_states):
                    counts.ignored_transactions[tx] += 1
            if large_type:
                counts.needs(message, number, live=any(ack_state in needed for _, ack_state in ack_states))
                if bodies and store.read_instead is None:
                    counts.references.append(reference_of_page(store, page, opened, route, dict(ack_states)))
        counts.records, counts.damage = opened.count, opened.damage
    return counts


def survey(state: PagingState, jobs: int = 1, *, bodies: bool = False) -> DirectorySurvey:
    """Read every page once with ``jobs`` processes and return the contents.

    Takes 8 bytes per record of one store at a time, and memory for transactional and large records. ``bodies``: include
    the references to large bodies.
    """
    result = DirectorySurvey(state)
    stores = deque(state.stores())
    with looking_ahead(partial(survey_page, bodies=bodies), stores, jobs) as page_look:
        while stores:
            store = stores.popleft()
            store_survey = _store(store, result, page_look)
            if store_survey.judged or store_survey.closed or store.store.pages:
                result.stores.append(store_survey)
    return result


def _store(store: StoreState, directory: DirectorySurvey, page_look: PageLook[PageSurvey]) -> StoreSurvey:
    result = StoreSurvey(store.store, store.queues, store.unknown is None and store.read_instead is None)
    message_ids: array[int] = array("q")
    for page in store.store.pages:
        read = page_look(store, page)
        message_ids += read.message_ids
        _add(store, page, read, result)
        directory.transactions |= read.transactions
        directory.ignored_transactions.update(read.ignored_transactions)
        directory.references += read.references
        for message, (number, live) in read.large.items():
            directory.large.setdefault(message, f"{result.place} page {page.number} record {number}")
            if live:
                directory.live_large.add(message)
            if store.live and page.number == store.store.current_page:
                directory.newest_large.add(message)
    result.closed = result.closed or store.store.hides_address
    result.judged = result.judged and not result.closed
    result.repeated_ids = _repeated(message_ids)
    # looked at after the journal was read; where all pages are gone by now, any may have been there
    result.begun = newest_page(store.store.folder) or LARGEST_NUMBER if store.live else store.store.current_page
    return result


def _add(store: StoreState, page: PageFile, read: PageSurvey, store_survey: StoreSurvey) -> None:
    store_survey.unbound.update(read.unbound)
    for queue, more in read.queues.items():
        its = store_survey.queue(queue)
        its.ack_states.update(more.ack_states)
        its.plain.update(more.plain)
    if read.damage is not None and read.damage.kind is DamageKind.NOT_PERMITTED:
        store_survey.closed = True
        return
    motion = None if read.damage is None else store.motion(page, read.damage)
    if motion != DELETED:
        store_survey.records[page.number] = read.records
    if read.damage is not None and motion is None:
        store_survey.damaged[page.number] = read.damage


def _repeated(ids: array[int]) -> list[int]:
    if len(ids) < 2:
        return []
    import numpy as np

    values, counts = np.unique(np.frombuffer(ids, np.int64), return_counts=True)
    return [int(value) for value in values[counts > 1]]
