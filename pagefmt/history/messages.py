"""Every message of a history, once, and what became of it in each of its queues (docs/spec/history.md 6)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple

import numpy as np

from pagefmt.arrays import Ints, Mask, distinct, narrow
from pagefmt.history.paged import PagedMessages, Surroundings, paged_messages
from pagefmt.history.positions import UNPLACED
from pagefmt.history.records import BEFORE, NEVER, PREPARED, HistoryRecords
from pagefmt.journal.held_messages import NO_TRANSACTION, JournalMessages, MessageNumbers, QueueReferences
from pagefmt.journal.numbers import TOGETHER
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
        chosen = narrow(chosen[np.argsort(self.records.positions(self.row[chosen]), kind="stable")])
        counts = np.diff(self.begins)[chosen]
        begins = np.append(0, np.cumsum(counts))
        which = narrow(np.repeat(self.begins[chosen] - begins[:-1], counts) + np.arange(begins[-1]))
        held, acked = self.is_in_doubt[which], ~self.is_state((PastState.WAITING,))[which]
        if waiting is not None:
            held, acked = np.zeros(len(which), bool), ~waiting[which]
        owner = narrow(np.repeat(np.arange(len(chosen)), counts))
        references = QueueReferences(
            owner, self.queue[which], acked, held, self.delivered[which], self.scheduled[which]
        )
        tx, arrived = narrow(np.full(len(chosen), NO_TRANSACTION)), narrow(np.arange(len(which)))
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


class _References:
    """Pairs of message and queue, by message, those of one message in their order of arrival, each pair once.

    ``paged``: index of the paged message, -1 in the journal. ``acked``: where the acknowledgement took effect,
    ``NEVER`` without one; ``ack``: its row, -1 without one.
    """

    def __init__(self, message: Ints, queue: Ints, paged: Ints) -> None:
        if not (message[1:] >= message[:-1]).all():
            order = np.argsort(message, kind="stable")
            message, queue, paged = message[order], queue[order], paged[order]
        self._queues = distinct(queue)
        words = self._words(message, queue)
        self._order: Ints | None = None
        if not (words[1:] > words[:-1]).all():
            order = np.argsort(words, kind="stable")
            first = np.append(True, words[order][1:] != words[order][:-1])[: len(words)]
            kept = np.sort(order[first])
            message, queue, paged, words = message[kept], queue[kept], paged[kept], words[kept]
            self._order = narrow(np.argsort(words, kind="stable"))
            words = words[self._order]
        self.message, self.queue, self.paged = narrow(message), narrow(queue), narrow(paged)
        self._sorted_words = words
        self.acked = _filled(len(message), NEVER)
        self.ack = _filled(len(message), _NO_ROW)

    def _words(self, message: Ints, queue: Ints) -> Ints:
        """Pack each pair into one number."""
        words: Ints = message.astype(np.int64) * max(len(self._queues), 1) + np.searchsorted(self._queues, queue)
        return words

    def find(self, message: Ints, queue: Ints) -> Ints:
        """Return the index of each pair, -1 if there is no such reference. A message of -1 is none."""
        none: Ints = np.full(len(message), -1)
        if not len(self._sorted_words):
            return none
        which = np.searchsorted(self._queues, queue).clip(max=len(self._queues) - 1)
        words = np.where(
            (message >= 0) & (self._queues[which] == queue), message * max(len(self._queues), 1) + which, -1
        )
        at = np.searchsorted(self._sorted_words, words).clip(max=len(self._sorted_words) - 1)
        index = at if self._order is None else self._order[at]
        return np.where(self._sorted_words[at] == words, index, none)

    def acknowledge(self, index: Ints, at: Ints, row: Ints) -> None:
        """Note acknowledgements of references. Of several the last one counts."""
        self.acked[index], self.ack[index] = at, row


def history_messages(records: HistoryRecords, around: Surroundings, *, from_start: bool) -> HistoryMessages:
    """Return the messages of a history with their states. ``from_start``: no record before the first one is missing."""
    pages = paged_messages(records, around, from_start=from_start)
    ids, row, sent, of_page = _sent_messages(records, pages)
    journal = _in_journal(records, ids, sent)
    references = _with_pages(*journal, pages, of_page)
    unmatched = _acknowledge(records, ids, pages, references)
    begins = narrow(np.searchsorted(references.message, np.arange(len(ids) + 1)))
    outcome = _outcomes(records, pages, of_page, sent, references)
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
        _latest(records, ids, references, RecordType.UPDATE_DELIVERY_COUNT, _COUNT),
        _latest(records, ids, references, RecordType.SET_SCHEDULED_DELIVERY_TIME, _TIME),
        outcome,
        unmatched,
    )


def _sent_messages(records: HistoryRecords, pages: PagedMessages) -> tuple[Ints, Ints, Ints, Ints]:
    """Return ids, rows and positions of the sends of all messages, and the number of each paged one among them."""
    rows = _message_rows(records)
    journal_ids = records.columns.ids.at(rows)
    ids = narrow(distinct(np.concatenate([journal_ids, pages.id])))
    in_journal, of_page = np.searchsorted(ids, journal_ids), np.searchsorted(ids, pages.id)
    row, sent = _filled(len(ids), _NO_ROW), _filled(len(ids), NEVER)
    written = np.flatnonzero(pages.row != _NO_ROW)[::-1]
    row[of_page[written]] = pages.row[written]  # of several events of a message the first, which is written last
    np.minimum.at(sent, of_page, pages.sent.astype(np.int32))
    row[in_journal] = rows
    copies = records.is_copy(rows) & (records.transactions.at(rows) == 0)
    effects = np.where(copies, BEFORE, records.effects(rows)).astype(np.int32)
    sent[in_journal] = np.minimum(sent[in_journal], effects)
    return ids, row, sent, of_page


def _filled(length: int, value: int) -> Ints:
    """Return an array for rows and positions, which take four bytes each."""
    values: Any = np.full(length, value, np.int32)
    filled: Ints = values
    return filled


def _message_rows(records: HistoryRecords) -> Ints:
    """Return the row of each message in the journal: of several the first that is no copy of a compaction."""
    rows = records.rows_of(*MESSAGES)
    rows = rows[~records.is_event(rows)]
    ids = records.columns.ids.at(rows)
    if (ids[1:] > ids[:-1]).all():
        return rows
    order = np.lexsort((records.is_copy(rows), ids))
    ids = ids[order]
    first: Ints = rows[order[np.append(True, ids[1:] != ids[:-1])[: len(ids)]]]
    return first


def _references_of(records: HistoryRecords, kind: RecordType, layout: np.dtype[np.void]) -> tuple[Ints, Ints]:
    """Return the rows of a type in the journal that are long enough, in their order, and the queue of each."""
    return _references_among(records, records.rows_of(kind), layout)


def _references_among(records: HistoryRecords, rows: Ints, layout: np.dtype[np.void]) -> tuple[Ints, Ints]:
    """Return those of the rows that are no events and are long enough, and the queue of each."""
    rows = rows[~records.is_event(rows) & (records.columns.sizes.at(rows) >= layout.itemsize)]
    queue: Ints = records.columns.beginnings(rows, layout.itemsize).view(layout)["queue"].astype(np.int64)
    return rows, queue


def _in_journal(records: HistoryRecords, ids: Ints, sent: Ints) -> tuple[Ints, Ints]:
    """Return message and queue of the references in the journal."""
    rows, queue = _references_of(records, RecordType.ADD_REF, _QUEUE)
    message = MessageNumbers(ids).of(records.columns.ids.at(rows))
    good = message >= 0
    # a reference that was rolled back belongs to a message that was rolled back, too
    never = np.flatnonzero(good & (records.effects(rows) == NEVER))
    good[never] = sent[message[never]] == NEVER
    return message[good], queue[good]


def _with_pages(message: Ints, queue: Ints, pages: PagedMessages, message_of_page: Ints) -> _References:
    """Return the references in journal and pages, with the acknowledgements of those in pages."""
    journal = np.full(len(message), -1)
    if not len(pages.queue):
        return _References(message, queue, journal)
    owner = np.repeat(np.arange(len(pages.row)), np.diff(pages.begins))
    of_pages = message_of_page[owner]
    columns = zip((message, queue, journal), (of_pages, pages.queue, owner), strict=True)
    references = _References(*(np.concatenate(both) for both in columns))
    acked = np.flatnonzero(pages.ack >= 0)
    index, ack = references.find(of_pages[acked], pages.queue[acked]), pages.ack[acked]
    mine = references.paged[index] == owner[acked]
    references.acknowledge(index[mine], pages.acks.at[ack[mine]], pages.acks.row[ack[mine]])
    return references


def _acknowledge(records: HistoryRecords, ids: Ints, pages: PagedMessages, references: _References) -> UnmatchedAcks:
    """Note the acknowledgements of references in the journal, and return those whose message is not known.

    The first one that is no copy of a compaction counts. Some are looked at together, which keeps memory small.
    """
    rows = records.rows_of(RecordType.ACKNOWLEDGE_REF)
    lost = [(pages.acks.queue[pages.acks.message < 0], pages.acks.at[pages.acks.message < 0])]
    copies = records.is_copy(rows)
    numbers = MessageNumbers(ids)
    for some, limit in ((rows[~copies], BEFORE), (rows[copies], PREPARED - 1)):
        for start in range(0, len(some), TOGETHER):
            kept, queue = _references_among(records, some[start : start + TOGETHER], _QUEUE)
            at = records.effects(kept)
            index = references.find(numbers.of(records.columns.ids.at(kept)), queue)
            unmatched = (index < 0) & (at != NEVER)
            lost.append((queue[unmatched], at[unmatched]))
            order = np.argsort(at, kind="stable")[::-1]  # of several of one reference the first is noted last
            earlier = np.maximum(at[order], limit) < references.acked[index[order]]
            order = order[(index[order] >= 0) & earlier]
            references.acknowledge(index[order], at[order], kept[order])
    return UnmatchedAcks(*(np.concatenate(columns) for columns in zip(*lost, strict=True)))


def _latest(
    records: HistoryRecords, ids: Ints, references: _References, kind: RecordType, layout: np.dtype[np.void]
) -> Ints:
    """Return what the last record of a type says about each reference, 0 without a record."""
    latest = np.zeros(len(references.message), np.int64)
    rows, queue = _references_of(records, kind, layout)
    good = records.effects(rows) < PREPARED
    rows, queue = rows[good], queue[good]
    index = references.find(MessageNumbers(ids).of(records.columns.ids.at(rows)), queue)
    values = records.columns.beginnings(rows, layout.itemsize).view(layout)["value"].astype(np.int64)
    latest[index[index >= 0]] = values[index >= 0]
    return narrow(latest)


def _outcomes(
    records: HistoryRecords, pages: PagedMessages, of_page: Ints, sent: Ints, references: _References
) -> Ints:
    """Return the outcome of each reference as far as records tell it, without a look into messages."""
    paged, at = references.paged, sent[references.message] if len(sent) else references.message
    in_page = paged >= 0
    outcome = narrow(np.full(len(paged), _WAITING))
    acked = references.acked < PREPARED
    outside = np.zeros(len(paged), bool)
    with_row = np.flatnonzero(references.ack >= 0)
    outside[with_row] = records.transactions.at(references.ack[with_row]) == 0
    if in_page.any():
        own_sent = np.where(in_page, pages.sent[paged], at)
        unplaced = in_page & (pages.page[paged] == UNPLACED) & pages.is_gone[paged]
        done = np.zeros(len(paged), bool)
        owner = np.repeat(np.arange(len(pages.row)), np.diff(pages.begins))[pages.is_done]  # of queues that are done
        index = references.find(of_page[owner], pages.queue[pages.is_done])
        done[index[paged[index] == owner]] = True
        outcome[in_page & pages.is_gone[paged] & ~acked] = _ACKNOWLEDGED
        outcome[unplaced & ~acked & ~pages.is_proved[paged]] = _UNKNOWN
        owner = np.repeat(np.arange(len(pages.row)), np.diff(pages.begins))[pages.is_emptied]
        index = references.find(of_page[owner], pages.queue[pages.is_emptied])
        index = index[paged[index] == owner]
        outcome[index[outcome[index] == _UNKNOWN]] = _ACKNOWLEDGED
        outcome[done & ~acked] = REMOVED
    else:
        own_sent = at
    outcome[acked] = _ACKNOWLEDGED
    outcome[acked & outside & ~in_page] = _OUTSIDE
    outcome[references.acked == PREPARED] = _ACKNOWLEDGED_IN_DOUBT
    outcome[(own_sent == PREPARED) & ~acked] = _SENT_IN_DOUBT
    outcome[(own_sent == NEVER) & ~acked] = _ROLLED_BACK
    return outcome
