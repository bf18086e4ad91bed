"""Messages that wait: by queue, in journal and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pagectl.reports.form import Count, Report
from pagectl.reports.listing import AGE, COUNT, SIZE, TIME, RowListing, TableColumn

if TYPE_CHECKING:
    from pagefmt.table.queue_counts import QueueCount


class WaitingQueue(Report):
    """What a queue has to deliver. Counts are null where they are not known."""

    address: str | None
    queue: str
    id: int
    messages: Count | None
    journal: Count | None
    """Messages in the journal."""
    pages: Count | None
    """Messages in pages."""
    scheduled: Count | None
    """Messages that are to be delivered later."""
    in_doubt: Count | None
    """Messages of prepared transactions; not part of the others."""
    bytes: Count | None
    oldest: int | None
    """Time (ms) that the oldest of them was sent."""
    acknowledged_but_kept: Count | None
    """Messages that the queue has acknowledged and that are still on the disk."""
    unknown: str | None
    """Why the counts are not known."""
    paused: bool

    @classmethod
    def of(cls, row: QueueCount) -> WaitingQueue:
        """Return the report of a queue."""
        counts: dict[str, Any] = {name: getattr(row, name) if row.unknown is None else None for name in _COUNTS}
        return cls(
            address=row.address,
            queue=row.queue,
            id=row.id,
            unknown=row.unknown,
            paused=row.paused,
            acknowledged_but_kept=None if row.unknown is not None else row.acknowledged,
            **counts,
        )


_COUNTS = ("messages", "journal", "pages", "scheduled", "in_doubt", "bytes", "oldest")


class WaitingQueues(Report):
    """``messages ls --format json``: what each queue has to deliver."""

    queues: list[WaitingQueue]


def _no_oldest(queue: WaitingQueue) -> str:
    return "" if queue.unknown is None else "?"


QUEUES = RowListing(
    "queues",
    WaitingQueue,
    (
        TableColumn("queue", "QUEUE"),
        TableColumn("address", "ADDRESS", null="-"),
        TableColumn("messages", "MESSAGES", COUNT),
        TableColumn("journal", "JOURNAL", COUNT),
        TableColumn("pages", "PAGES", COUNT),
        TableColumn("scheduled", "SCHEDULED", COUNT),
        TableColumn("in_doubt", "IN DOUBT", COUNT),
        TableColumn("bytes", "BYTES", SIZE),
        TableColumn("oldest", "OLDEST", TIME, null=_no_oldest),
        TableColumn("oldest", "AGE", AGE, null=_no_oldest),
    ),
)
ANSWERS = {"messages-ls": WaitingQueues, "messages-ls.line": WaitingQueue}
