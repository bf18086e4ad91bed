"""One walk over all pages that collects what the checks need: counts per page, ids in compact arrays."""

from __future__ import annotations

from array import array
from collections import Counter, deque
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from pagefmt.cross_checks.large_references import LargeReference, reference_of_page
from pagefmt.directory.bindings import QueueBinding
from pagefmt.outstanding.ack_state import LIVE, AckState
from pagefmt.outstanding.state import DELETED, PageLook, PagingState, StoreState, looking_ahead
from pagefmt.pages.frames import Damage, DamageKind
from pagefmt.pages.page import open_page
from pagefmt.pages.paging import LARGEST_NUMBER, PageFile, Store, newest_page

_MANY: Final = 64
"""Queues of one record from which on a vector for each of them costs more than it saves."""


@dataclass(slots=True)
class QueueSurvey:
    """What the pages of one store hold for one queue; ``plain`` by page: non-transactional records, done or not."""

    ack_states: Counter[AckState] = field(default_factory=Counter)
    plain: Counter[int] = field(default_factory=Counter)


@dataclass(slots=True)
class StoreSurvey:
    """``records``: page → readable records; ``damaged``: page → what reading stopped at; ``bindings``: of its address.
    ``judged``: its queues and their acknowledgements are known, and a broker reads it.

    ``begun``: the highest page number that there has been, which is the current page unless a broker goes on writing.
    ``unbound``: ids that no queue of its address has → records that name them.
    ``repeated_ids``: message ids that stand in it more than once, ascending.
    ``closed``: this user may not read all of it, so nothing is derived from what was read.
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
        """How findings name the store."""
        return f"store {self.store.name}"

    def queue(self, number: int) -> QueueSurvey:
        """What the pages hold for the queue with this id."""
        found = self.queues.get(number)
        if found is None:
            found = self.queues[number] = QueueSurvey()
        return found


@dataclass(slots=True)
class DirectorySurvey:
    """``large``: id → where a large body is named first; ``live_large``: of these, still to be delivered to someone;
    ``newest_large``: named in a page that a running broker writes to.

    ``references``: messages with a large body, where they were asked for.

    ``transactions``: ids that pages name; ``ignored_transactions``: those that the journal does not know → records.
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
        """Whether this user may not read all pages."""
        return any(store.closed for store in self.stores)

    def by_address(self) -> dict[str, StoreSurvey]:
        """The store of each address that a broker reads."""
        return {each.store.address: each for each in self.stores if each.store.address is not None and each.judged}


@dataclass(slots=True)
class PageSurvey:
    """What the directory's survey takes from one page. ``large``: id → its first record, and whether any is needed."""

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
        """A record names the message's large body."""
        first, before = self.large.get(message, (record, False))
        self.large[message] = first, before or live


def survey_page(store: StoreState, page: PageFile, *, bodies: bool) -> PageSurvey:
    """With vectors, or record by record where they do not apply."""
    from pagefmt.outstanding.route_columns import IrregularPage

    try:
        return _at_once(store, page, bodies=bodies)
    except IrregularPage:
        return survey_with_care(store, page, bodies=bodies)


def _needed(store: StoreState) -> frozenset[AckState]:
    """What keeps a body: a transaction that a running broker rolls back takes its bodies with it."""
    return LIVE - {AckState.IN_DOUBT_SEND} if store.live else LIVE


def _at_once(store: StoreState, page: PageFile, *, bodies: bool) -> PageSurvey:
    import numpy as np

    from pagefmt.outstanding.ack_state_columns import ACK_STATES, CODE, ack_state_columns
    from pagefmt.outstanding.route_columns import IrregularPage, routed

    rule, found = store.rule(page.number), PageSurvey()
    needed = np.array([each in _needed(store) for each in ACK_STATES])
    for routes in routed(page):
        if (bodies and routes.large.any()) or any(each.ids.shape[1] > _MANY for each in routes.named):
            raise IrregularPage(page.name)
        message_ids = routes.messages()
        found.message_ids.frombytes(message_ids.astype(np.int64).tobytes())
        plain = None if routes.tx is None else routes.tx <= 0
        ignored, live = np.zeros(len(routes), bool), np.zeros(len(routes), bool)
        for each in () if rule is None else ack_state_columns(rule, routes):
            (queue, rows, codes), counts = each, each.counts()
            if AckState.NO_QUEUE in counts:
                found.unbound[queue] += counts[AckState.NO_QUEUE]
                continue
            its = found.queues.setdefault(queue, QueueSurvey())
            its.ack_states.update(counts)
            if count := len(codes) if plain is None else int(plain[rows].sum()):
                its.plain[page.number] += count
            ignored[rows] |= codes == CODE[AckState.IGNORED]
            live[rows] |= needed[codes]
        if routes.tx is not None:
            found.transactions.update(np.unique(routes.tx[routes.tx >= 0]).tolist())
            of_ignored = routes.tx[ignored & (routes.tx >= 0)]
            found.ignored_transactions.update(of_ignored.tolist())
        for n in np.flatnonzero(routes.large).tolist():
            found.needs(int(message_ids[n]), routes.first + n, live=bool(live[n]))
        found.records += len(routes)
    return found


