"""Counter records beside a recount (docs/spec/journal.md 7.4).

Up to 2.27 the message count of a queue is what the records say: a value (40), increments (41; acknowledgements are -1)
and, for each pending record (43), the non-transactional records of that page which name the queue. From 2.28 on the
value is only a snapshot, and the broker counts again at start.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from pagefmt.editions import Edition
from pagefmt.journal.bodies import CounterIncrement, CounterValue, PendingCounter
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.journal.record_types import RecordType

_COUNTERS = (
    RecordType.PAGE_CURSOR_COUNTER_VALUE,
    RecordType.PAGE_CURSOR_COUNTER_INC,
    RecordType.PAGE_CURSOR_PENDING_COUNTER,
)


@dataclass(slots=True)
class QueueCounter:
    """The counter records of one queue. ``pending``: pages of which the records themselves are the count."""

    queue: int
    value: int = 0
    increments: int = 0
    pending: set[int] = field(default_factory=set)

    def stored(self, in_pending_pages: int) -> int:
        """Return the number of messages according to the records.

        ``in_pending_pages``: number of non-transactional messages for the queue in its pending pages.
        """
        return self.value + self.increments + in_pending_pages


def counters(journal: MessageJournal) -> dict[int, QueueCounter]:
    """Return the page counters by queue id.

    A queue without a counter record is missing; brokers up to 2.27 then take its count as zero.
    """
    by_queue: dict[int, QueueCounter] = {}
    for _, body in journal.decoded(*_COUNTERS):
        match body:
            case CounterValue(queue, count, _):
                by_queue.setdefault(queue, QueueCounter(queue)).value = count
            case CounterIncrement(queue, count, _):
                by_queue.setdefault(queue, QueueCounter(queue)).increments += count
            case PendingCounter(queue, page):
                by_queue.setdefault(queue, QueueCounter(queue)).pending.add(page)
    return by_queue


def recounts_at_start(edition: Edition) -> bool:
    """Return whether the broker counts the messages in pages when it starts and ignores counter records."""
    return edition >= Edition.ARTEMIS_2_28


def pending_pages(queue_counters: Collection[QueueCounter]) -> set[tuple[int, int]]:
    """Return (queue id, page number) of all pending records; brokers up to 2.27 need such a page unchanged."""
    return {(counter.queue, page) for counter in queue_counters for page in counter.pending}
