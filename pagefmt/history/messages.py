"""Every message of a history, once, and what became of it in each of its queues (docs/spec/history.md 6)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, NamedTuple

import numpy as np

from pagefmt.arrays import Ints, Mask, ValueIndex, distinct, narrow, spread
from pagefmt.history.paged import PagedMessages, Surroundings, paged_messages
from pagefmt.history.positions import UNPLACED
from pagefmt.history.records import BEFORE, NEVER, PREPARED, HistoryRecords
from pagefmt.journal.held_messages import NO_TRANSACTION, JournalMessages, QueueReferences, ReferenceKeys
from pagefmt.journal.numbers import TOGETHER
from pagefmt.journal.record_bodies import bodies_of
from pagefmt.journal.record_types import MESSAGES, RecordType

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
        which = narrow(spread(self.begins[chosen], counts))
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
    """Pairs of message and queue, each once, and what the records say of each. Those of pages come last.

    ``paged``: index of the paged message, -1 in the journal. ``acked``: where the acknowledgement took effect,
    ``NEVER`` without one; ``ack``: its row, -1 without one.
    """

    def __init__(self, message: Ints, queue: Ints, pages: PagedMessages, of_page: Ints) -> None:
        self._pages, self._of_page, owner = pages, of_page, pages.owner
        journal = len(message)
        if len(owner):
            message = np.concatenate([message, narrow(of_page[owner])])
            queue = np.concatenate([queue, narrow(pages.queue)])
        self.keys = ReferenceKeys(message, queue)
        first = np.arange(len(message)) if self.keys.first is None else self.keys.first
        self.paged = narrow(np.append(owner, -1)[np.where(first < journal, -1, first - journal)])
        self.acked, self.ack = _filled(len(first), NEVER), _filled(len(first), _NO_ROW)

    @property
    def arrival(self) -> Ints | None:
        """Return the order in which those of each message arrived, None if it is that of the pairs."""
        return None if self.keys.first is None else np.lexsort((self.keys.first, self.keys.message))

    def find(self, message: Ints, queue: Ints) -> Ints:
        """Return the index of each pair, -1 if there is no such reference. A message of -1 is none."""
        index = np.full(len(message), -1)
        pairs, at = self.keys.find(message, queue)
        index[pairs] = at
        return index

    def in_pages(self, mask: Mask) -> tuple[Ints, Ints]:
        """Return the chosen references of paged messages that are known by nothing else, and their indexes."""
        chosen = np.flatnonzero(mask)
        owner = self._pages.owner[chosen]
        index = self.find(self._of_page[owner], self._pages.queue[chosen])
        mine = self.paged[index] == owner
        return chosen[mine], index[mine]


def history_messages(records: HistoryRecords, around: Surroundings, *, from_start: bool) -> HistoryMessages:
    """Return the messages of a history with their states. ``from_start``: no record before the first one is missing."""
    pages = paged_messages(records, around, from_start=from_start)
    ids, row, sent, of_page = _sent_messages(records, pages)
    numbers = ValueIndex(ids)
    references = _References(*_in_journal(records, numbers, sent), pages, of_page)
    unmatched = _acknowledge(records, numbers, pages, references)
    begins = narrow(np.append(0, np.cumsum(np.bincount(references.keys.message, minlength=len(ids)))))
    columns = [
        narrow(references.keys.queue),
        references.acked,
        references.ack,
        references.paged,
        _latest(records, numbers, references, RecordType.UPDATE_DELIVERY_COUNT),
        _latest(records, numbers, references, RecordType.SET_SCHEDULED_DELIVERY_TIME),
        _outcomes(records, pages, sent, references),
    ]
    if (arrival := references.arrival) is not None:
        columns = [column[arrival] for column in columns]
    queue, acked, ack, paged, delivered, scheduled, outcome = columns
    return HistoryMessages(
        records, pages, ids, row, sent, begins, queue, acked, ack, paged, delivered, scheduled, outcome, unmatched
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


def _in_journal(records: HistoryRecords, numbers: ValueIndex, sent: Ints) -> tuple[Ints, Ints]:
    """Return message and queue of the references in the journal."""
    messages, queues = [narrow(np.zeros(0, np.int64))], [narrow(np.zeros(0, np.int64))]
    for rows, queue, _ in _about_references(records, records.rows_of(RecordType.ADD_REF), RecordType.ADD_REF):
        message = numbers.of(records.columns.ids.at(rows))
        good = message >= 0
        # a reference that was rolled back belongs to a message that was rolled back, too
        never = np.flatnonzero(good & (records.effects(rows) == NEVER))
        good[never] = sent[message[never]] == NEVER
        messages.append(narrow(message[good]))
        queues.append(narrow(queue[good]))
    return np.concatenate(messages), np.concatenate(queues)


def _about_references(records: HistoryRecords, rows: Ints, kind: RecordType) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Yield rows of a type that are no events, the queue of each and its value, if there is one.

    Some rows come at a time, which keeps memory small.
    """
    for start in range(0, len(rows), TOGETHER):
        some = rows[start : start + TOGETHER]
        some = some[~records.is_event(some)]
        fits, bodies = bodies_of(records.columns, some, kind)
        value = bodies["value"] if "value" in (bodies.dtype.names or ()) else bodies["queue"][:0]
        yield some[fits], bodies["queue"].astype(np.int64), value.astype(np.int64)