def survey_with_care(store: StoreState, page: PageFile, *, bodies: bool) -> PageSurvey:
    """The same, record by record."""
    rule, found, needed = store.rule(page.number), PageSurvey(), _needed(store)
    with open_page(page) as opened:
        for route in opened.routes():
            number, _, _, tx, large_type, message, queues = route
            found.message_ids.append(message)
            ack_states = rule.ack_states(number, tx, queues) if rule is not None else []
            for queue, ack_state in ack_states:
                if ack_state is AckState.NO_QUEUE:
                    found.unbound[queue] += 1
                    continue
                its = found.queues.setdefault(queue, QueueSurvey())
                its.ack_states[ack_state] += 1
                if tx <= 0:
                    its.plain[page.number] += 1
            if tx >= 0:
                found.transactions.add(tx)
                if any(ack_state is AckState.IGNORED for _, ack_state in ack_states):
                    found.ignored_transactions[tx] += 1
            if large_type:
                found.needs(message, number, live=any(ack_state in needed for _, ack_state in ack_states))
                if bodies and store.read_instead is None:
                    found.references.append(reference_of_page(store, page, opened, route, dict(ack_states)))
        found.records, found.damage = opened.count, opened.damage
    return found


def survey(state: PagingState, jobs: int = 1, *, bodies: bool = False) -> DirectorySurvey:
    """Read every page once. Memory: 8 bytes a record of one store at a time, and what is transactional or large.

    ``bodies``: with the messages that have a large one.
    """
    found = DirectorySurvey(state)
    stores = deque(state.stores())
    with looking_ahead(partial(survey_page, bodies=bodies), stores, jobs) as look:
        while stores:
            store = stores.popleft()
            one = _store(store, found, look)
            if one.judged or one.closed or store.store.pages:
                found.stores.append(one)
    return found


def _store(store: StoreState, found: DirectorySurvey, look: PageLook[PageSurvey]) -> StoreSurvey:
    one = StoreSurvey(store.store, store.queues, store.unknown is None and store.read_instead is None)
    message_ids: array[int] = array("q")
    for page in store.store.pages:
        read = look(store, page)
        message_ids += read.message_ids
        _add(store, page, read, one)
        found.transactions |= read.transactions
        found.ignored_transactions.update(read.ignored_transactions)
        found.references += read.references
        for message, (number, live) in read.large.items():
            found.large.setdefault(message, f"{one.place} page {page.number} record {number}")
            if live:
                found.live_large.add(message)
            if store.live and page.number == store.store.current_page:
                found.newest_large.add(message)
    one.closed = one.closed or store.store.hides_address
    one.judged = one.judged and not one.closed
    one.repeated_ids = _repeated(message_ids)
    # looked at after the journal was read; where all pages are gone by now, any may have been there
    one.begun = newest_page(store.store.folder) or LARGEST_NUMBER if store.live else store.store.current_page
    return one


def _add(store: StoreState, page: PageFile, read: PageSurvey, one: StoreSurvey) -> None:
    one.unbound.update(read.unbound)
    for queue, more in read.queues.items():
        its = one.queue(queue)
        its.ack_states.update(more.ack_states)
        its.plain.update(more.plain)
    if read.damage is not None and read.damage.kind is DamageKind.NOT_PERMITTED:
        one.closed = True
        return
    motion = None if read.damage is None else store.motion(page, read.damage)
    if motion != DELETED:
        one.records[page.number] = read.records
    if read.damage is not None and motion is None:
        one.damaged[page.number] = read.damage


def _repeated(ids: array[int]) -> list[int]:
    if len(ids) < 2:
        return []
    import numpy as np

    values, counts = np.unique(np.frombuffer(ids, np.int64), return_counts=True)
    return [int(value) for value in values[counts > 1]]
