"""The lines of a trace about what happens to the broker, its addresses and queues."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from pagectl.reports.form import Count, Report


class TraceSettings(Report, forbid_unknown_fields=False):
    """An address setting that changes at run time; the other keys are settings by their XML names."""

    op: Literal["settings"]
    t: Count
    match: str
    note: str | UnsetType = UNSET


class TraceCreateAddress(Report):
    """An address that an operator or the configuration creates."""

    op: Literal["create_address"]
    t: Count
    address: str
    routing: Literal["anycast", "multicast"] | Annotated[list[Literal["anycast", "multicast"]], Meta(min_length=1)]
    note: str | UnsetType = UNSET


class TraceDeleteAddress(Report):
    """An address that is deleted, with its queues."""

    op: Literal["delete_address"]
    t: Count
    address: str
    note: str | UnsetType = UNSET


class TraceCreateQueue(Report):
    """A queue that is created, with its address if that does not exist."""

    op: Literal["create_queue"]
    t: Count
    queue: str
    note: str | UnsetType = UNSET
    address: str | UnsetType = UNSET
    routing: Literal["anycast", "multicast"] | UnsetType = UNSET
    filter: str | UnsetType = UNSET
    durable: bool | UnsetType = UNSET
    max_consumers: int | UnsetType = UNSET
    purge_on_no_consumers: bool | UnsetType = UNSET
    exclusive: bool | UnsetType = UNSET
    auto_delete: bool | UnsetType = UNSET


class TraceDeleteQueue(Report):
    """A queue that is deleted."""

    op: Literal["delete_queue"]
    t: Count
    queue: str
    note: str | UnsetType = UNSET


class TracePurge(Report):
    """Messages that management removes from a queue."""

    op: Literal["purge"]
    t: Count
    queue: str
    note: str | UnsetType = UNSET
    selector: str | UnsetType = UNSET


class TraceExpire(Report):
    """A scan for expired messages."""

    op: Literal["expire"]
    t: Count
    note: str | UnsetType = UNSET
    queue: str | UnsetType = UNSET


class TracePauseQueue(Report):
    """A queue that is paused."""

    op: Literal["pause_queue"]
    t: Count
    queue: str
    note: str | UnsetType = UNSET


class TraceResumeQueue(Report):
    """A queue that is resumed."""

    op: Literal["resume_queue"]
    t: Count
    queue: str
    note: str | UnsetType = UNSET


class TraceBlockAddress(Report):
    """An address that management blocks."""

    op: Literal["block_address"]
    t: Count
    address: str
    note: str | UnsetType = UNSET


class TraceUnblockAddress(Report):
    """An address that management unblocks."""

    op: Literal["unblock_address"]
    t: Count
    address: str
    note: str | UnsetType = UNSET


class TraceDiskFull(Report):
    """The disk check, which starts or stops to report a full disk."""

    op: Literal["disk_full"]
    t: Count
    note: str | UnsetType = UNSET
    full: bool | UnsetType = UNSET


class TraceDisk(Report):
    """What the file system reports from this time on; bytes."""

    op: Literal["disk"]
    t: Count
    usable: Count
    total: Count
    note: str | UnsetType = UNSET
    store: str | UnsetType = UNSET


class TraceWait(Report):
    """Time that passes; messages may expire."""

    op: Literal["wait"]
    t: Count
    ms: Count
    note: str | UnsetType = UNSET


class TraceCheckpoint(Report):
    """A line whose outcome has the complete state."""

    op: Literal["checkpoint"]
    t: Count
    note: str | UnsetType = UNSET


class TraceRestart(Report):
    """An orderly stop and start of the broker."""

    op: Literal["restart"]
    t: Count
    note: str | UnsetType = UNSET


class TraceCrash(Report):
    """The end of the broker, which starts on the files as they are."""

    op: Literal["crash"]
    t: Count
    kind: Literal["rest", "kill", "power"] | UnsetType = UNSET
    note: str | UnsetType = UNSET
