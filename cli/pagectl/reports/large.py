"""Large-message files: whose they are, and which are missing or left over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, cast

from msgspec import Meta

from pagectl.reports.data_findings import DataFinding
from pagectl.reports.form import Count, Report
from pagectl.reports.listing import AGE, COUNT, SIZE, TIME, RowListing, TableColumn, ValueForm

if TYPE_CHECKING:
    from pagefmt.check.cross.large_files import LargeRow

Condition: TypeAlias = Literal[
    "ok", "done", "pending", "not durable", "other size", "missing", "unreferenced", "foreign name", "unknown"
]
Origin: TypeAlias = Literal["journal", "page"]
WaitingState: TypeAlias = Literal["due", "acknowledged", "in-doubt"]


class LargeBody(Report):
    """A file with the body of a large message, the message, or both. What there is not is null."""

    file: str | None
    """Name of the file; null if it is missing."""
    id: int | None
    size: Count | None
    """Bytes of the file."""
    declared: int | None
    """Bytes of the body as the message states them."""
    modified: int | None
    """Time (ms) of the last change of the file."""
    where: Origin | None
    place: str | None
    """The page, or the journal file, that has the message."""
    address: str | None
    queues: dict[str, WaitingState | None]
    """State of the message for each queue; null if it is not known."""
    condition: Condition
    """The first of the conditions."""
    conditions: Annotated[list[Condition], Meta(min_length=1)]

    @classmethod
    def of(cls, row: LargeRow) -> LargeBody:
        """Return the report of a large-message file with its message, or of either without the other."""
        from pagefmt.outstanding.message_location import queue_state

        file, message = row.file, row.reference
        names = row.state.bindings.queues if row.state.bindings is not None else {}
        states = {} if message is None else message.queues
        conditions = cast("list[Condition]", [condition.value for condition in row.conditions])
        return cls(
            file=None if file is None else file.name,
            id=message.id if message is not None else None if file is None else file.id,
            size=None if file is None else file.size,
            declared=None if message is None else message.declared,
            modified=None if file is None else file.modified,
            where=None if message is None else cast("Origin", message.where.value),
            place=None if message is None else message.place,
            address=None if message is None else message.address,
            queues={
                names[queue].name if queue in names else str(queue): cast("WaitingState | None", queue_state(state))
                for queue, state in states.items()
            },
            condition=conditions[0],
            conditions=conditions,
        )


def _queues(states: dict[str, str | None]) -> str:
    return ", ".join(f"{name} ({state or '-'})" for name, state in states.items()) or "-"


class LargeBodies(Report):
    """``large ls --format json``: large-message files, and messages whose file is missing."""

    files: list[LargeBody]


class LargeFindings(Report):
    """``large verify --format json``: the rows of ``large ls``, and what is wrong."""

    files: list[LargeBody]
    findings: list[DataFinding]


BODIES = RowListing(
    "files",
    LargeBody,
    (
        TableColumn("size", "SIZE", SIZE, null="-"),
        TableColumn("modified", "MODIFIED", TIME, null=""),
        TableColumn("modified", "AGE", AGE, null=""),
        TableColumn("conditions", "CONDITION"),
        TableColumn("file", "FILE", null="-"),
        TableColumn("id", "ID", COUNT),
        TableColumn("address", "ADDRESS", null="-"),
        TableColumn("queues", "QUEUES", ValueForm(_queues)),
    ),
)
ANSWERS = {
    "large-ls": LargeBodies,
    "large-ls.line": LargeBody,
    "large-verify": LargeFindings,
    "large-verify.line": (LargeBody, DataFinding),
}
