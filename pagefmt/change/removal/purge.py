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

from pagefmt.arrays import Ints
from pagefmt.change.compaction.plan import CompactionPlan, RemoveFile, RewritePage
from pagefmt.change.compaction.planning import DroppedQueue, plan_of
from pagefmt.change.removal.plan import (
    OF_MESSAGE,
    RemovalPlan,
    live_transactions,
    only_held_by,
    sure_queue,
    transaction_counts,
)
from pagefmt.codec.messages.large import LargeMessages
from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page import OddRecord, open_page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.record import FRAME
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
from pagefmt.outstanding.ack_state import AckState
from pagefmt.outstanding.journal_parts import JournalParts
from pagefmt.outstanding.message_filter import MessageFilter, SelectedMessage, select_messages
from pagefmt.outstanding.message_location import REPLACED
from pagefmt.outstanding.named_queues import CODE
from pagefmt.outstanding.queue_totals import QueueContent, held_by
from pagefmt.outstanding.schedules import BrokerStart
from pagefmt.outstanding.state import PagingState, StoreState
from pagefmt.selector import Selector
from pagefmt.selector.message import source_of
from pagefmt.vectors import IrregularPage, ack_state_columns, routed

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
    """The removal of selected messages of a queue.

    ``held``: what is outstanding for the queue before; ``waiting``: how much of it is in the journal. ``gone``: ids of
    journal messages that the queue loses and no other queue references; ``shared``: ids of those that others reference.
    ``journal_messages`` of them were selected, with ``journal_bytes`` of records. ``in_pages``: selected records of
    pages. ``acknowledged``: number of selected messages for which a record is added. ``pages``: the changes of pages
    and large messages. ``changes``: those of journal files. ``added``: new journal files by directory. ``edition``: of
    the broker whose start decides what waits in the journal.
    """

    queue: QueueBinding
    held: QueueContent
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
        """Return the added journal files, each with the name of its directory."""
        return self.added

    @property
    def left(self) -> int | None:
        """Return how many messages the queue still waits for in the copy, without those in doubt; None if unknown."""
        if self.held.unknown is not None:
            return None
        return self.waiting - self.journal_messages + self.held.paged.messages - self.paged_messages

    @property
    def paged_messages(self) -> int:
        """Return the number of selected messages in pages."""
        return sum(len(page.numbers) for page in self.in_pages)

    @property
    def paged_bytes(self) -> int:
        """Return the bytes of the selected records in pages."""
        return sum(page.bytes for page in self.in_pages)

    @property
    def remarks(self) -> list[str]:
        """Return what stays although it may have been selected, with the reasons."""
        remarks = [self.held.unknown] if self.held.unknown else []
        bodies = [self.pages.bodies_kept] if self.pages.bodies_kept else []
        return list(dict.fromkeys((*remarks, *self.pages.damaged(), *bodies)))


def plan_purge(
    place: DataLocation,
    name: str,
    selector: Selector | None,
    edition: Edition | None = None,
    *,
    locked: bool = False,
    jobs: int = 1,
) -> PurgePlan:
    """Plan the removal of the messages that wait for the queue and match ``selector``; None selects all.

    Reads journals and, with ``jobs`` processes, pages. ``locked``: this process holds the broker's locks. Raises
    ``NoSuchQueue``; ``CannotDrop`` and ``CannotCompact`` if something is not known.
    """
    sources, state, bindings, queue = sure_queue(place, name, locked=locked)
    start = BrokerStart(int(time.time() * 1000), edition or assumed_edition(state.bindings, state.journal))
    chosen = _selected_in_journal(JournalParts(state, _large(place), start), queue, selector)
    gone = only_held_by(state.journal, queue.id) & chosen.ids
    in_pages = tuple(_of_pages(state, queue, selector))
    remaining = _acknowledging(state, queue, in_pages)
    # the records that acknowledge are not there yet, so that they do not keep a page
    pages = plan_of(
        remaining,
        place,
        edition,
        sources,
        keep_unknown=True,
        dropped=DroppedQueue(queue.address, gone),
        acknowledged=state.journal.ack_index,
        jobs=jobs,
    )
    acks = list(_positions_to_acknowledge(queue, in_pages, pages))
    shared = chosen.ids - gone
    added = _added(state.journal, bindings, queue, sorted(shared), acks, in_pages)
    changes = dict(_changes(state, gone, _shares(state, in_pages)))
    return PurgePlan(
        queue,
        held_by(state, [queue])[queue.id],
        chosen.waiting,
        gone,
        shared,
        chosen.messages,
        chosen.bytes,
        in_pages,
        len(acks) + len(shared),
        pages,
        changes,
        tuple(added),
        start.edition,
    )


def _large(place: DataLocation) -> LargeMessages | None:
    return LargeMessages(place.large_messages) if place.large_messages else None


class _JournalMessages(NamedTuple):
    """The messages of the journal that a queue loses.

    ``ids`` of all. Of the ``waiting`` ones, ``messages`` were selected, with ``bytes`` of records.
    """

    ids: frozenset[int]
    messages: int
    bytes: int
    waiting: int


