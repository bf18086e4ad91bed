"""Rows of the table by queue and by whether they are outstanding."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pagefmt.outstanding.message_filter import MessageFilter


def chosen(batch: pa.RecordBatch, choice: MessageFilter) -> pa.RecordBatch:
    """The rows that name, or are outstanding for, one of the queues of the choice (selectors were applied before)."""
    if not choice.by_route:
        return batch
    lists = batch.column(batch.schema.get_field_index("outstanding" if choice.outstanding else "queues"))
    at = np.asarray(lists.offsets)
    queues = np.asarray(lists.values)[at[0] : at[-1]]
    if choice.queues is None:
        wanted = np.ones(len(queues), bool)
    else:
        wanted = np.isin(queues, np.fromiter(choice.queues, np.int64, len(choice.queues)))
    rows = np.repeat(np.arange(batch.num_rows), np.diff(at))[wanted]
    return batch.filter(pa.array(np.bincount(rows, minlength=batch.num_rows) > 0))
