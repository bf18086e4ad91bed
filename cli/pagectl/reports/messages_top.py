"""Queues by what they keep on the disk."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from pagectl.reports.form import Count, Report
from pagectl.reports.listing import AGE, COUNT, SIZE, TIME, RowListing, TableColumn, ValueForm
from pagefmt.quantities import rate_text

if TYPE_CHECKING:
    from pagectl.running.backlogs import QueueGroup, QueueReading, RankedQueue


class HoldingQueue(Report):
    """A queue that keeps bytes on the disk. Counts are null where they are not known."""

    broker: str
    """DIR as it was named."""
    address: str | None
    queue: str
    id: int
    messages: Count | None
    """Messages that wait."""
    journal: Count | None
    """Messages that wait in the journal."""
    bytes: Count | None
    """Bytes of the messages that wait."""
    pages_held: Count | None
    """Pages with a message for the queue."""
    bytes_held: Count | None
    """Bytes of these pages, and of waiting messages in the journal and in large-message files."""
    bytes_held_alone: Count | None
    """Bytes of the pages that no other queue needs."""
    oldest: int | None
    """Time (ms) that the oldest waiting message was sent."""
    growth: int | None
    """Change of bytes_held in bytes per second; null without --every."""

    @classmethod
    def of(cls, ranked: RankedQueue) -> HoldingQueue:
        """Return the report of a queue."""
        backlog = ranked.backlog
        assert backlog.queue is not None and backlog.id is not None  # only the backlog of a whole store has none
        return cls(
            broker=ranked.broker,
            address=backlog.address,
            queue=backlog.queue,
            id=backlog.id,
            messages=backlog.messages,
            journal=backlog.in_journal,
            bytes=backlog.bytes,
            pages_held=backlog.pages,
            bytes_held=backlog.disk,
            bytes_held_alone=backlog.alone,
            oldest=backlog.oldest,
            growth=None if ranked.growth is None else round(ranked.growth),
        )


class SharedQueueGroup(Report):
    """Queues that hold the same pages, so that draining one of them frees nothing."""

    broker: str
    address: str | None
    queues: Annotated[list[str], Meta(min_length=2)]
    bytes_held: Count
    pages_held: Annotated[int, Meta(ge=1)]

    @classmethod
    def of(cls, group: QueueGroup) -> SharedQueueGroup:
        """Return the report of a group."""
        pages = group.pages
        return cls(
            broker=group.broker,
            address=pages.address,
            queues=list(pages.queues),
            bytes_held=pages.bytes,
            pages_held=pages.pages,
        )


class HoldingQueues(Report):
    """``messages top --format json``: which queues fill the disk."""

    queues: list[HoldingQueue]
    groups: list[SharedQueueGroup]
    remarks: list[str]

    @classmethod
    def of(
        cls, ranking: QueueReading, failed: list[str], rows: Iterable[HoldingQueue], limit: int | None
    ) -> HoldingQueues:
        """Return the report of a ranking. ``failed``: why places cannot be read. ``limit``: of queues and of groups."""
        groups = ranking.ranked_groups()[: limit or None]
        return cls(
            queues=list(islice(rows, limit or None)),
            groups=list(map(SharedQueueGroup.of, groups)),
            remarks=ranking.remarks + failed,
        )


def _no_oldest(queue: HoldingQueue) -> str:
    return "" if queue.messages == 0 else "?"


HOLDERS = RowListing(
    "queues",
    HoldingQueue,
    (
        TableColumn("queue", "QUEUE"),
        TableColumn("address", "ADDRESS"),
        TableColumn("bytes_held", "HOLDS", SIZE),
        TableColumn("bytes_held_alone", "ALONE", SIZE),
        TableColumn("pages_held", "PAGES", COUNT),
        TableColumn("messages", "WAITING", COUNT),
        TableColumn("journal", "JOURNAL", COUNT),
        TableColumn("oldest", "OLDEST", TIME._replace(right=True), null=_no_oldest),
        TableColumn("oldest", "AGE", AGE, null=""),
        TableColumn("growth", "GROWTH", ValueForm(rate_text, right=True)),
        TableColumn("broker", "BROKER", only_if_varied=True),
    ),
    sort_words={"held": "bytes_held", "alone": "bytes_held_alone", "waiting": "messages"},
)
ANSWERS = {"messages-top": HoldingQueues, "messages-top.line": HoldingQueue}
