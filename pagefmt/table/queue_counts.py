"""What each queue of a broker waits for, in its journal and in pages, summed up from the columns of the messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pagefmt.directory.bindings import Bindings
from pagefmt.outstanding.message_location import QueueState
from pagefmt.storage.files import not_permitted
from pagefmt.table.table import TableQuery

# The columns that are counted.
QUERY: Final = TableQuery(columns=frozenset(("page", "length", "timestamp", "queues_state")), located=True, coded=True)
_NEVER: Final = (1 << 63) - 1  # takes the place of a time (ms) that is not set, so that any other is earlier


@dataclass(slots=True)
class QueueCount:
    """The messages that wait for a queue: in the ``journal``, in ``pages``, and how many of both are ``scheduled``.

    ``in_doubt`` and ``acknowledged`` ones, which are still on disk, count separately. ``bytes``: of the records of
    waiting messages. ``oldest``: the earliest time (ms) that one was sent, None if unknown. ``unknown``: why the counts
    are incomplete. ``paused``: the queue delivers nothing until it is resumed.
    """

    address: str | None
    queue: str
    id: int
    journal: int = 0
    pages: int = 0
    scheduled: int = 0
    in_doubt: int = 0
    acknowledged: int = 0
    bytes: int = 0
    oldest: int | None = None
    unknown: str | None = None
    paused: bool = False

    @property
    def messages(self) -> int:
        """Return the number of messages in the journal and in pages."""
        return self.journal + self.pages


class QueueCounts:
    """The counts of all queues that have a binding or a message, by id.

    ``all_queues``: False if bindings may be missing.
    """

    def __init__(self, bindings: Bindings | None, *, all_queues: bool = True) -> None:
        self.all_queues = all_queues
        self.closed = f"pages {not_permitted()}"  # why counts are not known that need pages of missing rights
        queues, paused = ({}, {}) if bindings is None else (bindings.queues, bindings.paused)
        self.queues = {
            number: QueueCount(queue.address, queue.name, number, paused=paused.get(number, False))
            for number, queue in sorted(queues.items())
        }

    def of(self, queue: int) -> QueueCount:
        """Return the count of a queue, named by its id if it has no binding."""
        return self.queues.setdefault(queue, QueueCount(None, str(queue), queue))

    def not_known(self, address: str | None, why: str) -> None:
        """Mark the queues of the address as not fully countable, or all queues if ``address`` is None."""
        for count in self.queues.values():
            if address is None or count.address == address:
                count.unknown = count.unknown or why

    def take(self, batch: pa.RecordBatch, unknown: str | None) -> None:
        """Count the rows of a batch of ``QUERY``.

        ``unknown``: why it is not known which of them are outstanding, or None.
        """
        # States are dictionary-encoded, so the batch has few distinct (queue, state) entries: messages, bytes and
        # earliest times are summed up per entry, and only these sums are handled one by one.
        lists = batch.column("queues_state")
        offsets, states = np.asarray(lists.offsets), lists.values
        which = np.asarray(states.indices)[offsets[0] : offsets[-1]]
        row = np.repeat(np.arange(batch.num_rows), np.diff(offsets))
        sent = np.asarray(pc.fill_null(batch.column("timestamp"), 0))
        entries = states.dictionary.to_pylist()
        messages = np.bincount(which, minlength=len(entries))
        sizes = np.bincount(which, np.asarray(batch.column("length"))[row], len(entries))
        oldest = np.full(len(entries), _NEVER)
        np.minimum.at(oldest, which, np.where(sent > 0, sent, _NEVER)[row])
        in_pages = batch.column("page").null_count == 0
        for entry, several, size, time in zip(entries, messages.tolist(), sizes.tolist(), oldest.tolist(), strict=True):
            if several:
                self._add(entry, several, int(size), time, unknown, in_pages=in_pages)

    def _add(
        self, entry: dict[str, Any], several: int, size: int, oldest: int, unknown: str | None, *, in_pages: bool
    ) -> None:
        """Add messages with one state to the count of their queue.

        Args:
            entry: id of the queue and state, an item of ``queues_state``.
            several: number of messages.
            size: bytes of their records.
            oldest: when the first of them was sent, in ms; ``_NEVER`` if unknown.
            unknown: why it is not known what is outstanding, or None.
            in_pages: whether they are in pages, not in the journal.
        """
        number, state = entry["id"], entry["state"]
        gone = state in (QueueState.ACKNOWLEDGED, None) and unknown is None
        if gone and number not in self.queues:  # the queue was deleted
            return
        count = self.of(number)
        if state == QueueState.IN_DOUBT:
            count.in_doubt += several
        elif state == QueueState.ACKNOWLEDGED:
            count.acknowledged += several
        elif state in (QueueState.DUE, QueueState.SCHEDULED):
            count.pages += several if in_pages else 0
            count.journal += 0 if in_pages else several
            count.scheduled += several if state == QueueState.SCHEDULED else 0
            count.bytes += size
            if oldest != _NEVER:
                count.oldest = oldest if count.oldest is None else min(count.oldest, oldest)
        elif state is None and unknown is not None:
            count.unknown = count.unknown or unknown
