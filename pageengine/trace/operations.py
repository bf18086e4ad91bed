"""What clients and operators did: one class per operation of a trace (spec/trace-format.md 1.1 and 1.2).

A trace reader fills these; the engine reads nothing else. Every operation carries ``i``, its number from 0, and
``t``, the trace's clock in nanoseconds. Defaults are those of the format.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import ClassVar, NamedTuple

TRACE_VERSION = 1


@dataclass(frozen=True, slots=True)
class TraceHeader:
    """Line 1 of a trace: how the clients were set up."""

    name: str
    trace: int = TRACE_VERSION
    start_ns: int | None = None
    source: str = "synthetic"
    seq_property: str = "_seq"
    producer_window: int = 65536
    min_large_message_size: int = 102400
    broker: str | None = None


class MessageType(IntEnum):
    """Kind of body; the value is the wire code (spec/messages.md)."""

    DEFAULT = 0
    OBJECT = 2
    TEXT = 3
    BYTES = 4
    MAP = 5
    STREAM = 6


class PropertyType(IntEnum):
    """Type of a property's value; the value is the wire code (spec/messages.md)."""

    NULL = 0
    BOOLEAN = 2
    BYTE = 3
    BYTES = 4
    SHORT = 5
    INT = 6
    LONG = 7
    FLOAT = 8
    DOUBLE = 9
    STRING = 10
    CHAR = 11


PropertyValue = None | bool | int | float | str | bytes


class Property(NamedTuple):
    name: str
    type: PropertyType
    value: PropertyValue


class RoutingType(Enum):
    ANYCAST = "anycast"
    MULTICAST = "multicast"


class SessionKind(Enum):
    AUTO = "auto"
    LOCAL = "local"
    XA = "xa"


class Protocol(Enum):
    CORE = "core"
    AMQP = "amqp"
    OPENWIRE = "openwire"
    STOMP = "stomp"
    MQTT = "mqtt"


class ReceiveAck(Enum):
    NONE = "none"
    EACH = "each"
    END = "end"


class AckMode(Enum):
    UPTO = "upto"
    INDIVIDUAL = "individual"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class CreateAddress:
    op: ClassVar[str] = "create_address"
    i: int
    t: int
    address: str
    routing: tuple[RoutingType, ...]


@dataclass(frozen=True, slots=True)
class DeleteAddress:
    op: ClassVar[str] = "delete_address"
    i: int
    t: int
    address: str


@dataclass(frozen=True, slots=True)
class CreateQueue:
    """``address`` equals the queue's name where the trace has none."""

    op: ClassVar[str] = "create_queue"
    i: int
    t: int
    queue: str
    address: str
    routing: RoutingType = RoutingType.ANYCAST
    filter: str | None = None
    durable: bool = True
    max_consumers: int = -1
    purge_on_no_consumers: bool = False
    exclusive: bool = False
    auto_delete: bool = False


@dataclass(frozen=True, slots=True)
class DeleteQueue:
    op: ClassVar[str] = "delete_queue"
    i: int
    t: int
    queue: str


@dataclass(frozen=True, slots=True)
class OpenSession:
    op: ClassVar[str] = "open_session"
    i: int
    t: int
    session: str
    kind: SessionKind = SessionKind.AUTO
    protocol: Protocol = Protocol.CORE


@dataclass(frozen=True, slots=True)
class CloseSession:
    op: ClassVar[str] = "close_session"
    i: int
    t: int
    session: str


@dataclass(slots=True)
class Send:
    """One message. At most one of ``text`` and ``body``; without both, ``size`` counts body bytes or letters.

    Nothing changes one. It is not frozen because there are millions: making a frozen one takes five times as long.
    """

    op: ClassVar[str] = "send"
    i: int
    t: int
    address: str
    seq: int
    session: str = "main"
    type: MessageType = MessageType.BYTES
    size: int = 0
    text: str | None = None
    body: bytes | None = None
    durable: bool = True
    priority: int = 4
    expire_ms: int = 0
    props: tuple[Property, ...] = ()


@dataclass(frozen=True, slots=True)
class Begin:
    op: ClassVar[str] = "begin"
    i: int
    t: int
    session: str
    xid: str | None = None


@dataclass(frozen=True, slots=True)
class Prepare:
    op: ClassVar[str] = "prepare"
    i: int
    t: int
    session: str
    xid: str


