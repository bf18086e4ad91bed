"""``acked_by`` and ``outstanding`` of every record of a page: ``pagefmt.outstanding.ack_state`` over vectors."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa

from pagefmt.columns.arrays.schema import LONGS
from pagefmt.outstanding.ack_state import PageRule
from pagefmt.pages.gather import Ints, Mask


def acked_columns(rule: PageRule, number: Ints, tx: Ints, queues: pa.ListArray) -> tuple[pa.ListArray, pa.ListArray]:
    """(``acked_by`` ascending, ``outstanding`` in wire order) for each record; ``queues`` are those it names."""
    at: Ints = np.asarray(queues.offsets).astype(np.int64)
    queue: Ints = np.asarray(queues.values)[at[0] : at[-1]]
    row = np.repeat(np.arange(len(number)), np.diff(at))
    done, held = np.zeros(len(queue), bool), np.zeros(len(queue), bool)
    for each, here in _by_queue(queue):
        if rule.marked(each):
            complete, acked, in_doubt = rule.numbers(each)
            done[here] = True if complete else _among(number[row[here]], acked)
            held[here] = _among(number[row[here]], in_doubt)
    bound = np.ones(len(queue), bool) if rule.queues is None else np.isin(queue, list(rule.queues))
    transactions, which = np.unique(tx, return_inverse=True)
    sent = np.fromiter((rule.unsent(each) is None for each in map(int, transactions)), bool, len(transactions))[which]
    waiting = bound & ~done & ~held & sent[row]
    return _distinct_rising(row, queue, done, len(number)), _lists(row[waiting], queue[waiting], len(number))


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
    offsets = np.zeros(rows + 1, np.int32)
    np.cumsum(np.bincount(row, minlength=rows), out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values)).cast(LONGS)
