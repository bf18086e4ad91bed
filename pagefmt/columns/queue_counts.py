"""What each queue of a broker waits for, in its journal and in pages, summed up from the columns of the messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.columns.table import TableQuery
from pagefmt.directory.bindings import Bindings
from pagefmt.outstanding.origins import QueueState

QUERY: Final = TableQuery(columns=frozenset(("page", "length", "timestamp", "queues_state")), located=True)
"""The columns that are counted."""


@dataclass(slots=True)
class QueueCount:
    """Messages that a queue is to be given: of them in the ``journal``, in ``pages``, and ``scheduled`` of both.

    ``in_doubt`` counts apart. ``bytes`` of their records; ``oldest``: the earliest time (ms) that one was sent.
    ``unknown``: why this is not all of it. ``paused``: it gives them to nobody before it is resumed.
    """

    address: str | None
    queue: str
    id: int
    journal: int = 0
    pages: int = 0
    scheduled: int = 0
    in_doubt: int = 0
    bytes: int = 0
    oldest: int | None = None
    unknown: str | None = None
    paused: bool = False


class QueueCounts:
    """Of all queues that have a binding or a message, by id."""

    def __init__(self, bindings: Bindings | None) -> None:
        queues, paused = ({}, {}) if bindings is None else (bindings.queues, bindings.paused)
        self.queues = {
            number: QueueCount(queue.address, queue.name, number, paused=paused.get(number, False))
            for number, queue in sorted(queues.items())
        }

    def of(self, queue: int) -> QueueCount:
        """One that has no binding has its id for a name."""
        return self.queues.setdefault(queue, QueueCount(None, str(queue), queue))

    def not_known(self, address: str | None, why: str) -> None:
        """Some messages of the address cannot be counted; without one any queue's."""
        for each in self.queues.values():
            if address is None or each.address == address:
                each.unknown = each.unknown or why

    def take(self, batch: pa.RecordBatch, unknown: str | None) -> None:
        """Count the rows of ``QUERY``. ``unknown``: why nobody knows what is outstanding of them."""
        lists = batch.column("queues_state")
        entries, row = lists.flatten(), np.repeat(np.arange(batch.num_rows), np.diff(np.asarray(lists.offsets)))
        rows = pa.array(row)
        table = pa.table({
            "queue": entries.field("id"), "state": entries.field("state"),
            "paged": batch.column("page").is_valid().take(rows), "length": batch.column("length").take(rows),
            "sent": pc.if_else(pc.greater(batch.column("timestamp"), 0), batch.column("timestamp"), None).take(rows),
        })  # fmt: skip
        sums = table.group_by(["queue", "state", "paged"]).aggregate(
            [("length", "count"), ("length", "sum"), ("sent", "min")]
        )
        for each in sums.to_pylist():
            count, state = self.of(each["queue"]), each["state"]
            if state == QueueState.IN_DOUBT:
                count.in_doubt += each["length_count"]
            elif state in (QueueState.DUE, QueueState.SCHEDULED):
                count.pages += each["length_count"] if each["paged"] else 0
                count.journal += 0 if each["paged"] else each["length_count"]
                count.scheduled += each["length_count"] if state == QueueState.SCHEDULED else 0
                count.bytes += each["length_sum"]
                sent = [time for time in (count.oldest, each["sent_min"]) if time is not None]
                count.oldest = min(sent, default=None)
            elif state is None and unknown is not None:
                count.unknown = count.unknown or unknown
