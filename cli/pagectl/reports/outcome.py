"""The lines of an outcome, a file that ``replay run --outcome`` writes (``docs/spec/trace-format.md``).

The engine writes them itself; these classes describe them.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import UNSET, UnsetType

from pagectl.reports.form import Count, Report

OutcomeResult: TypeAlias = Literal[
    "ok",
    "queued",
    "paged",
    "handled",
    "dropped",
    "unrouted",
    "failed",
    "blocked",
    "accepted",
    "sent",
    "refused",
    "closed",
    "unsupported",
    "malformed",
]
BrokerResult: TypeAlias = Literal[
    "queued", "paged", "handled", "dropped", "failed", "none", "NO_BINDINGS", "NO_BINDINGS_DLA", "DUPLICATED_ID"
]
StateField: TypeAlias = bool | int | list[int]


class OutcomeHeaderLine(Report):
    """The first line of an outcome."""

    outcome: Literal[1]
    """The version of the format."""
    broker: str
    transport: str
    name: str
    """The name of the trace."""
    state: dict[str, dict[str, StateField]]
    """The state of each address and queue before the first operation."""


class OutcomeLoss(Report):
    """What a crash costs: messages, by their numbers, of each queue."""

    lost: dict[str, list[int]] | UnsetType = UNSET
    perhaps_lost: dict[str, list[int]] | UnsetType = UNSET
    again: dict[str, list[int]] | UnsetType = UNSET
    """Messages that are delivered again."""
    perhaps_again: dict[str, list[int]] | UnsetType = UNSET
    answered: list[int] | UnsetType = UNSET
    """Messages that are lost although their send was answered."""
    incomplete: bool | UnsetType = UNSET


class SendResult(Report):
    """How a broker decided on an operation, as its client sees it."""

    r: OutcomeResult
    page: int | UnsetType = UNSET
    nr: int | UnsetType = UNSET
    """The number of the message in its page."""
    why: str | UnsetType = UNSET
    status: str | UnsetType = UNSET
    error: str | UnsetType = UNSET
    reached_broker: bool | UnsetType = UNSET
    silent: bool | UnsetType = UNSET
    mem: int | UnsetType = UNSET
    """Bytes of memory that the message takes."""
    enc: int | UnsetType = UNSET
    """Bytes of the encoded message."""
    large: bool | UnsetType = UNSET
    broker: BrokerResult | UnsetType = UNSET
    """What the broker did with the message, if the client does not learn it."""
    credit: Count | UnsetType = UNSET
    credit_after: Count | UnsetType = UNSET
    drain_asked: bool | UnsetType = UNSET
    drained: Count | UnsetType = UNSET
    frame: Literal["none", "ERROR", "DISCONNECT"] | UnsetType = UNSET
    on_wire: bool | UnsetType = UNSET
    behind: Count | UnsetType = UNSET
    reconnected: bool | UnsetType = UNSET


class ReleasedSend(SendResult):
    """A send that was blocked before, and its result now."""

    i: Count
    """The operation that was blocked."""


class OutcomeOperation(SendResult):
    """The result of an operation."""

    i: Count
    """The number of the operation, from 0."""
    op: str | None
    got: list[int] | UnsetType = UNSET
    """Messages that were received, by their numbers."""
    redelivered: list[int] | UnsetType = UNSET
    count: Count | UnsetType = UNSET
    vote: str | UnsetType = UNSET
    accepted: bool | UnsetType = UNSET
    abandoned: list[int] | UnsetType = UNSET
    loss: OutcomeLoss | UnsetType = UNSET
    detail: str | UnsetType = UNSET
    """Why the operation could not be applied."""
    released: list[ReleasedSend] | UnsetType = UNSET
    state: dict[str, dict[str, StateField | None] | None] | UnsetType = UNSET
    """What changed of the state of addresses and queues; null for what is gone."""


class OutcomePage(Report):
    """A page file at the end."""

    page: Count
    bytes: Count
    records: list[tuple[int | None, Count, bool, list[str]]]
    """For each record: number of the message, bytes, whether it is in a transaction, queues."""


class OutcomeEndLine(Report):
    """The last line of an outcome."""

    end: Literal[True]
    ops: Count
    """How many operations there are."""
    never_sent: list[int]
    """Messages that were still blocked, by their numbers."""
    page_files: dict[str, list[OutcomePage]]
    """By address."""
    state: dict[str, dict[str, StateField]]
    """The state of each address and queue at the end."""


ANSWERS = {"replay-outcome.line": (OutcomeHeaderLine, OutcomeOperation, OutcomeEndLine)}