@dataclass(frozen=True, slots=True)
class Commit:
    op: ClassVar[str] = "commit"
    i: int
    t: int
    session: str
    xid: str | None = None
    one_phase: bool = False
    active: bool = False


@dataclass(frozen=True, slots=True)
class Rollback:
    op: ClassVar[str] = "rollback"
    i: int
    t: int
    session: str
    xid: str | None = None
    one_phase: bool = False
    active: bool = False


@dataclass(frozen=True, slots=True)
class OpenConsumer:
    """``session`` is ``c-`` + consumer where the trace has none."""

    op: ClassVar[str] = "open_consumer"
    i: int
    t: int
    consumer: str
    queue: str
    session: str
    selector: str | None = None
    window: int = 0


@dataclass(frozen=True, slots=True)
class Receive:
    op: ClassVar[str] = "receive"
    i: int
    t: int
    consumer: str
    max: int = 1
    ack: ReceiveAck = ReceiveAck.NONE


@dataclass(frozen=True, slots=True)
class Ack:
    """``seqs``: one number for ``upto``, one or more for ``individual``, none for ``all``."""

    op: ClassVar[str] = "ack"
    i: int
    t: int
    consumer: str
    mode: AckMode = AckMode.UPTO
    seqs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CloseConsumer:
    op: ClassVar[str] = "close_consumer"
    i: int
    t: int
    consumer: str


@dataclass(frozen=True, slots=True)
class Browse:
    """``max`` None: everything."""

    op: ClassVar[str] = "browse"
    i: int
    t: int
    queue: str
    selector: str | None = None
    max: int | None = None
    session: str = "browser"


@dataclass(frozen=True, slots=True)
class Purge:
    op: ClassVar[str] = "purge"
    i: int
    t: int
    queue: str
    selector: str | None = None


@dataclass(frozen=True, slots=True)
class Expire:
    """``queue`` None: every queue."""

    op: ClassVar[str] = "expire"
    i: int
    t: int
    queue: str | None = None


@dataclass(frozen=True, slots=True)
class PauseQueue:
    op: ClassVar[str] = "pause_queue"
    i: int
    t: int
    queue: str


@dataclass(frozen=True, slots=True)
class ResumeQueue:
    op: ClassVar[str] = "resume_queue"
    i: int
    t: int
    queue: str


@dataclass(frozen=True, slots=True)
class BlockAddress:
    op: ClassVar[str] = "block_address"
    i: int
    t: int
    address: str


@dataclass(frozen=True, slots=True)
class UnblockAddress:
    op: ClassVar[str] = "unblock_address"
    i: int
    t: int
    address: str


@dataclass(frozen=True, slots=True)
class DiskFull:
    op: ClassVar[str] = "disk_full"
    i: int
    t: int
    full: bool = True


@dataclass(frozen=True, slots=True)
class Disk:
    """``store`` None: every file store."""

    op: ClassVar[str] = "disk"
    i: int
    t: int
    usable: int
    total: int
    store: str | None = None


@dataclass(frozen=True, slots=True)
class Settings:
    """``values``: text or number by the XML name of the setting, as the trace has it."""

    op: ClassVar[str] = "settings"
    i: int
    t: int
    match: str
    values: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Wait:
    op: ClassVar[str] = "wait"
    i: int
    t: int
    ms: int


@dataclass(frozen=True, slots=True)
class Checkpoint:
    op: ClassVar[str] = "checkpoint"
    i: int
    t: int


@dataclass(frozen=True, slots=True)
class Restart:
    op: ClassVar[str] = "restart"
    i: int
    t: int


@dataclass(frozen=True, slots=True)
class Crash:
    op: ClassVar[str] = "crash"
    i: int
    t: int


Operation = (
    CreateAddress
    | DeleteAddress
    | CreateQueue
    | DeleteQueue
    | OpenSession
    | CloseSession
    | Send
    | Begin
    | Prepare
    | Commit
    | Rollback
    | OpenConsumer
    | Receive
    | Ack
    | CloseConsumer
    | Browse
    | Purge
    | Expire
    | PauseQueue
    | ResumeQueue
    | BlockAddress
    | UnblockAddress
    | DiskFull
    | Disk
    | Settings
    | Wait
    | Checkpoint
    | Restart
    | Crash
)
