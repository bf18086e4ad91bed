"""Every message of a history, once, and what became of it in each of its queues (docs/spec/history.md 6)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

import numpy as np

from pagefmt.arrays import Ints, Mask
from pagefmt.history.paged import PagedMessages, Surroundings, paged_messages
from pagefmt.history.positions import UNPLACED
from pagefmt.history.records import BEFORE, NEVER, PREPARED, HistoryRecords
from pagefmt.journal.held_messages import NO_TRANSACTION, JournalMessages, QueueReferences
from pagefmt.journal.record_types import MESSAGES, RecordType

_QUEUE_ID: Final = 8  # bytes
_QUEUE: Final = np.dtype([("queue", ">i8")])
_COUNT: Final = np.dtype([("queue", ">i8"), ("value", ">i4")])
_TIME: Final = np.dtype([("queue", ">i8"), ("value", ">i8")])
_NO_ROW: Final = -1


class PastState(StrEnum):
    """What became of a message in a queue."""

    WAITING = "waiting"
    ACKNOWLEDGED = "acknowledged"
    EXPIRED = "expired"
    MOVED = "moved"
    REMOVED = "removed"
    ROLLED_BACK = "rolled-back"
    UNKNOWN = "unknown"


class PastOutcome(NamedTuple):
    """A state, and what is known of how it came about (None: nothing else)."""

    state: PastState
    why: str | None = None


WAITING: Final = PastOutcome(PastState.WAITING)
ACKNOWLEDGED: Final = PastOutcome(PastState.ACKNOWLEDGED)
OUTCOMES: Final = (
    WAITING,
    ACKNOWLEDGED,
    PastOutcome(PastState.EXPIRED),
    PastOutcome(PastState.MOVED),
    PastOutcome(PastState.REMOVED, "acknowledged when its queue was deleted"),
    PastOutcome(PastState.ROLLED_BACK),
    PastOutcome(PastState.UNKNOWN, "its page is gone, and it is not known which acknowledgement was its own"),
    PastOutcome(PastState.WAITING, "sent in a prepared transaction, neither committed nor rolled back"),
    PastOutcome(PastState.WAITING, "acknowledged in a prepared transaction, neither committed nor rolled back"),
    PastOutcome(
        PastState.ACKNOWLEDGED,
        "outside of a transaction: replaced (last value, ring), forwarded by a bridge, or dropped at its last attempt",
    ),
)  # fmt: skip
(
    _WAITING, _ACKNOWLEDGED, EXPIRED, MOVED, REMOVED, _ROLLED_BACK, _UNKNOWN, _SENT_IN_DOUBT, _ACKNOWLEDGED_IN_DOUBT,
    _OUTSIDE,
) = range(len(OUTCOMES))  # fmt: skip


@dataclass(frozen=True, slots=True)
class HistoryMessages:
    """The messages of a history by their ids.

    ``row``: of the record that has the message; -1: none has, and it lies in a page on the disk. ``sent``: the position
    at which the send took effect: ``BEFORE`` all records, ``PREPARED``, or ``NEVER``. ``begins``: message k has the
    references from ``begins[k]`` up to ``begins[k + 1]``; of each the columns ``queue``, ``acked`` (the position of the
    acknowledgement, ``NEVER`` without one), ``ack`` (its row, -1 without one), ``paged`` (the index in ``pages``, -1 in
    the journal), ``delivered``, ``scheduled`` (ms), and ``outcome``, the index in ``OUTCOMES``.

    ``unmatched``: acknowledgements of messages that no file of the history has, or that cannot be told.
    """

    records: HistoryRecords
    pages: PagedMessages
    ids: Ints
    row: Ints
    sent: Ints
    begins: Ints
    queue: Ints
    acked: Ints
    ack: Ints
    paged: Ints
    delivered: Ints
    scheduled: Ints
    outcome: Ints
    unmatched: UnmatchedAcks

    @property
    def owner(self) -> Ints:
        """Return for each reference the number of its message."""
        return np.repeat(np.arange(len(self.ids)), np.diff(self.begins))

    def is_state(self, wanted: Collection[PastState]) -> Mask:
        """Return which references are in one of these states."""
        of_outcome = np.array([outcome.state in wanted for outcome in OUTCOMES])
        mask: Mask = of_outcome[self.outcome]
        return mask

    @property
    def is_in_doubt(self) -> Mask:
        """Return which references are of a prepared transaction that sends or acknowledges."""
        return np.isin(self.outcome, (_SENT_IN_DOUBT, _ACKNOWLEDGED_IN_DOUBT))

    def as_held(self, waiting: Mask | None = None) -> HeldHistory:
        """Return the messages that a file has in the form of those of a journal, in the order of their records.

        ``waiting``: these references count as waiting, all others as acknowledged. None: as they are.
        """
        chosen = np.flatnonzero(self.row != _NO_ROW)
        chosen = chosen[np.argsort(self.records.positions(self.row[chosen]), kind="stable")]
        counts = np.diff(self.begins)[chosen]
        begins = np.append(0, np.cumsum(counts))
        which = np.repeat(self.begins[chosen] - begins[:-1], counts) + np.arange(begins[-1])
        held, acked = self.is_in_doubt[which], ~self.is_state((PastState.WAITING,))[which]
        if waiting is not None:
            held, acked = np.zeros(len(which), bool), ~waiting[which]
        owner = np.repeat(np.arange(len(chosen)), counts)
        references = QueueReferences(
            owner, self.queue[which], acked, held, self.delivered[which], self.scheduled[which]
        )
        tx, arrived = np.full(len(chosen), NO_TRANSACTION), np.arange(len(which))
        rows, ids = self.row[chosen], self.ids[chosen]
        held_messages = JournalMessages(self.records.columns, rows, ids, tx, begins, references, arrived, ())
        return HeldHistory(held_messages, chosen, which)


class HeldHistory(NamedTuple):
    """Messages of a history in the form of those of a journal.

    ``numbers``: of these messages in the history; ``references``: the index there of each of their references.
    """

    messages: JournalMessages
    numbers: Ints
    references: Ints


class UnmatchedAcks(NamedTuple):
    """Acknowledgements whose message is not known: queue, and the position at which each took effect."""

    queue: Ints
    at: Ints


class _References(NamedTuple):
    """References in journal and pages. ``paged``: index of the paged message, -1 in the journal."""

    message: Ints
    queue: Ints
    acked: Ints
    ack: Ints
    paged: Ints


class _JournalAcks(NamedTuple):
    """Acknowledgements of references in the journal, the first of each that took effect."""

    row: Ints
    id: Ints
    queue: Ints
    at: Ints


def history_messages(records: HistoryRecords, around: Surroundings, *, from_start: bool) -> HistoryMessages:
    """Return the messages of a history with their states. ``from_start``: no record before the first one is missing."""
    pages = paged_messages(records, around, from_start=from_start)
    rows = _message_rows(records)
    journal_ids = records.columns.ids.at(rows)
    ids = np.unique(np.concatenate([journal_ids, pages.id]))
    in_journal, of_page = np.searchsorted(ids, journal_ids), np.searchsorted(ids, pages.id)
    row, sent = np.full(len(ids), _NO_ROW), np.full(len(ids), NEVER)
    # The first event of a message counts: those at the end are written first.
    for n in (np.flatnonzero(pages.row != _NO_ROW)[::-1],):
        row[of_page[n]] = pages.row[n]
    np.minimum.at(sent, of_page, pages.sent)
    row[in_journal] = rows
    effects = records.effects(rows)
    copies = records.is_copy(rows) & (records.transactions.at(rows) == 0)
    np.minimum.at(sent, in_journal, np.where(copies, BEFORE, effects))
    acks = _journal_acks(records)
    references = _joined(_in_journal(records, ids, sent, acks), _in_pages(pages, of_page))
    begins = np.searchsorted(references.message, np.arange(len(ids) + 1))
    latest = _Latest(records, ids, references)
    outcome = _outcomes(records, pages, sent, references)
    return HistoryMessages(
        records,
        pages,
        ids,
        row,
        sent,
        begins,
        references.queue,
        references.acked,
        references.ack,
        references.paged,
        latest.of(RecordType.UPDATE_DELIVERY_COUNT, _COUNT),
        latest.of(RecordType.SET_SCHEDULED_DELIVERY_TIME, _TIME),
        outcome,
        _unmatched(ids, acks, pages, references),
    )


def _message_rows(records: HistoryRecords) -> Ints:
    """Return the row of each message in the journal: of several the first that is no copy of a compaction."""
    rows = records.rows_of(*MESSAGES)
    rows = rows[~records.is_event(rows)]
    ids = records.columns.ids.at(rows)
    order = np.lexsort((records.is_copy(rows), ids))
    ids = ids[order]
    first: Ints = rows[order[np.append(True, ids[1:] != ids[:-1])[: len(ids)]]]
    return first


def _references_of(records: HistoryRecords, kind: RecordType, layout: np.dtype[np.void]) -> tuple[Ints, Ints]:
    """Return the rows of a type in the journal that are long enough, in their order, and the queue of each."""
    rows = records.rows_of(kind)
    rows = rows[~records.is_event(rows) & (records.columns.sizes.at(rows) >= layout.itemsize)]
    queue: Ints = records.columns.beginnings(rows, layout.itemsize).view(layout)["queue"].astype(np.int64)
    return rows, queue


def _journal_acks(records: HistoryRecords) -> _JournalAcks:
    rows, queue = _references_of(records, RecordType.ACKNOWLEDGE_REF, _QUEUE)
    ids, at = records.columns.ids.at(rows), records.effects(rows)
    order = np.lexsort((at, records.is_copy(rows), queue, ids))
    order = order[at[order] != NEVER]
    keys = np.stack([ids[order], queue[order]])
    order = order[np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0))[: len(order)]]
    return _JournalAcks(rows[order], ids[order], queue[order], at[order])


def _in_journal(records: HistoryRecords, ids: Ints, sent: Ints, acks: _JournalAcks) -> _References:
    rows, queue = _references_of(records, RecordType.ADD_REF, _QUEUE)
    wanted = records.columns.ids.at(rows)
    message = np.searchsorted(ids, wanted).clip(max=max(len(ids) - 1, 0))
    good = ids[message] == wanted if len(ids) else np.zeros(len(wanted), bool)
    # a reference that was rolled back belongs to a message that was rolled back, too
    good &= (records.effects(rows) != NEVER) | (sent[message] == NEVER if len(ids) else False)
    rows, queue, message = rows[good], queue[good], message[good]
    order = np.lexsort((np.arange(len(rows)), queue, message))
    keys = np.stack([message[order], queue[order]])
    order = np.sort(order[np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0))[: len(order)]])
    message, queue = message[order], queue[order]
    which = _pairs_among(ids[message] if len(ids) else message, queue, acks.id, acks.queue)
    has_ack = which >= 0
    acked, ack = np.full(len(message), NEVER), np.full(len(message), _NO_ROW)
    acked[has_ack], ack[has_ack] = acks.at[which[has_ack]], acks.row[which[has_ack]]
    return _References(message, queue, acked, ack, np.full(len(message), -1))


def _in_pages(pages: PagedMessages, message_of_page: Ints) -> _References:
    owner = np.repeat(np.arange(len(pages.row)), np.diff(pages.begins))
    has_ack = pages.ack >= 0
    acked, ack = np.full(len(owner), NEVER), np.full(len(owner), _NO_ROW)
    acked[has_ack], ack[has_ack] = pages.acks.at[pages.ack[has_ack]], pages.acks.row[pages.ack[has_ack]]
    return _References(message_of_page[owner], pages.queue, acked, ack, owner)


def _joined(journal: _References, pages: _References) -> _References:
    """Return both by message, with each pair of message and queue once."""
    columns = [np.concatenate(both) for both in zip(journal, pages, strict=True)]
    order = np.lexsort((np.arange(len(columns[0])), columns[0]))
    message, queue = columns[0][order], columns[1][order]
    once = np.lexsort((np.arange(len(order)), queue, message))
    keys = np.stack([message[once], queue[once]])
    once = np.sort(once[np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0))[: len(once)]])
    return _References(*(column[order[once]] for column in columns))


def _pairs_among(ids: Ints, queues: Ints, known_ids: Ints, known_queues: Ints) -> Ints:
    """Return the index of each pair of id and queue among the known ones, which are ascending; -1 for others."""
    none: Ints = np.full(len(ids), -1)
    if not len(known_ids):
        return none
    distinct_queues = np.unique(known_queues)
    distinct_ids = np.unique(known_ids)
    keys = np.searchsorted(distinct_ids, known_ids) * len(distinct_queues) + np.searchsorted(
        distinct_queues, known_queues
    )
    of_id = np.searchsorted(distinct_ids, ids).clip(max=len(distinct_ids) - 1)
    of_queue = np.searchsorted(distinct_queues, queues).clip(max=len(distinct_queues) - 1)
    good = (distinct_ids[of_id] == ids) & (distinct_queues[of_queue] == queues)
    wanted = of_id * len(distinct_queues) + of_queue
    at = np.searchsorted(keys, wanted).clip(max=len(keys) - 1)
    return np.where(good & (keys[at] == wanted), at, none)


def _unmatched(ids: Ints, acks: _JournalAcks, pages: PagedMessages, references: _References) -> UnmatchedAcks:
    mine = references.paged < 0
    keys = (
        (ids[references.message[mine]], references.queue[mine])
        if len(ids)
        else (references.message[mine], references.queue[mine])
    )
    order = np.lexsort(keys[::-1])
    lost = _pairs_among(acks.id, acks.queue, keys[0][order], keys[1][order]) < 0
    of_pages = pages.acks.message < 0
    return UnmatchedAcks(
        np.concatenate([acks.queue[lost], pages.acks.queue[of_pages]]),
        np.concatenate([acks.at[lost], pages.acks.at[of_pages]]),
    )


class _Latest:
    """What the last record of a type says about each reference."""

    def __init__(self, records: HistoryRecords, ids: Ints, references: _References) -> None:
        self.records = records
        keys = (ids[references.message] if len(ids) else references.message, references.queue)
        self.order = np.lexsort(keys[::-1])
        self.ids, self.queues = keys[0][self.order], keys[1][self.order]

    def of(self, kind: RecordType, layout: np.dtype[np.void]) -> Ints:
        """Return the value by reference, 0 without a record."""
        latest = np.zeros(len(self.order), np.int64)
        rows, queue = _references_of(self.records, kind, layout)
        good = self.records.effects(rows) < PREPARED
        rows, queue = rows[good], queue[good]
        at = _pairs_among(self.records.columns.ids.at(rows), queue, self.ids, self.queues)
        values = self.records.columns.beginnings(rows, layout.itemsize).view(layout)["value"].astype(np.int64)
        has_reference = at >= 0
        latest[self.order[at[has_reference]]] = values[has_reference]
        return latest


def _outcomes(records: HistoryRecords, pages: PagedMessages, sent: Ints, references: _References) -> Ints:
    """Return the outcome of each reference as far as records tell it, without a look into messages."""
    paged, at = references.paged, sent[references.message] if len(sent) else references.message
    in_page = paged >= 0
    outcome = np.full(len(paged), _WAITING)
    acked = references.acked < PREPARED
    outside = np.zeros(len(paged), bool)
    with_row = np.flatnonzero(references.ack >= 0)
    outside[with_row] = records.transactions.at(references.ack[with_row]) == 0
    if in_page.any():
        own_sent = np.where(in_page, pages.sent[paged], at)
        unplaced = in_page & (pages.page[paged] == UNPLACED) & pages.is_gone[paged]
        done = np.zeros(len(paged), bool)
        done[in_page] = _done_by_reference(pages, references, in_page)
        outcome[in_page & pages.is_gone[paged] & ~acked] = _ACKNOWLEDGED
        outcome[unplaced & ~acked & ~pages.is_proved[paged]] = _UNKNOWN
        outcome[done & ~acked] = REMOVED
    else:
        own_sent = at
    outcome[acked] = _ACKNOWLEDGED
    outcome[acked & outside & ~in_page] = _OUTSIDE
    outcome[references.acked == PREPARED] = _ACKNOWLEDGED_IN_DOUBT
    outcome[(own_sent == PREPARED) & ~acked] = _SENT_IN_DOUBT
    outcome[(own_sent == NEVER) & ~acked] = _ROLLED_BACK
    return outcome


def _done_by_reference(pages: PagedMessages, references: _References, in_page: Mask) -> Mask:
    """Return for each reference in a page whether the queue is done with that page."""
    owner = np.repeat(np.arange(len(pages.row)), np.diff(pages.begins))
    order = np.lexsort((pages.queue, owner))
    which = _pairs_among(references.paged[in_page], references.queue[in_page], owner[order], pages.queue[order])
    done: Mask = pages.is_done[order[which]]
    return done
