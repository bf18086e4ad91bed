"""Messages taken out of one queue: those that are selected among what the queue waits for. No file is changed here.

===================  =====================================================================================
message journal      a message that no other queue holds goes with its references; for one that others hold,
                     a record acknowledges it for this queue
pages of the address  a record that no other queue needs becomes a stub, or goes with its page
                     (docs/spec/journal.md 8.1); for any other one a record acknowledges its position
counters             one record takes the messages off the queue's counter, which brokers up to 2.27 read
page transactions    lose the share of the messages, as with ``queue drop``
bindings journal     a new id counter, if records were added: their ids lie beyond all that a broker gave
===================  =====================================================================================

What prepared transactions hold stays, and so does what cannot be read.
"""

from __future__ import annotations

import copy
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from pagefmt.compaction.plan import CompactionPlan, RemoveFile, RewritePage
from pagefmt.compaction.planning import DroppedQueue, plan_of
from pagefmt.directory.bindings import Bindings, QueueBinding
from pagefmt.directory.counters import counters
from pagefmt.directory.edition_evidence import assumed_edition
from pagefmt.directory.locate import DataLocation
from pagefmt.editions import Edition
from pagefmt.journal.bodies import CounterIncrement, CounterValue, CursorAck, QueueRef, encode_body
from pagefmt.journal.held_messages import NO_TRANSACTION
from pagefmt.journal.load import LoadedJournal
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.journal.positions import PositionChunk, PositionIndex
from pagefmt.journal.record_types import RecordType
from pagefmt.journal.records import JournalRecord, RecordKind
from pagefmt.journal.writing import AppendedFile, FileChange, JournalChange, Unwanted, appended_files, changed_file
from pagefmt.messages.large import LargeMessages
from pagefmt.outstanding.ack_state import AckState
from pagefmt.outstanding.ack_state_columns import CODE, ack_state_columns
from pagefmt.outstanding.held import QueueHeld, held_by
from pagefmt.outstanding.journal_parts import JournalParts
from pagefmt.outstanding.message_filter import MessageFilter, SelectedMessage, select_messages
from pagefmt.outstanding.origins import REPLACED
from pagefmt.outstanding.route_columns import IrregularPage, routed
from pagefmt.outstanding.schedules import BrokerStart
from pagefmt.outstanding.state import PagingState, StoreState
from pagefmt.pages.frames import Damage
from pagefmt.pages.gather import Ints
from pagefmt.pages.page import OddRecord, open_page
from pagefmt.pages.paging import PageFile
from pagefmt.pages.record import FRAME
from pagefmt.removal.plan import (
    OF_MESSAGE,
    RemovalPlan,
    live_transactions,
    only_held_by,
    sure_queue,
    transaction_counts,
)
from pagefmt.selector import Selector
from pagefmt.selector.message import source_of

AHEAD: Final = 1 << 16  # ids of new records lie so far beyond all that were found: a broker may have given more


