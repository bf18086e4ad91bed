"""How many messages each queue held at a position of a history (docs/spec/history.md 6.7)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pagefmt.arrays import Ints, Mask
from pagefmt.history.messages import OUTCOMES, WAITING, HistoryMessages, PastState
from pagefmt.history.positions import UNPLACED
from pagefmt.history.records import NEVER, PREPARED

_GONE = (PastState.ACKNOWLEDGED, PastState.EXPIRED, PastState.MOVED, PastState.REMOVED)


@dataclass(slots=True)
class PastCount:
    """Messages of a queue.

    ``journal`` and ``pages``: held at the position. ``unseen``: held as well, and no file of the history has them.
    ``in_doubt``: sent in prepared transactions; they do not count as held, but those acknowledged in such do.
    ``gone``: messages that the history has and that left the queue before.
    """

    journal: int = 0
    pages: int = 0
    unseen: int = 0
    in_doubt: int = 0
    gone: int = 0

    @property
    def held(self) -> int:
        """Return how many messages the queue held."""
        return self.journal + self.pages + self.unseen


def held_references(messages: HistoryMessages, position: int | None = None) -> Mask:
    """Return which references a queue held at a position; None: behind the last record.

    References whose acknowledgement cannot be told are not among them.
    """
    return _held(messages, position, _sent(messages), _is_told(messages))


def _held(messages: HistoryMessages, position: int | None, sent: Ints, is_told: Mask) -> Mask:
    acked = np.where(messages.acked < PREPARED, messages.acked, NEVER)
    mask: Mask = is_told & (sent < PREPARED)
    if position is None:
        mask &= (acked == NEVER) & messages.is_state((PastState.WAITING,))
    else:
        mask &= (sent <= position) & (acked > position) & ~messages.is_state((PastState.ROLLED_BACK,))
    return mask


def past_counts(messages: HistoryMessages, position: int | None = None) -> dict[int, PastCount]:
    """Return the counts by queue at a position; None: behind the last record.

    An acknowledgement behind the position whose message is not known acknowledges one that the queue held then, unless
    the message was sent behind the position as well.
    """
    counts: dict[int, PastCount] = {}

    def add(field: str, queues: Ints, sign: int = 1) -> None:
        for queue, number in zip(*(column.tolist() for column in np.unique(queues, return_counts=True)), strict=True):
            count = counts.setdefault(queue, PastCount())
            setattr(count, field, max(0, getattr(count, field) + sign * number))

    sent, is_told = _sent(messages), _is_told(messages)
    held, in_pages = _held(messages, position, sent, is_told), messages.paged >= 0
    add("journal", messages.queue[held & ~in_pages])
    add("pages", messages.queue[held & in_pages])
    add("in_doubt", messages.queue[sent == PREPARED])
    gone = messages.is_state(_GONE) & (messages.row[messages.owner] >= 0)
    if position is not None:
        gone &= (sent <= position) & ~held
        lost = messages.unmatched
        add("unseen", lost.queue[(lost.at > position) & (lost.at < PREPARED)])
        add("unseen", messages.queue[~is_told & (sent > position) & (sent < PREPARED)], -1)
    add("gone", messages.queue[gone])
    return counts


def _sent(messages: HistoryMessages) -> Ints:
    """Return where the send of each reference took effect."""
    sent: Ints = messages.sent[messages.owner]
    if len(messages.pages.sent):
        sent = np.where(messages.paged >= 0, messages.pages.sent[messages.paged], sent)
    return sent


def _is_told(messages: HistoryMessages) -> Mask:
    """Return of which references it is known whether they are acknowledged."""
    mask: Mask = np.ones(len(messages.paged), bool)
    if len(messages.pages.page):
        mask = (messages.paged < 0) | (messages.pages.page[messages.paged] != UNPLACED)
        mask |= ~messages.pages.is_gone[messages.paged]
    return mask


def messages_as_of(messages: HistoryMessages, position: int) -> HistoryMessages:
    """Return the messages that were sent up to a position, with their states at that position."""
    records, row = messages.records, messages.row.copy()
    written = np.flatnonzero(row >= 0)
    later = (messages.sent[written] > position) & (records.positions(row[written]) > position)
    row[written[later | ((messages.sent[written] > position) & (messages.sent[written] < PREPARED))]] = -1
    held = held_references(messages, position)
    outcome = np.where(held, OUTCOMES.index(WAITING), messages.outcome)
    acked, ack = np.where(held, NEVER, messages.acked), np.where(held, -1, messages.ack)
    return replace(messages, row=row, acked=acked, ack=ack, outcome=outcome)
