"""``acked_by`` and ``outstanding`` of every record of a page: ``pagefmt.outstanding.ack_state`` over vectors."""

from __future__ import annotations

from array import array

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
    done, held, bound = np.zeros(len(queue), bool), np.zeros(len(queue), bool), np.zeros(len(queue), bool)
    for each in np.unique(queue).tolist():
        here = queue == each
        complete, acked, in_doubt = rule.numbers(each)
        bound[here] = rule.bound(each)
        done[here] = True if complete else _among(number[row[here]], acked)
        held[here] = _among(number[row[here]], in_doubt)
    sent = np.ones(len(number), bool)
    for transaction in np.unique(tx[tx >= 0]).tolist():
        if rule.unsent(transaction) is not None:
            sent[tx == transaction] = False
    waiting = bound & ~done & ~held & sent[row]
    return _distinct_rising(row, queue, done, len(number)), _lists(row[waiting], queue[waiting], len(number))


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