@dataclass(slots=True)
class PurgedPage:
    """The selected records of a page: their numbers and offsets in it, their transactions, and their bytes."""

    path: Path
    page: int
    numbers: list[int] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    transactions: list[int] = field(default_factory=list)
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class PurgePlan(RemovalPlan):
    """``held``: what is outstanding for the queue before, ``waiting`` of it in the journal.

    ``gone``, ``shared``: ids of messages of the journal that the queue loses and that no other queue holds, or others
    hold as well; ``journal_messages`` of them were selected, with ``journal_bytes`` of records.

    ``in_pages``: selected records of pages; ``acknowledged``: how many of all a record is added for. ``pages``: what
    becomes of pages and large messages; ``changes``: of journal files; ``added``: new journal files by directory.

    ``edition``: the broker whose start decides what waits in the journal.
    """

    queue: QueueBinding
    held: QueueHeld
    waiting: int
    gone: frozenset[int]
    shared: frozenset[int]
    journal_messages: int
    journal_bytes: int
    in_pages: tuple[PurgedPage, ...]
    acknowledged: int
    pages: CompactionPlan
    changes: Mapping[Path, FileChange]
    added: tuple[tuple[str, AppendedFile], ...]
    edition: Edition

    @property
    def new_files(self) -> Sequence[tuple[str, AppendedFile]]:
        """As ``added``."""
        return self.added

    @property
    def left(self) -> int | None:
        """Messages that the queue still waits for in the copy, without those in doubt; None: not known."""
        if self.held.unknown is not None:
            return None
        return self.waiting - self.journal_messages + self.held.paged.messages - self.paged_messages

    @property
    def paged_messages(self) -> int:
        """Selected messages of pages."""
        return sum(len(page.numbers) for page in self.in_pages)

    @property
    def paged_bytes(self) -> int:
        """Bytes of the selected records of pages."""
        return sum(page.bytes for page in self.in_pages)

    @property
    def remarks(self) -> list[str]:
        """What stays although it may have been asked for, and why."""
        found = [self.held.unknown] if self.held.unknown else []
        bodies = [self.pages.bodies_kept] if self.pages.bodies_kept else []
        return list(dict.fromkeys((*found, *self.pages.damaged(), *bodies)))


def plan_purge(
    place: DataLocation,
    name: str,
    selector: Selector | None,
    edition: Edition | None = None,
    *,
    locked: bool = False,
    jobs: int = 1,
) -> PurgePlan:
    """Plan the removal of what the queue waits for and ``selector`` takes; None: all of it.

    Reads journals, and pages by ``jobs``; ``locked``: this process holds the broker's locks. Raises ``NoSuchQueue``,
    and ``CannotDrop`` and ``CannotCompact`` if something is not known.
    """
    sources, state, bindings, queue = sure_queue(place, name, locked=locked)
    start = BrokerStart(int(time.time() * 1000), edition or assumed_edition(state.bindings, state.journal))
    found = _of_journal(JournalParts(state, _large(place), start), queue, selector)
    gone = only_held_by(state.journal, queue.id) & found.ids
    in_pages = tuple(_of_pages(state, queue, selector))
    rest = _acknowledging(state, queue, in_pages)
    # the records that acknowledge are not there yet, so that they do not keep a page
    pages = plan_of(
        rest, place, edition, sources, keep_unknown=True, dropped=DroppedQueue(queue.address, False, gone),
        acknowledged=state.journal.ack_index, jobs=jobs,
    )  # fmt: skip
    acks = list(_positions_to_acknowledge(queue, in_pages, pages))
    shared = found.ids - gone
    added = _added(state.journal, bindings, queue, sorted(shared), acks, in_pages)
    changes = dict(_changes(state, gone, _shares(state, in_pages)))
    return PurgePlan(
        queue, held_by(state, [queue])[queue.id], found.waiting, gone, shared, found.messages, found.bytes, in_pages,
        len(acks) + len(shared), pages, changes, tuple(added), start.edition,
    )  # fmt: skip


def _large(place: DataLocation) -> LargeMessages | None:
    return LargeMessages(place.large_messages) if place.large_messages else None


class _JournalMessages(NamedTuple):
    """``ids`` of the messages that the queue loses.

    Of those that were ``waiting``, ``messages`` were selected, with ``bytes`` of records.
    """

    ids: frozenset[int]
    messages: int
    bytes: int
    waiting: int


def _of_journal(parts: JournalParts, queue: QueueBinding, selector: Selector | None) -> _JournalMessages:
    """What is selected of the journal.

    The queue also loses what a later message replaces (last-value and ring queues): a broker drops it at its start, but
    would deliver it if the later message was gone.
    """
    known = parts.messages
    references = known.references
    waits = (references.queue == queue.id) & ~references.acked & ~references.held
    waits &= known.tx[references.message] == NO_TRANSACTION
    replaced = waits & (references.scheduled == REPLACED)
    waiting: Ints = np.unique(references.message[waits & ~replaced])
    numbers = waiting
    if selector is not None and len(numbers):
        taken = {number for number, message in parts.decoded(numbers) if selector.matches(source_of(message))}
        numbers = np.array(sorted(taken), np.int64)
    sizes = known.columns.sizes.at(known.rows[numbers].astype(np.int64))
    lost = np.concatenate((numbers, references.message[replaced]))
    return _JournalMessages(frozenset(known.ids[lost].tolist()), len(numbers), int(sizes.sum()), len(waiting))