def _acknowledge(
    records: HistoryRecords, numbers: ValueIndex, pages: PagedMessages, references: _References
) -> UnmatchedAcks:
    """Note the acknowledgements of references, and return those whose message is not known.

    The first one that is no copy of a compaction counts; one of a page does not count against one in the journal.
    """
    acks, kind = pages.acks, RecordType.ACKNOWLEDGE_REF
    chosen, index = references.in_pages(pages.ack >= 0)
    references.acked[index], references.ack[index] = acks.at[pages.ack[chosen]], acks.row[pages.ack[chosen]]
    rows = records.rows_of(kind)
    lost = [(acks.queue[acks.message < 0], acks.at[acks.message < 0])]
    copies = records.is_copy(rows)
    for mask, limit in ((~copies, BEFORE), (copies, PREPARED - 1)):
        for kept, queue, _ in _about_references(records, rows[mask], kind):
            at = records.effects(kept)
            index = references.find(numbers.of(records.columns.ids.at(kept)), queue)
            unmatched = (index < 0) & (at != NEVER)
            lost.append((queue[unmatched], at[unmatched]))
            order = np.argsort(at, kind="stable")[::-1]  # of several of one reference the first is noted last
            order = order[index[order] >= 0]
            order = order[np.maximum(at[order], limit) < references.acked[index[order]]]
            references.acked[index[order]], references.ack[index[order]] = at[order], kept[order]
    return UnmatchedAcks(*(np.concatenate(columns) for columns in zip(*lost, strict=True)))


def _latest(records: HistoryRecords, numbers: ValueIndex, references: _References, kind: RecordType) -> Ints:
    """Return what the last record of a type says about each reference, 0 without a record."""
    latest = np.zeros(len(references.paged), np.int64)
    for rows, queue, value in _about_references(records, records.rows_of(kind), kind):
        index = references.find(numbers.of(records.columns.ids.at(rows)), queue)
        good = (records.effects(rows) < PREPARED) & (index >= 0)
        latest[index[good]] = value[good]
    return narrow(latest)


def _outcomes(records: HistoryRecords, pages: PagedMessages, sent: Ints, references: _References) -> Ints:
    """Return the outcome of each reference as far as records tell it, without a look into messages."""
    paged, message = references.paged, references.keys.message
    at = sent[message] if len(sent) else message
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
        done[references.in_pages(pages.is_done)[1]] = True
        outcome[in_page & pages.is_gone[paged] & ~acked] = _ACKNOWLEDGED
        outcome[unplaced & ~acked & ~pages.is_proved[paged]] = _UNKNOWN
        _, index = references.in_pages(pages.is_emptied)
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
