"""What goes with a queue, and what stays for the others. No file is changed here.

====================  ====================================================================================
bindings journal      the queue's records; with the last queue of an address, if asked for, the address's
message journal       references to it, acknowledgements, page-complete records and counters of it, also in
                      prepared transactions; messages that no other queue holds; page transactions lose its
                      share of their references
pages of its address  all of them where it was the last queue; else records that no other queue needs
                      become stubs (docs/spec/journal.md 8.1), so that all positions stay
large messages        bodies that only these records name
====================  ====================================================================================

Duplicate ids belong to the address and stay. Records of the queue that a broker would not look at either (in old
content, of transactions that were never ended) go as well: a reader finds no trace of its id.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from pagefmt.change.compaction.plan import CompactionPlan
from pagefmt.change.compaction.planning import DroppedQueue, plan_of, roots_of, sure_state
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.directory.bindings import AddressBinding, Bindings, QueueBinding
from pagefmt.directory.locate import DataLocation
from pagefmt.directory.queue_names import named_queue
from pagefmt.editions import Edition
from pagefmt.errors import PageFmtError
from pagefmt.journal.bodies import QueueRef
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.journal.record_types import MESSAGES, RecordType
from pagefmt.journal.writing import AppendedFile, FileChange, JournalChange, Unwanted, changed_file
from pagefmt.outstanding.ack_state import LIVE, AckState
from pagefmt.outstanding.queue_totals import QueueContent, held_by
from pagefmt.outstanding.state import PagingState, StoreState
from pagefmt.quantities import count_text
from pagefmt.storage.file_snapshot import FileSnapshot, take_snapshot

# types of records whose bodies begin with a queue id
OF_QUEUE: Final = (
    RecordType.ADD_REF, RecordType.ACKNOWLEDGE_REF, RecordType.UPDATE_DELIVERY_COUNT,
    RecordType.SET_SCHEDULED_DELIVERY_TIME, RecordType.ACKNOWLEDGE_CURSOR, RecordType.PAGE_CURSOR_COUNTER_VALUE,
    RecordType.PAGE_CURSOR_COUNTER_INC, RecordType.PAGE_CURSOR_COMPLETE, RecordType.PAGE_CURSOR_PENDING_COUNTER,
)  # fmt: skip
OF_MESSAGE: Final = (*MESSAGES, *OF_QUEUE[:4])  # types of records that have the id of a message


class CannotDrop(PageFmtError):
    """The queue cannot be removed, or not with certainty."""


class RemovalPlan:
    """The changes of a copy. ``pages``: of pages and large messages; ``changes``: of journal files."""

    __slots__ = ()
    pages: CompactionPlan
    changes: Mapping[Path, FileChange]

    @property
    def new_files(self) -> Sequence[tuple[str, AppendedFile]]:
        """Return the journal files that only the copy has, by directory."""
        return ()

    @property
    def freed(self) -> int:
        """Return the bytes of pages and large-message files that the copy does not have."""
        return self.pages.freed

    @property
    def records(self) -> int:
        """Return the number of journal records that the copy does not have."""
        return sum(change.records for change in self.changes.values())


@dataclass(frozen=True, slots=True)
class DropPlan(RemovalPlan):
    """The removal of a queue.

    ``held``: what is outstanding for the queue. ``gone``: ids of journal messages that no other queue references.
    ``left``: the other queues of the address. ``address``: set if its binding is removed. ``pages``: the changes of
    pages and large messages. ``changes``: those of journal files.
    """

    queue: QueueBinding
    held: QueueContent
    gone: frozenset[int]
    left: tuple[QueueBinding, ...]
    address: AddressBinding | None
    pages: CompactionPlan
    changes: Mapping[Path, FileChange]

    @property
    def remarks(self) -> list[str]:
        """Return what stays although nothing needs it, with the reasons."""
        remarks = [
            f"{store.address}: {store.why}"
            for store in self.pages.stores
            if store.why and store.size and store.address == self.queue.address
        ]
        remarks += [self.held.unknown] if self.held.unknown else []
        bodies = [self.pages.bodies_kept] if self.pages.bodies_kept else []
        return list(dict.fromkeys((*remarks, *self.pages.damaged(), *bodies)))


def sure_queue(
    place: DataLocation, name: str, *, locked: bool
) -> tuple[FileSnapshot, PagingState, Bindings, QueueBinding]:
    """Return the files as they are now, what is known of the directory, its bindings, and the queue of this name.

    ``locked``: this process holds the broker's locks. Raises ``NoSuchQueue``, and ``CannotDrop`` and ``CannotCompact``
    if something is not known.
    """
    sources = take_snapshot(roots_of(place).values())
    state = sure_state(place, locked=locked)
    bindings = state.bindings
    if bindings is None:
        raise CannotDrop(f"{place.given}: no bindings; name the instance or the data directory")
    if lost := state.known.lost():
        raise CannotDrop(f"{place.given}: {lost[0]}; it is not known which records belong to the queue")
    queue = named_queue(bindings, name, place)
    return sources, state, bindings, queue


def plan_drop(
    place: DataLocation,
    name: str,
    edition: Edition | None = None,
    *,
    with_address: bool = False,
    locked: bool = False,
    jobs: int = 1,
) -> DropPlan:
    """Plan the removal of a queue. Changes no file.

    Args:
        place: the directories; its journals and pages are read.
        name: of the queue, or its fully qualified name.
        edition: of the broker that will be started; None if unknown.
        with_address: also remove the address, which must have no other queue.
        locked: this process holds the broker's locks.
        jobs: number of processes that read the pages.

    Raises:
        NoSuchQueue: no queue, or several, have this name.
        CannotDrop: the address has other queues, or it is not known which records belong to the queue.
        CannotCompact: it is not known what the pages hold for other queues.
    """
    sources, state, bindings, queue = sure_queue(place, name, locked=locked)
    left = tuple(binding for binding in bindings.queues_of(queue.address) if binding.id != queue.id)
    if with_address and left:
        others = count_text(len(left), "other queue")
        raise CannotDrop(
            f"{queue.address}: has {others} ({left[0].name}{', …' * (len(left) > 1)}), so it stays; drop them first"
        )
    gone = only_held_by(state.journal, queue.id)
    shares = transactions_of(state, queue)
    remaining = _without(state, bindings, queue)
    dropped = DroppedQueue(queue.address, gone)
    pages = plan_of(remaining, place, edition, sources, keep_unknown=True, dropped=dropped, jobs=jobs)
    address = next(
        (binding for binding in bindings.addresses.values() if with_address and binding.name == queue.address), None
    )
    return DropPlan(
        queue,
        held_by(state, [queue])[queue.id],
        gone,
        left,
        address,
        pages,
        dict(_changes(state.journal, bindings, queue, gone, address, shares)),
    )


def _without(state: PagingState, bindings: Bindings, queue: QueueBinding) -> PagingState:
    remaining = copy.copy(bindings)
    remaining.queues = {number: other for number, other in bindings.queues.items() if number != queue.id}
    return replace(state, known=state.known._replace(bindings=remaining))


def only_held_by(journal: MessageJournal, queue: int) -> frozenset[int]:
    """Return ids of journal messages, also of prepared transactions, that this queue references and no other does."""
    import numpy as np

    messages, queues, acknowledged = journal.reference_columns()
    referenced = messages[queues == queue]
    held = set(referenced[~np.isin(referenced, messages[(queues != queue) & ~acknowledged])].tolist())
    others: set[int] = set()
    columns = journal.loaded.columns
    for branch in journal.loaded.prepared:
        for row in branch.rows:
            if columns.types[row] == RecordType.ADD_REF and isinstance(body := journal.body(row), QueueRef):
                (held if body.queue == queue else others).add(columns.ids[row])
    return frozenset(held - others)


def transactions_of(state: PagingState, queue: QueueBinding) -> dict[int, int]:
    """Return for each page transaction the number of references in its record once the queue is gone; 0 removes it.

    A broker up to 2.31 keeps a record forever that names more references than will be acknowledged. The record never
    names fewer than other queues still wait for. What a prepared transaction acknowledges is subtracted on its commit.
    """
    journal = state.journal
    named = transaction_counts(journal)
    if not named:
        return {}
    its: Counter[int] = Counter()
    others: Counter[int] = Counter()
    for store in state.stores():
        for page in store.store.pages:
            for queue_id, tx, ack_state, count in live_transactions(store, page):
                if queue_id != queue.id:
                    others[tx] += count
                elif ack_state is not AckState.IN_DOUBT_ACK:
                    its[tx] += count
    references = {}
    for tx in its.keys() & named.keys():
        acknowledged = journal.page_acknowledged[tx]
        remaining = max(named[tx] - acknowledged - its[tx], others[tx])
        references[tx] = remaining + acknowledged if remaining > 0 else 0
    return references


def transaction_counts(journal: MessageJournal) -> dict[int, int]:
    """Return the number of references in the record of each page transaction, prepared ones included."""
    return journal.page_transactions | {
        send.tx: send.references for branch in journal.prepared for send in branch.sends
    }


def live_transactions(store: StoreState, page: PageFile) -> Iterator[tuple[int, int, AckState, int]]:
    """Yield (queue id, transaction, state, number of records) for the live records of a page sent in a transaction."""
    from pagefmt.vectors import IrregularPage

    try:
        # The list is complete before the first item leaves: if the page turns out to be irregular halfway through, the
        # fallback starts from its first record, and nothing is counted twice. Either way, a combination of the first
        # three may come several times; its numbers add up.
        yield from list(_at_once(store, page))
    except IrregularPage:
        for route, states in store.ack_states(page):
            yield from (
                (queue, route[3], ack_state, 1) for queue, ack_state in states if route[3] >= 0 and ack_state in LIVE
            )


def _at_once(store: StoreState, page: PageFile) -> Iterator[tuple[int, int, AckState, int]]:
    import numpy as np

    from pagefmt.outstanding.named_queues import CODE
    from pagefmt.vectors import ack_state_columns, routed

    rule = store.sure_rule(page.number)
    for routes in routed(page):
        if routes.tx is None:
            continue
        for queue, rows, codes in ack_state_columns(rule, routes):
            for ack_state in LIVE:
                sent, counts = np.unique(routes.tx[rows][codes == CODE[ack_state]], return_counts=True)
                for tx, count in zip(sent.tolist(), counts.tolist(), strict=True):
                    if tx >= 0:
                        yield queue, tx, ack_state, count


def _changes(
    journal: MessageJournal,
    bindings: Bindings,
    queue: QueueBinding,
    gone: frozenset[int],
    address: AddressBinding | None,
    shares: Mapping[int, int],
) -> Iterator[tuple[Path, FileChange]]:
    """Yield the changed journal files by absolute path."""
    over = {tx for tx, references in shares.items() if not references}
    messages = JournalChange(
        (
            Unwanted(OF_QUEUE, {queue.id}, body=True),
            Unwanted(OF_MESSAGE, gone),
            Unwanted((RecordType.ADD_LARGE_MESSAGE_PENDING,), gone, body=True),
            Unwanted((RecordType.PAGE_TRANSACTION,), over, body=True),
        ),
        {tx: references for tx, references in shares.items() if references},
    )
    names = {address.id} if address is not None else set()
    definitions = JournalChange(
        (
            Unwanted((RecordType.QUEUE_BINDING_RECORD,), {queue.id}),
            Unwanted((RecordType.QUEUE_STATUS_RECORD,), {queue.id}, body=True),
            Unwanted((RecordType.ADDRESS_BINDING_RECORD,), names),
            Unwanted((RecordType.ADDRESS_STATUS_RECORD,), names, body=True),
        )
    )
    for loaded, change in ((journal.loaded, messages), (bindings.loaded, definitions)):
        for file in loaded.files:
            file_change = changed_file(file, change)
            if file_change is not None:
                yield file.path.absolute(), file_change
