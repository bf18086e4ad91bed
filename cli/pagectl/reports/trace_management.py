"""The lines of a trace about what happens to the broker, its addresses and queues."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from pagectl.reports.form import Count, Report


class TraceOperation(Report):
    """What every operation of a trace has."""

    t: Count
    """Nanoseconds on the trace's clock."""
    note: str | UnsetType = UNSET


class TraceSettings(TraceOperation, forbid_unknown_fields=False):
    """An address setting that changes at run time; the other keys are settings by their XML names."""

    op: Literal["settings"]
    match: str


class TraceCreateAddress(TraceOperation):
    """An address that an operator or the configuration creates."""

    op: Literal["create_address"]
    address: str
    routing: Literal["anycast", "multicast"] | Annotated[list[Literal["anycast", "multicast"]], Meta(min_length=1)]


class TraceDeleteAddress(TraceOperation):
    """An address that is deleted, with its queues."""

    op: Literal["delete_address"]
    address: str


class TraceCreateQueue(TraceOperation):
    """A queue that is created, with its address if that does not exist."""

    op: Literal["create_queue"]
    queue: str
    address: str | UnsetType = UNSET
    routing: Literal["anycast", "multicast"] | UnsetType = UNSET
    filter: str | UnsetType = UNSET
    durable: bool | UnsetType = UNSET
    max_consumers: int | UnsetType = UNSET
    purge_on_no_consumers: bool | UnsetType = UNSET
    exclusive: bool | UnsetType = UNSET
    auto_delete: bool | UnsetType = UNSET


class TraceDeleteQueue(TraceOperation):
    """A queue that is deleted."""

    op: Literal["delete_queue"]
    queue: str


class TracePurge(TraceOperation):
    """Messages that management removes from a queue."""

    op: Literal["purge"]
    queue: str
    selector: str | UnsetType = UNSET


class TraceExpire(TraceOperation):
    """A scan for expired messages."""

    op: Literal["expire"]
    queue: str | UnsetType = UNSET


class TracePauseQueue(TraceOperation):
    """A queue that is paused."""

    op: Literal["pause_queue"]
    queue: str


class TraceResumeQueue(TraceOperation):
    """A queue that is resumed."""

    op: Literal["resume_queue"]
    queue: str


class TraceBlockAddress(TraceOperation):
    """An address that management blocks."""

    op: Literal["block_address"]
    address: str


class TraceUnblockAddress(TraceOperation):
    """An address that management unblocks."""

    op: Literal["unblock_address"]
    address: str


class TraceDiskFull(TraceOperation):
    """The disk check, which starts or stops to report a full disk."""

    op: Literal["disk_full"]
    full: bool | UnsetType = UNSET


class TraceDisk(TraceOperation):
    """What the file system reports from this time on; bytes."""

    op: Literal["disk"]
    usable: Count
    total: Count
    store: str | UnsetType = UNSET


class TraceWait(TraceOperation):
    """Time that passes; messages may expire."""

    op: Literal["wait"]
    ms: Count


class TraceCheckpoint(TraceOperation):
    """A line whose outcome has the complete state."""

    op: Literal["checkpoint"]


class TraceRestart(TraceOperation):
    """An orderly stop and start of the broker."""

    op: Literal["restart"]


class TraceCrash(TraceOperation):
    """The end of the broker, which starts on the files as they are."""

    op: Literal["crash"]
    kind: Literal["rest", "kill", "power"] | UnsetType = UNSET
