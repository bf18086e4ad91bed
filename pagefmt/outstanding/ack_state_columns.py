"""What becomes of the records of a page, for each queue at once: ``pagefmt.outstanding.ack_state`` over vectors."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from pagefmt.outstanding.ack_state import LIVE, AckState, PageRule
from pagefmt.outstanding.route_columns import RouteColumns, Rows
from pagefmt.pages.gather import Ints, Mask, ranked

Codes = npt.NDArray[np.int8]
ACK_STATES: Final = tuple(AckState)
"""A fate by its code."""
CODE: Final = {ack_state: code for code, ack_state in enumerate(ACK_STATES)}
LIVE_CODES: Final = np.array([ack_state in LIVE for ack_state in ACK_STATES])
"""By code: whether a record with it has to stay."""


class QueueAckStates(NamedTuple):
    """The records that name one queue, and the code of what becomes of each for it."""

    queue: int
    rows: Rows
    codes: Codes

    def counts(self) -> dict[AckState, int]:
        """How many records have each state that there is."""
        found = np.bincount(self.codes, minlength=len(ACK_STATES)).tolist()
        return {ack_state: count for ack_state, count in zip(ACK_STATES, found, strict=True) if count}


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
    complete, acked, held = rule.numbers(queue)
    if complete:
        codes[:] = CODE[AckState.DONE]
        return
    if held:
        here = _standing(routes, held, rows)
        codes[here & (codes == CODE[AckState.OUTSTANDING])] = CODE[AckState.IN_DOUBT_ACK]
    if rule.end is not None:
        codes[(routes.first + np.arange(len(routes)))[rows] >= rule.end] = CODE[AckState.WITHHELD]
    if acked:
        codes[_standing(routes, acked, rows)] = CODE[AckState.DONE]


def _standing(routes: RouteColumns, numbers: array[int], rows: Rows) -> Mask:
    """Which of the rows have one of the numbers, which ascend."""
    known: Ints = np.frombuffer(numbers, np.int32)
    first, last = np.searchsorted(known, [routes.first, routes.first + len(routes)])
    mask = np.zeros(len(routes), bool)
    mask[known[first:last] - routes.first] = True
    return mask[rows]


def _unsent(rule: PageRule, routes: RouteColumns) -> Codes:
    """By record: what its transaction says, ``OUTSTANDING`` where that is nothing against delivery."""
    if routes.tx is None:
        return np.full(len(routes), CODE[AckState.OUTSTANDING], np.int8)
    known, which = ranked(routes.tx)
    return np.array([CODE[rule.unsent(tx) or AckState.OUTSTANDING] for tx in known.tolist()], np.int8)[which]


def any_outstanding(rule: PageRule, routes: RouteColumns) -> Mask:
    """By record: whether some queue still waits for it."""
    found = np.zeros(len(routes), bool)
    for _, rows, codes in ack_state_columns(rule, routes):
        found[rows] |= codes == CODE[AckState.OUTSTANDING]
    return found
