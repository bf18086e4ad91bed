"""What becomes of the records of a page, for each queue at once: ``pagefmt.outstanding.fates`` over vectors."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from pagefmt.outstanding.fates import LIVE, Fate, PageRule
from pagefmt.outstanding.route_columns import RouteColumns, Rows
from pagefmt.pages.gather import Ints, Mask

Codes = npt.NDArray[np.int8]
FATES: Final = tuple(Fate)
"""A fate by its code."""
CODE: Final = {fate: code for code, fate in enumerate(FATES)}
LIVE_CODES: Final = np.array([fate in LIVE for fate in FATES])
"""By code: whether a record with it has to stay."""


class QueueFates(NamedTuple):
    """The records that name one queue, and the code of what becomes of each for it."""

    queue: int
    rows: Rows
    codes: Codes


def fate_columns(rule: PageRule, routes: RouteColumns) -> Iterator[QueueFates]:
    """Queue by queue, ids ascending. The same as ``rule.fate`` for each record and each queue that it names."""
    unsent = _unsent(rule, routes)
    for queue, rows in routes.queues():
        codes = unsent[rows].copy()
        if not rule.bound(queue):
            codes[:] = CODE[Fate.NO_QUEUE]
        else:
            _decide(rule, routes, queue, rows, codes)
        yield QueueFates(queue, rows, codes)


def _decide(rule: PageRule, routes: RouteColumns, queue: int, rows: Rows, codes: Codes) -> None:
    complete, acked, held = rule.numbers(queue)
    if complete:
        codes[:] = CODE[Fate.DONE]
        return
    if held:
        here = _standing(routes, held, rows)
        codes[here & (codes == CODE[Fate.OUTSTANDING])] = CODE[Fate.IN_DOUBT_ACK]
    if acked:
        codes[_standing(routes, acked, rows)] = CODE[Fate.DONE]


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
        return np.full(len(routes), CODE[Fate.OUTSTANDING], np.int8)
    known, which = np.unique(routes.tx, return_inverse=True)
    return np.array([CODE[rule.unsent(tx) or Fate.OUTSTANDING] for tx in known.tolist()], np.int8)[which]


def any_outstanding(rule: PageRule, routes: RouteColumns) -> Mask:
    """By record: whether some queue still waits for it."""
    found = np.zeros(len(routes), bool)
    for _, rows, codes in fate_columns(rule, routes):
        found[rows] |= codes == CODE[Fate.OUTSTANDING]
    return found
