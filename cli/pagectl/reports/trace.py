"""The lines of a trace, the input of a replay (``docs/spec/trace-format.md``).

The engine reads and writes them itself; these classes describe them. ``t`` is nanoseconds since ``start_ns``.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from pagectl.reports.form import Count, Either, Report

Base64: TypeAlias = Annotated[str, Meta(extra_json_schema={"contentEncoding": "base64"})]


class ByteProperty(Report):
    """A property of the type byte."""

    byte: int


class ShortProperty(Report):
    """A property of the type short."""

    short: int


class IntProperty(Report):
    """A property of the type int."""

    int_: int = msgspec.field(name="int")


class FloatProperty(Report):
    """A property of the type float."""

    float_: float = msgspec.field(name="float")


class CharProperty(Report):
    """A property of the type char."""

    char: Annotated[str, Meta(min_length=1, max_length=1)]


class BytesProperty(Report):
    """A property of the type bytes."""

    bytes_: Base64 = msgspec.field(name="bytes")


PropertyValue: TypeAlias = Either[ByteProperty, ShortProperty, IntProperty, FloatProperty, CharProperty, BytesProperty]


class TraceHeaderLine(Report):
    """The first line of a trace."""

    trace: Literal[1]
    name: str
    start_ns: int | UnsetType = UNSET
    """Wall clock (ns since 1970-01-01 UTC) of ``t`` 0; absent if times are relative only."""
    source: str | UnsetType = UNSET
    seq_property: str | UnsetType = UNSET
    """Name of the property that carries ``seq`` in each replayed message; empty for none."""
    producer_window: int | UnsetType = UNSET
    """Window in bytes of every producer; -1 for none."""
    min_large_message_size: int | UnsetType = UNSET
    """Encoded size in bytes from which a message is large."""
    broker: str | UnsetType = UNSET
    """The version that the trace was recorded on."""
    acceptor: str | UnsetType = UNSET
    """Parameters of the acceptor for clients of other protocols than core."""
    timeout_ms: Count | UnsetType = UNSET
    """How long the recorder waited for an answer."""
    settle_ms: Count | UnsetType = UNSET
    """How long the recorder waited for the broker to rest."""
    release_ms: Count | UnsetType = UNSET
    """How long the recorder waited for blocked sends."""


class TraceClient(Report):
    """How a client of another protocol than core sends."""

    settled: bool | UnsetType = UNSET
    anonymous: bool | UnsetType = UNSET
    drain: bool | UnsetType = UNSET
    async_: bool | UnsetType = msgspec.field(default=UNSET, name="async")
    window: Count | UnsetType = UNSET
    receipt: bool | UnsetType = UNSET
    version: Count | UnsetType = UNSET
    qos: Annotated[int, Meta(ge=0, le=2)] | UnsetType = UNSET


class TraceSettings(Report, forbid_unknown_fields=False):
    """An address setting that changes at run time; the other keys are settings by their XML names."""

    op: Literal["settings"]
    t: Count
    match: str
    note: str | UnsetType = UNSET


class TraceSend(Report):
    """A core message that is sent."""

    op: Literal["send"]
    t: Count
    session: str
    address: str
    seq: Count
    note: str | UnsetType = UNSET
    type: Literal["default", "object", "text", "map", "stream"] | UnsetType = UNSET
    size: Count | UnsetType = UNSET
    text: str | UnsetType = UNSET
    body_b64: Base64 | UnsetType = UNSET
    durable: Literal[False] | UnsetType = UNSET
    priority: Annotated[int, Meta(ge=0, le=9)] | UnsetType = UNSET
    expire_ms: Count | UnsetType = UNSET
    props: dict[str, str | int | float | bool | PropertyValue | None] | UnsetType = UNSET


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


class TraceOpenSession(Report):
    """A session that a client opens."""

    op: Literal["open_session"]
    t: Count
    session: str
    note: str | UnsetType = UNSET
    kind: Literal["auto", "local", "xa"] | UnsetType = UNSET
    protocol: Literal["core", "amqp", "openwire", "stomp", "mqtt"] | UnsetType = UNSET
    client: TraceClient | UnsetType = UNSET


class TraceCloseSession(Report):
    """A session that ends: its open transaction rolls back."""

    op: Literal["close_session"]
    t: Count
    session: str
    note: str | UnsetType = UNSET


class TraceBegin(Report):
    """The begin of an XA branch."""

    op: Literal["begin"]
    t: Count
    session: str
    note: str | UnsetType = UNSET
    xid: str | UnsetType = UNSET


class TracePrepare(Report):
    """The end of an XA branch, which is prepared."""

    op: Literal["prepare"]
    t: Count
    session: str
    xid: str
    note: str | UnsetType = UNSET


class TraceCommit(Report):
    """A commit."""

    op: Literal["commit"]
    t: Count
    session: str
    note: str | UnsetType = UNSET
    xid: str | UnsetType = UNSET
    one_phase: bool | UnsetType = UNSET
    active: bool | UnsetType = UNSET


class TraceRollback(Report):
    """A rollback."""

    op: Literal["rollback"]
    t: Count
    session: str
    note: str | UnsetType = UNSET
    xid: str | UnsetType = UNSET
    one_phase: bool | UnsetType = UNSET
    active: bool | UnsetType = UNSET


class TraceOpenConsumer(Report):
    """A consumer that is opened."""

    op: Literal["open_consumer"]
    t: Count
    consumer: str
    queue: str
    note: str | UnsetType = UNSET
    session: str | UnsetType = UNSET
    selector: str | UnsetType = UNSET
    window: int | UnsetType = UNSET
    """Window in bytes; 0 for one message per request, -1 for no limit."""


class TraceReceive(Report):
    """Messages that a consumer takes."""

    op: Literal["receive"]
    t: Count
    consumer: str
    note: str | UnsetType = UNSET
    max: Count | UnsetType = UNSET
    ack: Literal["none", "each", "end"] | UnsetType = UNSET
    seq: list[int] | UnsetType = UNSET


class TraceAck(Report):
    """An acknowledgement."""

    op: Literal["ack"]
    t: Count
    consumer: str
    note: str | UnsetType = UNSET
    mode: Literal["upto", "individual", "all"] | UnsetType = UNSET
    seq: int | list[int] | UnsetType = UNSET


class TraceCloseConsumer(Report):
    """A consumer that ends: its unacknowledged messages return to the head of the queue."""

    op: Literal["close_consumer"]
    t: Count
    consumer: str
    note: str | UnsetType = UNSET


class TraceBrowse(Report):
    """A browser that is opened, reads and is closed."""

    op: Literal["browse"]
    t: Count
    queue: str
    note: str | UnsetType = UNSET
    selector: str | UnsetType = UNSET
    max: Count | UnsetType = UNSET
    session: str | UnsetType = UNSET


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


ANSWERS = {
    "replay-trace.line": (
        TraceHeaderLine,
        TraceSettings,
        TraceSend,
        TraceCreateAddress,
        TraceDeleteAddress,
        TraceCreateQueue,
        TraceDeleteQueue,
        TraceOpenSession,
        TraceCloseSession,
        TraceBegin,
        TracePrepare,
        TraceCommit,
        TraceRollback,
        TraceOpenConsumer,
        TraceReceive,
        TraceAck,
        TraceCloseConsumer,
        TraceBrowse,
        TracePurge,
        TraceExpire,
        TracePauseQueue,
        TraceResumeQueue,
        TraceBlockAddress,
        TraceUnblockAddress,
        TraceDiskFull,
        TraceDisk,
        TraceWait,
        TraceCheckpoint,
        TraceRestart,
        TraceCrash,
    )
}