def _of_pages(state: PagingState, queue: QueueBinding, selector: Selector | None) -> Iterator[PurgedPage]:
    choice = MessageFilter(frozenset((queue.id,)), selector, outstanding=True)
    for store in state.stores():
        if store.store.address != queue.address or store.read_instead or store.unknown is not None:
            continue
        for page in store.store.pages:
            try:
                found = _at_once(store, page, queue, selector)
            except IrregularPage:
                found = _one_by_one(store, page, choice)
            if found.numbers:
                yield found


def _at_once(store: StoreState, page: PageFile, queue: QueueBinding, selector: Selector | None) -> PurgedPage:
    """Raises ``IrregularPage`` if the page has to be read record by record."""
    found, rule = PurgedPage(page.path, page.number), store.sure_rule(page.number)
    with open_page(page) as opened:
        layout = opened.strict_layout()
        for routes in routed(page):
            waiting = [
                np.arange(len(routes))[rows][codes == CODE[AckState.OUTSTANDING]]
                for each, rows, codes in ack_state_columns(rule, routes)
                if each == queue.id
            ]
            for n in waiting[0].tolist() if waiting else ():
                number, offset, size = routes.first + n, routes.base + int(routes.offset[n]), int(routes.size[n])
                if selector is not None:
                    record = opened.record(number, offset, size - FRAME, layout)
                    if isinstance(record, Damage) or not selector.matches(source_of(record.message)):
                        continue  # no selector takes what is not understood
                found.numbers.append(number)
                found.offsets.append(offset)
                found.transactions.append(-1 if routes.tx is None else int(routes.tx[n]))
                found.bytes += size
    return found


def _one_by_one(store: StoreState, page: PageFile, choice: MessageFilter) -> PurgedPage:
    found = PurgedPage(page.path, page.number)
    for each in select_messages(page, store, choice):
        if isinstance(each, SelectedMessage) and not isinstance(each.record, OddRecord):
            found.numbers.append(each.number)
            found.offsets.append(each.record.offset)
            found.transactions.append(each.record.tx)
            found.bytes += each.record.length + FRAME
    return found


def _acknowledging(state: PagingState, queue: QueueBinding, in_pages: tuple[PurgedPage, ...]) -> PagingState:
    """The state in which the queue has acknowledged what was selected."""
    if not in_pages:
        return state
    numbers = np.array([number for page in in_pages for number in page.numbers], np.int64)
    at = np.repeat([page.page for page in in_pages], [len(page.numbers) for page in in_pages])
    more = PositionChunk(np.full(len(numbers), queue.id), at.astype(np.int64), numbers)
    journal = copy.copy(state.journal)
    before = state.journal.ack_index
    journal.ack_index = PositionIndex(lambda: chain(before.chunks(), (more,)))
    return replace(state, known=state.known._replace(journal=journal))


def _positions_to_acknowledge(
    queue: QueueBinding, in_pages: tuple[PurgedPage, ...], plan: CompactionPlan
) -> Iterator[CursorAck]:
    """The selected positions whose records stay in the copy as they are."""
    steps = {step.path: step for store in plan.stores for step in store.steps}
    for page in in_pages:
        step = steps.get(page.path)
        if isinstance(step, RemoveFile):
            continue
        stubs = frozenset(step.offsets) if isinstance(step, RewritePage) else frozenset()
        for number, offset in zip(page.numbers, page.offsets, strict=True):
            if offset not in stubs:
                yield CursorAck(queue.id, page.page, number)


