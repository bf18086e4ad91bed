"""What becomes of an older broker's directories that are converted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pagectl.reports.form import Count, EditionName, Report

if TYPE_CHECKING:
    from pagefmt.change.conversion.bindings import NewQueue
    from pagefmt.change.conversion.plan import ConversionPlan


class ConvertedAddress(Report):
    """An address of the converted directory."""

    address: str
    routing_types: list[str]


class QueueBefore(Report):
    """A queue as the older broker has it."""

    address: str
    queue: str
    filter: str | None


class QueueAfter(Report):
    """The queue as the newer broker has it."""

    address: str
    queue: str
    filter: str | None
    routing_type: Literal["multicast", "anycast"]


class ConvertedQueue(Report):
    """A queue before and after a conversion, with what waits for it. Counts are null where they are not known."""

    id: int
    old: QueueBefore
    new: QueueAfter | None
    """Null: it has no counterpart."""
    journal: Count | None
    """Messages in the journal."""
    pages: Count | None
    """Messages in pages."""
    in_doubt: Count | None
    """Messages of prepared transactions; not part of the others."""
    unknown: str | None
    """Why the counts are not known."""

    @classmethod
    def of(cls, plan: ConversionPlan, queue: NewQueue) -> ConvertedQueue:
        """Return the report of a queue."""
        held, old, new = plan.held[queue.old.id], queue.old, queue.new
        is_known = held.unknown is None
        return cls(
            id=old.id,
            old=QueueBefore(address=old.address, queue=old.name, filter=old.filter),
            new=None
            if new is None
            else QueueAfter(
                address=new.address,
                queue=new.name,
                filter=new.filter,
                routing_type=(new.routing or "multicast").lower(),  # type: ignore[arg-type]
            ),
            journal=held.messages if is_known else None,
            pages=held.paged.messages if is_known else None,
            in_doubt=held.paged.in_doubt if is_known else None,
            unknown=held.unknown,
        )


class Conversion(Report):
    """``convert --format json``: what becomes of an older broker's directories, and whether it was carried out."""

    done: bool
    wrote: str | None
    edition: EditionName
    layout: Literal["1.x", "2.x"]
    """Layout of the directories that are read."""
    addresses: list[ConvertedAddress]
    queues: list[ConvertedQueue]
    journal_records: dict[str, Count]
    """Numbers of records by type."""
    page_records: Count
    pages: Count
    no_counterpart: list[str]
    """What the newer broker does not have."""
    lost: list[str]
    remarks: list[str]
    """What is different afterwards."""

    @classmethod
    def of(cls, plan: ConversionPlan, written: Path | None) -> Conversion:
        """Return the report of a plan. ``written``: the new directory; None if there is none."""
        return cls(
            done=written is not None,
            wrote=str(written) if written else None,
            edition=plan.form.edition.value,
            layout="1.x" if plan.form.old else "2.x",
            addresses=[
                ConvertedAddress(address=address.name, routing_types=[name.lower() for name in address.routing])
                for address in plan.bindings.addresses
            ],
            queues=[ConvertedQueue.of(plan, queue) for queue in plan.bindings.queues],
            journal_records=dict(plan.kinds),
            page_records=plan.paged,
            pages=sum(len(store.pages) for store in plan.stores),
            no_counterpart=list(plan.dropped),
            lost=list(plan.lost),
            remarks=list(plan.remarks),
        )


ANSWERS = {"convert": Conversion}
