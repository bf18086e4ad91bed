"""The acknowledgement state of records for each queue that they name, as codes in NumPy arrays."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from pagefmt.arrays import Ints, Mask, ranked
from pagefmt.outstanding.ack_state import AckState, PageRule

Codes = npt.NDArray[np.int8]
ACK_STATES: Final = tuple(AckState)  # the index of a state is its code
CODE: Final = {ack_state: code for code, ack_state in enumerate(ACK_STATES)}


class NamedQueues(NamedTuple):
    """Each queue that each record names: ``row`` of the record, and the ``codes`` of what becomes of it there.

    ``acked``: there is an acknowledgement, whether or not the queue is still there.
    """

    row: Ints
    queue: Ints
    codes: Codes
    acked: Mask


def named_queues(rule: PageRule, number: Ints, tx: Ints, at: Ints, queue: Ints) -> NamedQueues:
    """Return the states of the queues that the records name. ``at`` and ``queue`` are those of ``flat``."""
    row = owners(at)
    done, held = marked_places(rule, number, row, queue)
    transactions, which = ranked(tx)
    unsent = [CODE[rule.unsent(n) or AckState.OUTSTANDING] for n in transactions.tolist()]
    codes = np.array(unsent, np.int8)[which][row] if len(row) else np.zeros(0, np.int8)
    codes[held & (codes == CODE[AckState.OUTSTANDING])] = CODE[AckState.IN_DOUBT_ACK]
    if rule.end is not None:
        codes[number[row] >= rule.end] = CODE[AckState.WITHHELD]
    codes[done] = CODE[AckState.DONE]
    ids, which = ranked(queue)
    bound = np.array([rule.bound(n) for n in ids.tolist()], bool)
    if not bound.all():
        codes[~bound[which]] = CODE[AckState.NO_QUEUE]
    return NamedQueues(row, queue, codes, done)


def owners(at: Ints) -> Ints:
    """Return the row of each queue id, from the offsets of the rows."""
    return np.repeat(np.arange(len(at) - 1), np.diff(at))


def marked_places(rule: PageRule, number: Ints, row: Ints, queue: Ints) -> tuple[Mask, Mask]:
    """Return which references are acknowledged, and which only in a prepared transaction."""
    done, held = np.zeros(len(queue), bool), np.zeros(len(queue), bool)
    marked = {queue_id for queue_id in ranked(queue)[0].tolist() if rule.marked(queue_id)}
    for queue_id, rows in _by_queue(queue) if marked else ():
        if queue_id in marked:
            complete, acked, in_doubt = rule.numbers(queue_id)
            done[rows] = True if complete else among(number[row[rows]], acked)
            held[rows] = among(number[row[rows]], in_doubt)
    return done, held


def each_once(row: Ints, queue: Ints) -> Ints:
    """Return the places at which each queue of each row stands first, ascending: no broker counts one twice."""
    if len(row) < 2 or np.all((row[1:] != row[:-1]) | (queue[1:] > queue[:-1])):
        return np.arange(len(row))
    order = np.lexsort((queue, row))
    again = (np.diff(row[order]) == 0) & (np.diff(queue[order]) == 0)
    return np.sort(order[np.append(True, ~again)])


def _by_queue(queue: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield each queue id and its indices; a page may name as many queues as it has room for."""
    order = np.argsort(queue, kind="stable")
    rising = queue[order]
    begins = np.flatnonzero(np.append(True, rising[1:] != rising[:-1])[: len(queue)])
    for begin, end in pairwise(np.append(begins, len(queue))):
        yield int(rising[begin]), order[begin:end]


def among(numbers: Ints, wanted: array[int]) -> Mask:
    """Return which numbers are in ``wanted``, which is in ascending order."""
    if not wanted:
        return np.zeros(len(numbers), bool)
    ascending = np.frombuffer(wanted, np.int32)
    mask: Mask = ascending[np.searchsorted(ascending, numbers).clip(max=len(ascending) - 1)] == numbers
    return mask
