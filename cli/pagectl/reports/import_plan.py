"""What ``artemis data imp`` would do with a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta

from pagectl.reports.form import Count, Report

if TYPE_CHECKING:
    from pagefmt.exchange.xml_reading import ImportPlan


class ImportFault(Report):
    """A line of the file that the import stops at, or that loses something."""

    line: Annotated[int, Meta(ge=1)]
    what: str


class ImportedQueue(Report):
    """A queue that gets messages."""

    queue: str
    address: str
    messages: Count
    bytes: Count
    large: Count
    """Large messages."""
    bound: bool
    """Whether the file has a binding of the queue."""


class FileImport(Report):
    """``messages import-plan --format json``: what the import of a file would bring into a broker."""

    file: str
    addresses: Count
    messages: Count
    behind: Count
    """Messages after the line at which the import stops."""
    stop: ImportFault | None
    """What the import stops at."""
    duplicates: Count
    """Messages that are sent, and dropped by the broker."""
    again: Count
    """Messages that a second import sends again."""
    expired: Count
    queues: list[ImportedQueue]
    faults: list[ImportFault]
    more_faults: Count
    """Faults that are not listed."""
    remarks: list[str]

    @classmethod
    def of(cls, file: Path, plan: ImportPlan) -> FileImport:
        """Return the report of a plan."""
        return cls(
            file=str(file),
            addresses=plan.addresses,
            messages=plan.messages,
            behind=plan.behind,
            stop=None if plan.stop is None else _fault(*plan.stop),
            duplicates=plan.duplicates,
            again=plan.again,
            expired=plan.expired,
            queues=[
                ImportedQueue(
                    queue=queue.name,
                    address=queue.address,
                    messages=queue.messages,
                    bytes=queue.bytes,
                    large=queue.large,
                    bound=not queue.made,
                )
                for queue in plan.queues.values()
            ],
            faults=[_fault(line, what) for line, what in plan.faults],
            more_faults=plan.more_faults,
            remarks=list(plan.remarks()),
        )


def _fault(line: int, what: str) -> ImportFault:
    return ImportFault(line=line, what=what)


ANSWERS = {"messages-import-plan": FileImport}