def _shares(state: PagingState, in_pages: tuple[PurgedPage, ...]) -> dict[int, int]:
    """As ``removal.plan.transactions_of``, for the selected messages."""
    named = transaction_counts(state.journal)
    its = Counter(tx for page in in_pages for tx in page.transactions if tx in named)
    if not its:
        return {}
    live: Counter[int] = Counter()
    for store in state.stores():
        for page in store.store.pages:
            for _, tx, _, count in live_transactions(store, page):
                live[tx] += count
    found = {}
    for tx, count in its.items():
        done = state.journal.page_acknowledged[tx]
        rest = max(named[tx] - done - count, live[tx] - count)
        found[tx] = rest + done if rest > 0 else 0
    return found


def _largest_id(loaded: LoadedJournal) -> int:
    ids = loaded.columns.ids
    return max(max(ids, default=0), *(branch.tx for branch in loaded.prepared), 0)


def _added(
    journal: MessageJournal, bindings: Bindings, queue: QueueBinding, shared: list[int], acks: list[CursorAck],
    in_pages: tuple[PurgedPage, ...],
) -> Iterator[tuple[str, AppendedFile]]:  # fmt: skip
    """New journal files by directory: acknowledgements, and what the queue's counter loses."""
    records = [
        JournalRecord(RecordKind.UPDATE, message, 0, int(RecordType.ACKNOWLEDGE_REF), encode_body(QueueRef(queue.id)))
        for message in shared
    ]
    first = max(_largest_id(journal.loaded), _largest_id(bindings.loaded), bindings.id_counter or 0) + AHEAD
    bodies = [(RecordType.ACKNOWLEDGE_CURSOR, encode_body(ack)) for ack in acks]
    counter = _counter_change(journal, queue, in_pages)
    bodies += [] if counter is None else [(RecordType.PAGE_CURSOR_COUNTER_INC, encode_body(counter))]
    records += [JournalRecord(RecordKind.ADD, first + n, 0, int(kind), body) for n, (kind, body) in enumerate(bodies)]
    yield from (("journal", file) for file in appended_files(journal.loaded, records))
    if bodies:
        last = first + len(bodies) + AHEAD
        record = JournalRecord(RecordKind.ADD, last, 0, int(RecordType.ID_COUNTER_RECORD), last.to_bytes(8, "big"))
        yield from (("bindings", file) for file in appended_files(bindings.loaded, [record]))


def _counter_change(
    journal: MessageJournal, queue: QueueBinding, in_pages: tuple[PurgedPage, ...]
) -> CounterIncrement | None:
    """What is taken off the queue's counter; None if it has none."""
    if queue.id not in counters(journal) or not in_pages:
        return None
    kinds = (RecordType.PAGE_CURSOR_COUNTER_VALUE, RecordType.PAGE_CURSOR_COUNTER_INC)
    sizes = [
        body.size
        for _, body in journal.decoded(*kinds)
        if isinstance(body, CounterValue | CounterIncrement) and body.queue == queue.id
    ]
    stored = sum(size or 0 for size in sizes)
    size = None if None in sizes else -min(max(stored, 0), sum(page.bytes for page in in_pages))
    return CounterIncrement(queue.id, -sum(len(page.numbers) for page in in_pages), size)


def _changes(state: PagingState, gone: frozenset[int], shares: Mapping[int, int]) -> Iterator[tuple[Path, FileChange]]:
    """By absolute path."""
    change = JournalChange(
        (
            Unwanted(OF_MESSAGE, gone),
            Unwanted((RecordType.ADD_LARGE_MESSAGE_PENDING,), gone, body=True),
            Unwanted((RecordType.PAGE_TRANSACTION,), {tx for tx, rest in shares.items() if not rest}, body=True),
        ),
        {tx: rest for tx, rest in shares.items() if rest},
    )
    for file in state.journal.loaded.files:
        found = changed_file(file, change)
        if found is not None:
            yield file.path.absolute(), found
