"""What becomes of every record of a page for each queue that it names: ``pagefmt.outstanding.ack_state`` over vectors.

``ack_state_columns`` goes from the queues to the records, this from the records to the queues.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pagefmt.arrays import Ints, Mask, flat
from pagefmt.outstanding.ack_state import AckState, PageRule
from pagefmt.outstanding.named_queues import CODE, each_once, marked_places, named_queues, owners

if TYPE_CHECKING:
    import pyarrow as pa


def acked_by(rule: PageRule, number: Ints, queues: pa.ListArray) -> pa.ListArray:
    """Return the queues that acknowledged each record: only the first of ``acked_columns``."""
    at, queue = flat(queues)
    row = owners(at)
    done, _ = marked_places(rule, number, row, queue)
    return _distinct_rising(row, queue, done, len(number))


def acked_columns(rule: PageRule, number: Ints, tx: Ints, queues: pa.ListArray) -> tuple[pa.ListArray, pa.ListArray]:
    """(``acked_by`` ascending, ``outstanding`` in wire order) for each record; ``queues`` are those it names."""
    named = named_queues(rule, number, tx, *flat(queues))
    waiting = each_once(named.row, named.queue)
    waiting = waiting[named.codes[waiting] == CODE[AckState.OUTSTANDING]]
    done = _distinct_rising(named.row, named.queue, named.acked, len(number))
    return done, _lists(named.row[waiting], named.queue[waiting], len(number))


def _distinct_rising(row: Ints, queue: Ints, keep: Mask, rows: int) -> pa.ListArray:
    row, queue = row[keep], queue[keep]
    order = np.lexsort((queue, row))
    row, queue = row[order], queue[order]
    first = np.ones(len(row), bool)
    first[1:] = (row[1:] != row[:-1]) | (queue[1:] != queue[:-1])
    return _lists(row[first], queue[first], rows)


def _lists(row: Ints, values: Ints, rows: int) -> pa.ListArray:
    import pyarrow as pa

    from pagefmt.describe.arrow_schema import LONGS

    offsets = np.zeros(rows + 1, np.int32)
    np.cumsum(np.bincount(row, minlength=rows), out=offsets[1:])
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values)).cast(LONGS)
