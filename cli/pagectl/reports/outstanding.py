"""What is outstanding in page files, which queues hold which pages, and where a running broker disagrees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from msgspec import UNSET, UnsetType

from pagectl.reports.form import Count, Report

if TYPE_CHECKING:
    from pagectl.running.live_broker import Difference, LiveComparison
    from pagefmt.outstanding.page_load import PageLoad, QueueLoad

LiveRule: TypeAlias = Literal["only-in-broker", "only-in-files", "count-differs", "not-reading", "not-paging"]


class OutstandingQueue(Report):
    """What the pages of an address hold for a queue. Counts are null if that is not known."""

    queue: str
    id: int
    messages: Count | None
    bytes: Count | None
    in_doubt: Count
    """Messages of prepared transactions; not part of the others."""
    first_page: Count | None
    last_page: Count | None
    pages_held: Count | None
    """Page files with a message for the queue."""
    bytes_held: Count | None
    """Bytes of these page files."""
    bytes_held_alone: Count | None
    """Bytes of those that no other queue needs."""
    unacknowledged: Count | None
    """Readable messages without an acknowledgement, also if it is not known whether they are outstanding."""
    positions: list[tuple[Count, Count]] | UnsetType = UNSET
    """Page and number of each outstanding message; with ``--positions``."""

    @classmethod
    def of(cls, queue: QueueLoad, *, counted: bool) -> OutstandingQueue:
        """Return the report of a queue, without positions. ``counted``: whether it is known what is outstanding."""
        return cls(
            queue=queue.name,
            id=queue.id,
            messages=queue.messages if counted else None,
            bytes=queue.bytes if counted else None,
            in_doubt=queue.in_doubt,
            first_page=queue.first[0] if counted and queue.first else None,
            last_page=queue.last[0] if counted and queue.last else None,
            pages_held=queue.pages if counted else None,
            bytes_held=queue.held_bytes if counted else None,
            bytes_held_alone=queue.held_alone if counted else None,
            unacknowledged=queue.messages,
        )


class HeldPage(Report):
    """A page file, and the queues that hold it."""

    page: Count
    held_by: list[str] | None
    """Names of the queues; null if that is not known."""
    bytes: Count

    @classmethod
    def of(cls, page: PageLoad, names: Mapping[int, str] | None) -> HeldPage:
        """Return the report of a page. ``names``: of the queues by id; None if it is not known who holds a page."""
        holders = None if names is None or page.holders is None else [names[queue] for queue in page.holders]
        return cls(page=page.page, held_by=holders, bytes=page.size)


class OutstandingStore(Report):
    """A line of ``pages outstanding --format jsonl``: the queues and the pages of an address."""

    address: str | None
    folder: str
    queues: list[OutstandingQueue]
    pages: list[HeldPage]
    remarks: list[str]


class ComparedQueue(Report):
    """A queue as the running broker counts it, and as its files do. Null if one of them does not have it."""

    broker: str
    address: str
    queue: str
    id: int
    paging: bool | None
    messages: int | None
    """Messages that the broker counts."""
    in_files: Count | None
    in_journal: Count | None
    in_pages: Count | None
    consumers: int | None
    delivering: int | None
    paused: bool | None


class LiveDifference(Report):
    """Something in which the running broker and its files differ, or that the broker's counts show."""

    rule: LiveRule
    address: str
    queue: str | None
    """Null if it is about the address."""
    message: str

    @classmethod
    def of(cls, difference: Difference) -> LiveDifference:
        """Return the report of a difference."""
        rule = cast("LiveRule", difference.rule)
        return cls(rule=rule, address=difference.address, queue=difference.queue, message=difference.message)


class OutstandingStores(Report):
    """``pages outstanding --format json``: what is outstanding, by address and queue."""

    stores: list[OutstandingStore]
    live: list[ComparedQueue] | UnsetType = UNSET
    """The queues of the running broker; with ``--jolokia``, as ``differences``."""
    differences: list[LiveDifference] | UnsetType = UNSET


def compared_queues(comparison: LiveComparison) -> list[ComparedQueue]:
    """Return the report of each queue that the broker or its files have."""
    names = comparison.look.queues.keys() | comparison.files.keys()
    return [_compared(comparison, *name) for name in sorted(names)]


def _compared(comparison: LiveComparison, address: str, name: str) -> ComparedQueue:
    live = comparison.look.addresses.get(address)
    queue = comparison.look.queues.get((address, name))
    in_files = comparison.files.get((address, name))
    return ComparedQueue(
        broker=comparison.broker.name,
        address=address,
        queue=name,
        id=in_files.id if in_files else comparison.look.queues[address, name].id,
        paging=live.paging if live else None,
        messages=queue.messages if queue else None,
        in_files=in_files.messages if in_files else None,
        in_journal=in_files.journal if in_files else None,
        in_pages=in_files.pages if in_files else None,
        consumers=queue.consumers if queue else None,
        delivering=queue.delivering if queue else None,
        paused=queue.paused if queue else None,
    )


ANSWERS = {"pages-outstanding": OutstandingStores, "pages-outstanding.line": OutstandingStore}
