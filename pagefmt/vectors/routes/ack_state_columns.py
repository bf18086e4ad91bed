"""What becomes of the records of a page, for each queue at once: ``pagefmt.outstanding.ack_state`` over vectors."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from pagefmt.arrays import Ints, Mask, ranked
from pagefmt.outstanding.ack_state import LIVE, AckState, PageRule
from pagefmt.outstanding.named_queues import ACK_STATES, CODE, Codes
from pagefmt.vectors.routes.route_columns import RouteColumns, Rows

# By code: whether a record in that state has to stay on the disk.
LIVE_CODES: Final = np.array([ack_state in LIVE for ack_state in ACK_STATES])


class QueueAckStates(NamedTuple):
    """The records that name one queue, and the code of what becomes of each for it."""

    queue: int
    rows: Rows
    codes: Codes

    def counts(self) -> dict[AckState, int]:
        """Return the number of records in each state that occurs."""
        counts = np.bincount(self.codes, minlength=len(ACK_STATES)).tolist()
        return {ack_state: count for ack_state, count in zip(ACK_STATES, counts, strict=True) if count}


def ack_state_columns(rule: PageRule, routes: RouteColumns) -> Iterator[QueueAckStates]:
    """Queue by queue, ids ascending. The same as ``rule.fate`` for each record and each queue that it names."""
    unsent = _unsent(rule, routes)
    for queue, rows in routes.queues():
        codes = unsent[rows].copy()
        if not rule.bound(queue):
            codes[:] = CODE[AckState.NO_QUEUE]
        else:
            _decide(rule, routes, queue, rows, codes)
        yield QueueAckStates(queue, rows, codes)


def _decide(rule: PageRule, routes: RouteColumns, queue: int, rows: Rows, codes: Codes) -> None:
    # Order matters: an acknowledgement overrides the end of the page, which overrides doubt.
    complete, acked, held = rule.numbers(queue)
    if complete:
        codes[:] = CODE[AckState.DONE]
        return
    if held:
        held_rows = _standing(routes, held, rows)
        codes[held_rows & (codes == CODE[AckState.OUTSTANDING])] = CODE[AckState.IN_DOUBT_ACK]
    if rule.end is not None:
        codes[(routes.first + np.arange(len(routes)))[rows] >= rule.end] = CODE[AckState.WITHHELD]
    if acked:
        codes[_standing(routes, acked, rows)] = CODE[AckState.DONE]


def _standing(routes: RouteColumns, numbers: array[int], rows: Rows) -> Mask:
    """Return which of the rows have one of the ascending ``numbers``."""
    ascending: Ints = np.frombuffer(numbers, np.int32)
    first, last = np.searchsorted(ascending, [routes.first, routes.first + len(routes)])
    mask = np.zeros(len(routes), bool)
    mask[ascending[first:last] - routes.first] = True
    return mask[rows]


def _unsent(rule: PageRule, routes: RouteColumns) -> Codes:
    """Return the state that each record's transaction implies, ``OUTSTANDING`` if nothing prevents delivery."""
    if routes.tx is None:
        return np.full(len(routes), CODE[AckState.OUTSTANDING], np.int8)
    transactions, which = ranked(routes.tx)
    return np.array([CODE[rule.unsent(tx) or AckState.OUTSTANDING] for tx in transactions.tolist()], np.int8)[which]


def any_outstanding(rule: PageRule, routes: RouteColumns) -> Mask:
    """Return which records are outstanding for at least one queue."""
    mask = np.zeros(len(routes), bool)
    for _, rows, codes in ack_state_columns(rule, routes):
        mask[rows] |= codes == CODE[AckState.OUTSTANDING]
    return mask
