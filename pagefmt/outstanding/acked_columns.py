"""What becomes of every record of a page for each queue that it names: ``pagefmt.outstanding.ack_state`` over vectors.

``ack_state_columns`` goes from the queues to the records, this from the records to the queues.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pagefmt.outstanding.ack_state import AckState, PageRule
from pagefmt.outstanding.ack_state_columns import CODE, Codes
from pagefmt.pages.gather import Ints, Mask, ranked

if TYPE_CHECKING:
    import pyarrow as pa


class NamedQueues(NamedTuple):
    """Each queue that each record names: ``row`` of the record, and the ``codes`` of what becomes of it there.

    ``acked``: there is an acknowledgement, whether or not the queue is still there.
    """

    row: Ints
    queue: Ints
    codes: Codes
    acked: Mask


def flat(queues: pa.ListArray) -> tuple[Ints, Ints]:
    """(offsets of the rows, queue ids) of the lists."""
    at: Ints = np.asarray(queues.offsets).astype(np.int64)
    ids: Ints = np.asarray(queues.values)[at[0] : at[-1]]
    return at - at[0], ids


def named_queues(rule: PageRule, number: Ints, tx: Ints, at: Ints, queue: Ints) -> NamedQueues:
    """Of records with these numbers and transactions; ``at`` and ``queue``: what they name, as ``flat``."""
    row = _owners(at)
    done, held = _marked(rule, number, row, queue)
    transactions, which = ranked(tx)
    unsent = [CODE[rule.unsent(each) or AckState.OUTSTANDING] for each in transactions.tolist()]
    codes = np.array(unsent, np.int8)[which][row] if len(row) else np.zeros(0, np.int8)
    codes[held & (codes == CODE[AckState.OUTSTANDING])] = CODE[AckState.IN_DOUBT_ACK]
    if rule.end is not None:
        codes[number[row] >= rule.end] = CODE[AckState.WITHHELD]
    codes[done] = CODE[AckState.DONE]
    ids, which = ranked(queue)
    bound = np.array([rule.bound(each) for each in ids.tolist()], bool)
    if not bound.all():
        codes[~bound[which]] = CODE[AckState.NO_QUEUE]
    return NamedQueues(row, queue, codes, done)


def _owners(at: Ints) -> Ints:
    return np.repeat(np.arange(len(at) - 1), np.diff(at))


def _marked(rule: PageRule, number: Ints, row: Ints, queue: Ints) -> tuple[Mask, Mask]:
    """Which of them are acknowledged, and which in a prepared transaction."""
    done, held = np.zeros(len(queue), bool), np.zeros(len(queue), bool)
    marked = {each for each in ranked(queue)[0].tolist() if rule.marked(each)}
    for each, here in _by_queue(queue) if marked else ():
        if each in marked:
            complete, acked, in_doubt = rule.numbers(each)
            done[here] = True if complete else _among(number[row[here]], acked)
            held[here] = _among(number[row[here]], in_doubt)
    return done, held


def acked_by(rule: PageRule, number: Ints, queues: pa.ListArray) -> pa.ListArray:
    """Of ``acked_columns`` the first alone."""
    at, queue = flat(queues)
    row = _owners(at)
    done, _ = _marked(rule, number, row, queue)
    return _distinct_rising(row, queue, done, len(number))


def acked_columns(rule: PageRule, number: Ints, tx: Ints, queues: pa.ListArray) -> tuple[pa.ListArray, pa.ListArray]:
    """(``acked_by`` ascending, ``outstanding`` in wire order) for each record; ``queues`` are those it names."""
    named = named_queues(rule, number, tx, *flat(queues))
    waiting = each_once(named.row, named.queue)
    waiting = waiting[named.codes[waiting] == CODE[AckState.OUTSTANDING]]
    done = _distinct_rising(named.row, named.queue, named.acked, len(number))
    return done, _lists(named.row[waiting], named.queue[waiting], len(number))


def each_once(row: Ints, queue: Ints) -> Ints:
    """Return the places at which each queue of each row stands first, ascending: no broker counts one twice."""
    if len(row) < 2 or np.all((row[1:] != row[:-1]) | (queue[1:] > queue[:-1])):
        return np.arange(len(row))
    order = np.lexsort((queue, row))
    again = (np.diff(row[order]) == 0) & (np.diff(queue[order]) == 0)
    return np.sort(order[np.append(True, ~again)])


def _by_queue(queue: Ints) -> Iterator[tuple[int, Ints]]:
    """Each queue id, and where it stands; a page may name as many as it has room for."""
    order = np.argsort(queue, kind="stable")
    rising = queue[order]
    begins = np.flatnonzero(np.append(True, rising[1:] != rising[:-1])[: len(queue)])
    for begin, end in pairwise(np.append(begins, len(queue))):
        yield int(rising[begin]), order[begin:end]


def _among(numbers: Ints, wanted: array[int]) -> Mask:
    """Which of them are among those, which ascend."""
    if not wanted:
        return np.zeros(len(numbers), bool)
    known = np.frombuffer(wanted, np.int32)
    found: Mask = known[np.searchsorted(known, numbers).clip(max=len(known) - 1)] == numbers
    return found


def _distinct_rising(row: Ints, queue: Ints, keep: Mask, rows: int) -> pa.ListArray:
    row, queue = row[keep], queue[keep]
    order = np.lexsort((queue, row))
    row, queue = row[order], queue[order]
    first = np.ones(len(row), bool)
    first[1:] = (row[1:] != row[:-1]) | (queue[1:] != queue[:-1])
    return _lists(row[first], queue[first], rows)


def _lists(row: Ints, values: Ints, rows: int) -> pa.ListArray:
    import pyarrow as pa

    from pagefmt.columns.arrays.schema import LONGS

    offsets = np.zeros(rows + 1, np.int32)
    np.cumsum(np.bincount(row, minlength=rows), out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values)).cast(LONGS)