def _selected_in_journal(parts: JournalParts, queue: QueueBinding, selector: Selector | None) -> _JournalMessages:
    """Return the messages of the journal that wait for the queue and match the selector; None selects all.

    The queue also loses messages that a later one replaces (last-value and ring queues): a broker drops them when it
    starts, but would deliver them if the later message was gone.
    """
    messages = parts.messages
    references = messages.references
    waits = (references.queue == queue.id) & ~references.acked & ~references.held
    waits &= messages.tx[references.message] == NO_TRANSACTION
    replaced = waits & (references.scheduled == REPLACED)
    waiting: Ints = np.unique(references.message[waits & ~replaced])
    numbers = waiting
    if selector is not None and len(numbers):
        matching = {number for number, message in parts.decoded(numbers) if selector.matches(source_of(message))}
        numbers = np.array(sorted(matching), np.int64)
    sizes = messages.columns.sizes.at(messages.rows[numbers].astype(np.int64))
    lost = np.concatenate((numbers, references.message[replaced]))
    return _JournalMessages(frozenset(messages.ids[lost].tolist()), len(numbers), int(sizes.sum()), len(waiting))


def _of_pages(state: PagingState, queue: QueueBinding, selector: Selector | None) -> Iterator[PurgedPage]:
    choice = MessageFilter(frozenset((queue.id,)), selector, outstanding=True)
    for store in state.stores():
        if store.store.address != queue.address or store.read_instead or store.unknown is not None:
            continue
        for page in store.store.pages:
            try:
                purged = _at_once(store, page, queue, selector)
            except IrregularPage:
                purged = _one_by_one(store, page, choice)
            if purged.numbers:
                yield purged


def _at_once(store: StoreState, page: PageFile, queue: QueueBinding, selector: Selector | None) -> PurgedPage:
    """Return the selected messages of a page. Raise ``IrregularPage`` if it has to be read record by record."""
    purged, rule = PurgedPage(page.path, page.number), store.sure_rule(page.number)
    with open_page(page) as opened:
        layout = opened.strict_layout()
        for routes in routed(page):
            waiting = [
                np.arange(len(routes))[rows][codes == CODE[AckState.OUTSTANDING]]
                for queue_id, rows, codes in ack_state_columns(rule, routes)
                if queue_id == queue.id
            ]
            for n in waiting[0].tolist() if waiting else ():
                number, offset, size = routes.first + n, routes.base + int(routes.offset[n]), int(routes.size[n])
                if selector is not None:
                    record = opened.record(number, offset, size - FRAME, layout)
                    if isinstance(record, Damage) or not selector.matches(source_of(record.message)):
                        continue  # no selector takes what is not understood
                purged.numbers.append(number)
                purged.offsets.append(offset)
                purged.transactions.append(-1 if routes.tx is None else int(routes.tx[n]))
                purged.bytes += size
    return purged


def _one_by_one(store: StoreState, page: PageFile, choice: MessageFilter) -> PurgedPage:
    purged = PurgedPage(page.path, page.number)
    for selected in select_messages(page, store, choice):
        if isinstance(selected, SelectedMessage) and not isinstance(selected.record, OddRecord):
            purged.numbers.append(selected.number)
            purged.offsets.append(selected.record.offset)
            purged.transactions.append(selected.record.tx)
            purged.bytes += selected.record.length + FRAME
    return purged


def _acknowledging(state: PagingState, queue: QueueBinding, in_pages: tuple[PurgedPage, ...]) -> PagingState:
    """Return the state in which the queue has acknowledged the selected messages."""
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
    """Yield acknowledgements of the selected positions whose records stay unchanged in the copy."""
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
    """Return for each page transaction the number of references in its record after the purge; 0 removes it.

    See ``removal.plan.transactions_of``.
    """
    named = transaction_counts(state.journal)
    its = Counter(tx for page in in_pages for tx in page.transactions if tx in named)
    if not its:
        return {}
    live: Counter[int] = Counter()
    for store in state.stores():
        for page in store.store.pages:
            for _, tx, _, count in live_transactions(store, page):
                live[tx] += count
    references = {}
    for tx, count in its.items():
        acknowledged = state.journal.page_acknowledged[tx]
        remaining = max(named[tx] - acknowledged - count, live[tx] - count)
        references[tx] = remaining + acknowledged if remaining > 0 else 0
    return references


def _largest_id(loaded: LoadedJournal) -> int:
    ids = loaded.columns.ids
    return max(max(ids, default=0), *(branch.tx for branch in loaded.prepared), 0)


def _added(
    journal: MessageJournal,
    bindings: Bindings,
    queue: QueueBinding,
    shared: list[int],
    acks: list[CursorAck],
    in_pages: tuple[PurgedPage, ...],
) -> Iterator[tuple[str, AppendedFile]]:
    """Yield new journal files by directory: acknowledgements, and the decrement of the queue's counter."""
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
    """Return the record that decrements the queue's counter, or None if it has no counter or no page loses a record.

    The size in the record is at most what the counter holds; it is None if a record of the counter has no size.
    """
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
    """Yield the changed journal files by absolute path."""
    change = JournalChange(
        (
            Unwanted(OF_MESSAGE, gone),
            Unwanted((RecordType.ADD_LARGE_MESSAGE_PENDING,), gone, body=True),
            Unwanted(
                (RecordType.PAGE_TRANSACTION,), {tx for tx, references in shares.items() if not references}, body=True
            ),
        ),
        {tx: references for tx, references in shares.items() if references},
    )
    for file in state.journal.loaded.files:
        file_change = changed_file(file, change)
        if file_change is not None:
            yield file.path.absolute(), file_change
