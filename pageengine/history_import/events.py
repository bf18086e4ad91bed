"""What a history says happened, in order: queues made and deleted, sends, acknowledgements, ends of transactions.

Everything is placed by the position of its record. What has no record of its own in the journal is placed by its id:
a broker takes the ids of queues and messages from one counter (docs/spec/history.md 2).
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np

from pagefmt.arrays import Ints, Mask, distinct, ranked
from pagefmt.directory.bindings import QueueBinding
from pagefmt.history.history import History
from pagefmt.history.messages import HistoryMessages, PastState
from pagefmt.history.records import BEFORE, NEVER, PREPARED, HistoryRecords
from pagefmt.journal.records import RecordKind

_NO_ROW: Final = -1
_ALONE: Final = -1  # transaction of what belongs to none


class EventKind(IntEnum):
    """What happens; of several things at one position the lower one comes first."""

    DELETE_QUEUE = 0
    CREATE_QUEUE = 1
    SEND = 2
    PREPARE = 3
    ACKNOWLEDGE = 4
    COMMIT = 5
    ROLLBACK = 6


class TrafficEvents(NamedTuple):
    """Events in order, in columns.

    ``subject``: a queue's id for queues, the number of a message for sends, the index of a reference for
    acknowledgements, the number of a transaction for its end. ``row``: of the record, -1 without one.
    """

    kind: Ints
    subject: Ints
    row: Ints


class Transactions(NamedTuple):
    """The transactions that sent something.

    ``of_message``: for each message the number of its transaction, -1 for none. ``is_branch``: those that were
    prepared, by number.
    """

    of_message: Ints
    is_branch: Mask


class RecordedTraffic(NamedTuple):
    """The traffic of a history.

    ``assumed``: how many acknowledgements of messages in pages are taken for those of the oldest messages.
    ``without_time``: how many acknowledged messages have no acknowledgement of their own in the records. ``replaced``:
    how many messages a last-value or ring queue replaced.
    """

    events: TrafficEvents
    transactions: Transactions
    assumed: int
    without_time: int
    replaced: int


class _EventList:
    """Events before they are put in order."""

    def __init__(self) -> None:
        self._columns: list[tuple[Ints, Ints, Ints, Ints, Ints]] = []

    def add(self, kind: EventKind, at: Ints, subject: Ints, row: Ints | None = None, order: Ints | None = None) -> None:
        """Add events of one kind. ``order``: among those at one position; None: that of the subjects."""
        rows = np.full(len(at), _NO_ROW) if row is None else row
        self._columns.append((np.full(len(at), kind, np.int8), at, subject, rows, subject if order is None else order))

    def in_order(self) -> TrafficEvents:
        """Return all events in order."""
        kind, at, subject, row, order = (np.concatenate(column) for column in zip(*self._columns, strict=True))
        by = np.lexsort((order, kind, at))
        return TrafficEvents(kind[by], subject[by], row[by])


def traffic_of(history: History) -> RecordedTraffic:
    """Return the traffic of a history."""
    messages, records = history.messages, history.records
    events = _EventList()
    at = _sent_at(messages, records)
    events.add(EventKind.SEND, at, np.arange(len(at)), messages.row, messages.ids)
    transactions = _add_transactions(events, messages, records, at)
    acked, row, assumed, without_time = _acknowledged(history, at)
    replaced = _is_replaced(history)
    which = np.flatnonzero((acked < PREPARED) & ~replaced)
    events.add(EventKind.ACKNOWLEDGE, acked[which], which, row[which], row[which])
    _add_queues(events, history, at, acked)
    return RecordedTraffic(events.in_order(), transactions, assumed, without_time, int(np.count_nonzero(replaced)))


def _ring_size(queue: QueueBinding) -> int:
    """Return how many messages a ring queue holds, -1 for a queue that is none."""
    value = queue.fields.get("ring_size")
    return -1 if value is None else int(value)


def _is_replaced(history: History) -> Mask:
    """Return which references a queue replaced by newer ones: acknowledged without a transaction, as no client does."""
    messages = history.messages
    queues = [
        number
        for number, queue in history.queues.queues.items()
        if queue.flag("last_value") or queue.fields.get("last_value_key") or _ring_size(queue) >= 0
    ]
    is_outside = np.zeros(len(messages.queue), bool)
    own = np.flatnonzero((messages.ack >= 0) & (messages.paged < 0) & np.isin(messages.queue, queues))
    is_outside[own] = messages.records.transactions.at(messages.ack[own]) == 0
    return is_outside


def _sent_at(messages: HistoryMessages, records: HistoryRecords) -> Ints:
    """Return the position of each send, whatever became of it; that of a copy by a compaction is ``BEFORE``.

    A message that only a page has comes behind all with lower ids.
    """
    at = np.full(len(messages.ids), BEFORE)
    held = np.flatnonzero(messages.row != _NO_ROW)
    rows = messages.row[held]
    copied = records.is_copy(rows) & (records.transactions.at(rows) == 0)
    at[held] = np.where(copied, BEFORE, records.positions(rows))
    alone = messages.row == _NO_ROW
    at[alone] = np.maximum.accumulate(at)[alone]
    return at


def _add_transactions(events: _EventList, messages: HistoryMessages, records: HistoryRecords, at: Ints) -> Transactions:
    """Add the ends of transactions that sent something, and return which these are.

    A transaction is known by the position at which it took effect. One that never did ends behind its last record.
    """
    effect, tx = messages.sent.astype(np.int64), np.zeros(len(at), np.int64)
    held = np.flatnonzero(messages.row != _NO_ROW)
    tx[held] = records.transactions.at(messages.row[held])
    # without a transaction in the record (pages) each message that was rolled back is a transaction of its own
    own = np.where(tx != 0, tx, -1 - messages.ids)
    inside = np.flatnonzero(effect > at)
    key = np.where(effect >= PREPARED, own, effect)
    state = np.where(effect >= PREPARED, effect, 0)
    pairs, number = np.unique(np.stack([state[inside], key[inside]]), axis=1, return_inverse=True)
    number, count = number.ravel(), pairs.shape[1]
    of_message = np.full(len(at), _ALONE)
    of_message[inside] = number
    last, ids = np.full(count, BEFORE), np.zeros(count, np.int64)
    np.maximum.at(last, number, at[inside])
    np.maximum.at(ids, number, tx[inside])
    prepares = _prepares(records)
    is_committed, is_open = pairs[0] == 0, pairs[0] == PREPARED
    is_branch = is_open | (np.isin(ids, prepares[0]) & (ids > 0))
    committed, rolled_back = np.flatnonzero(is_committed), np.flatnonzero(~is_committed & ~is_open)
    branches = np.flatnonzero(is_branch)
    events.add(EventKind.COMMIT, pairs[1][committed], committed)
    events.add(EventKind.ROLLBACK, last[rolled_back], rolled_back)
    events.add(EventKind.PREPARE, _first_after(prepares, ids[branches], last[branches]), branches)
    return Transactions(of_message, is_branch)


def _prepares(records: HistoryRecords) -> tuple[Ints, Ints]:
    """Return id and position of each PREPARE, by id."""
    rows = records.rows_of_kinds(RecordKind.PREPARE)
    ids, at = records.transactions.at(rows), records.positions(rows)
    order = np.lexsort((at, ids))
    return ids[order], at[order]


def _first_after(prepares: tuple[Ints, Ints], ids: Ints, last: Ints) -> Ints:
    """Return where each transaction was prepared: the first PREPARE of its id behind its last record."""
    places = np.full(len(ids), BEFORE)
    for index, (number, behind) in enumerate(zip(ids.tolist(), last.tolist(), strict=True)):
        mine = prepares[1][np.searchsorted(prepares[0], number, "left") : np.searchsorted(prepares[0], number, "right")]
        later = mine[mine > behind]
        places[index] = later[0] if len(later) else behind
    return places


def _acknowledged(history: History, at: Ints) -> tuple[Ints, Ints, int, int]:
    """Return where each reference was acknowledged (``NEVER``: not), the row of that, and how much is assumed.

    What was in a page that is gone was acknowledged by one of the acknowledgements whose message is not known: the
    oldest message is taken for that of the first one.
    """
    messages = history.messages
    acked, row = messages.acked.astype(np.int64), messages.ack.astype(np.int64)
    acked[messages.is_state((PastState.REMOVED,))] = NEVER
    is_acknowledged = messages.is_state((PastState.ACKNOWLEDGED,))
    left = (is_acknowledged | messages.is_state((PastState.UNKNOWN,))) & (acked == NEVER) & (messages.paged >= 0)
    sent, acks = at[messages.owner], messages.pages.acks
    free = (acks.message < 0) & (acks.at < PREPARED)
    assumed = without_time = 0
    waiting, unknown = np.flatnonzero(left), np.flatnonzero(free)
    waiting = waiting[np.lexsort((sent[waiting], messages.queue[waiting]))]
    unknown = unknown[np.argsort(acks.queue[unknown], kind="stable")]
    queues, begins = np.unique(messages.queue[waiting], return_index=True)
    ends = [*begins[1:].tolist(), len(waiting)][: len(queues)]
    for queue, begin, end in zip(queues.tolist(), begins.tolist(), ends, strict=True):
        mine = waiting[begin:end]
        mine_unknown = unknown[
            np.searchsorted(acks.queue[unknown], queue, "left") : np.searchsorted(acks.queue[unknown], queue, "right")
        ]
        # where there are more of one than of the other, the first of them have no counterpart in this history
        count = min(len(mine), len(mine_unknown))
        matched, first = mine[len(mine) - count :], mine[: len(mine) - count]
        which = mine_unknown[len(mine_unknown) - count :]
        acked[matched], row[matched] = np.maximum(acks.at[which], sent[matched]), acks.row[which]
        assumed += count
        first = first[is_acknowledged[first]]
        acked[first] = sent[first]
        without_time += len(first)
    return acked, row, assumed, without_time


def _add_queues(events: _EventList, history: History, at: Ints, acked: Ints) -> None:
    """Add the creation of each queue before the first message with a higher id, and its deletion behind its last."""
    messages = history.messages
    first_later = np.minimum.accumulate(np.append(at, NEVER)[::-1])[::-1]
    sent, queues, which = at[messages.owner], *ranked(messages.queue)
    first_sent, last_event, first_removed = (np.full(len(queues), value) for value in (NEVER, BEFORE, NEVER))
    np.minimum.at(first_sent, which, sent)
    np.maximum.at(last_event, which, np.where(acked < PREPARED, np.maximum(acked, sent), sent))
    removed = messages.is_state((PastState.REMOVED,)) & (messages.acked < PREPARED)
    np.minimum.at(first_removed, which[removed], messages.acked[removed].astype(np.int64))
    every = distinct(np.array([*history.queues.queues, *queues.tolist()], np.int64))
    later = first_later[np.searchsorted(messages.ids, every)]
    has_messages, index = np.isin(every, queues), np.searchsorted(queues, every)
    later[has_messages] = np.minimum(later[has_messages], first_sent[index[has_messages]])
    events.add(EventKind.CREATE_QUEUE, later, every)
    deleted = np.array(sorted(history.queues.deleted), np.int64)
    tx = np.array([history.queues.deleted[queue] for queue in deleted.tolist()], np.int64)
    places = first_later[np.searchsorted(messages.ids, tx)]
    has_messages, index = np.isin(deleted, queues), np.searchsorted(queues, deleted)
    mine = index[has_messages]
    own = np.where(first_removed[mine] < NEVER, first_removed[mine], places[has_messages])
    places[has_messages] = np.maximum(own, last_event[mine] + 1)
    events.add(EventKind.DELETE_QUEUE, places, deleted)
