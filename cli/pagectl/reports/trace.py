"""The lines of a trace, the input of a replay (``docs/spec/trace-format.md``).

The engine reads and writes them itself; these classes describe them. ``t`` is nanoseconds since ``start_ns``.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from pagectl.reports.form import Count, Either, Report
from pagectl.reports.trace_management import (
    TraceBlockAddress,
    TraceCheckpoint,
    TraceCrash,
    TraceCreateAddress,
    TraceCreateQueue,
    TraceDeleteAddress,
    TraceDeleteQueue,
    TraceDisk,
    TraceDiskFull,
    TraceExpire,
    TraceOperation,
    TracePauseQueue,
    TracePurge,
    TraceRestart,
    TraceResumeQueue,
    TraceSettings,
    TraceUnblockAddress,
    TraceWait,
)

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
    unknown: list[str] | UnsetType = UNSET
    """What the trace cannot have, because its source does not say it."""
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


class TraceSend(TraceOperation):
    """A core message that is sent."""

    op: Literal["send"]
    session: str
    address: str
    seq: Count
    type: Literal["default", "object", "text", "map", "stream"] | UnsetType = UNSET
    size: Count | UnsetType = UNSET
    text: str | UnsetType = UNSET
    body_b64: Base64 | UnsetType = UNSET
    durable: Literal[False] | UnsetType = UNSET
    priority: Annotated[int, Meta(ge=0, le=9)] | UnsetType = UNSET
    expire_ms: Count | UnsetType = UNSET
    props: dict[str, str | int | float | bool | PropertyValue | None] | UnsetType = UNSET


class TraceOpenSession(TraceOperation):
    """A session that a client opens."""

    op: Literal["open_session"]
    session: str
    kind: Literal["auto", "local", "xa"] | UnsetType = UNSET
    protocol: Literal["core", "amqp", "openwire", "stomp", "mqtt"] | UnsetType = UNSET
    client: TraceClient | UnsetType = UNSET


class TraceCloseSession(TraceOperation):
    """A session that ends: its open transaction rolls back."""

    op: Literal["close_session"]
    session: str


class TraceBegin(TraceOperation):
    """The begin of an XA branch."""

    op: Literal["begin"]
    session: str
    xid: str | UnsetType = UNSET


class TracePrepare(TraceOperation):
    """The end of an XA branch, which is prepared."""

    op: Literal["prepare"]
    session: str
    xid: str


class TraceCommit(TraceOperation):
    """A commit."""

    op: Literal["commit"]
    session: str
    xid: str | UnsetType = UNSET
    one_phase: bool | UnsetType = UNSET
    active: bool | UnsetType = UNSET


class TraceRollback(TraceOperation):
    """A rollback."""

    op: Literal["rollback"]
    session: str
    xid: str | UnsetType = UNSET
    one_phase: bool | UnsetType = UNSET
    active: bool | UnsetType = UNSET


class TraceOpenConsumer(TraceOperation):
    """A consumer that is opened."""

    op: Literal["open_consumer"]
    consumer: str
    queue: str
    session: str | UnsetType = UNSET
    selector: str | UnsetType = UNSET
    window: int | UnsetType = UNSET
    """Window in bytes; 0 for one message per request, -1 for no limit."""


class TraceReceive(TraceOperation):
    """Messages that a consumer takes."""

    op: Literal["receive"]
    consumer: str
    max: Count | UnsetType = UNSET
    ack: Literal["none", "each", "end"] | UnsetType = UNSET
    seq: list[int] | UnsetType = UNSET


class TraceAck(TraceOperation):
    """An acknowledgement."""

    op: Literal["ack"]
    consumer: str
    mode: Literal["upto", "individual", "all"] | UnsetType = UNSET
    seq: int | list[int] | UnsetType = UNSET


class TraceCloseConsumer(TraceOperation):
    """A consumer that ends: its unacknowledged messages return to the head of the queue."""

    op: Literal["close_consumer"]
    consumer: str


class TraceBrowse(TraceOperation):
    """A browser that is opened, reads and is closed."""

    op: Literal["browse"]
    queue: str
    selector: str | UnsetType = UNSET
    max: Count | UnsetType = UNSET
    session: str | UnsetType = UNSET


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
