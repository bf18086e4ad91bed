"""What ``queue drop`` and ``queue purge`` take out of a broker's directories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pagectl.reports.form import Count, Report

if TYPE_CHECKING:
    from pagefmt.change.removal.plan import DropPlan
    from pagefmt.change.removal.purge import PurgePlan


class RemovedFromJournal(Report):
    """Messages of the queue in the message journal."""

    messages: Count
    bytes: Count


class RemovedFromPages(Report):
    """Messages of the queue in pages."""

    messages: Count
    bytes: Count
    pages: Count
    """Pages with such a message."""


class RemovedBody(Report):
    """A large-message file that the copy does not have."""

    file: str
    size: Count


class QueueDrop(Report):
    """``queue drop --format json``: what goes with the queue, and whether it was carried out."""

    done: bool
    wrote: str | None
    queue: str
    id: int
    address: str
    address_dropped: bool
    queues_left: list[str]
    """Other queues of the address."""
    messages: Count | None
    """Null: not known."""
    bytes: Count | None
    in_journal: RemovedFromJournal
    in_pages: RemovedFromPages
    in_doubt: Count
    """Messages of prepared transactions; not part of the others."""
    freed: Count
    """Bytes of pages and large-message files that the copy does not have."""
    large_messages: list[RemovedBody]
    journal_records: Count
    """Journal records that the copy does not have."""
    remarks: list[str]
    """What stays although nothing needs it, and why."""
    declared: str | None
    """Where the configuration declares the queue, so that the next start creates it again."""

    @classmethod
    def of(cls, plan: DropPlan, written: Path | None, declared: str | None) -> QueueDrop:
        """Return the report of a plan. ``written``: the copy; None if there is none."""
        messages, size = plan.held.sums
        paged = plan.held.paged
        return cls(
            **_common(plan, written),
            address_dropped=plan.address is not None,
            queues_left=[queue.name for queue in plan.left],
            messages=messages,
            bytes=size,
            in_journal=RemovedFromJournal(messages=plan.held.messages, bytes=plan.held.bytes),
            in_pages=RemovedFromPages(messages=paged.messages, bytes=paged.bytes, pages=paged.pages),
            in_doubt=paged.in_doubt,
            declared=declared,
        )


class QueuePurge(Report):
    """``queue purge --format json``: which messages go, and whether it was carried out."""

    done: bool
    wrote: str | None
    queue: str
    id: int
    address: str
    sent_before: int | None
    """Time (ms) of --older-than: only messages that were sent before."""
    messages: Count
    bytes: Count
    in_journal: RemovedFromJournal
    in_pages: RemovedFromPages
    left: int | None
    """Messages that stay in the queue; null: not known."""
    in_doubt: Count
    """Messages of prepared transactions, which stay; not part of the others."""
    acknowledged: Count
    """Messages that stay for other queues or in their page, acknowledged for this queue."""
    freed: Count
    """Bytes of pages and large-message files that the copy does not have."""
    large_messages: list[RemovedBody]
    journal_records: Count
    """Journal records that the copy does not have."""
    remarks: list[str]
    """What stays although nothing needs it, and why."""

    @classmethod
    def of(cls, plan: PurgePlan, written: Path | None, until: int | None) -> QueuePurge:
        """Return the report of a plan. ``written``: the copy; None if there is none. ``until``: ``sent_before``."""
        return cls(
            **_common(plan, written),
            sent_before=until,
            messages=plan.journal_messages + plan.paged_messages,
            bytes=plan.journal_bytes + plan.paged_bytes,
            in_journal=RemovedFromJournal(messages=plan.journal_messages, bytes=plan.journal_bytes),
            in_pages=RemovedFromPages(messages=plan.paged_messages, bytes=plan.paged_bytes, pages=len(plan.in_pages)),
            left=plan.left,
            in_doubt=plan.held.paged.in_doubt,
            acknowledged=plan.acknowledged,
        )


def _common(plan: DropPlan | PurgePlan, written: Path | None) -> dict[str, Any]:
    """Return the fields that both reports have."""
    return {
        "done": written is not None,
        "wrote": str(written) if written else None,
        "queue": plan.queue.name,
        "id": plan.queue.id,
        "address": plan.queue.address,
        "freed": plan.freed,
        "large_messages": [RemovedBody(file=body.path.name, size=body.size) for body in plan.pages.bodies],
        "journal_records": plan.records,
        "remarks": plan.remarks,
    }


ANSWERS = {"queue-drop": QueueDrop, "queue-purge": QueuePurge}
