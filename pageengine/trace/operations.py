"""What clients and operators did: one class per operation of a trace (docs/spec/trace-format.md 1.1 and 1.2).

A trace reader fills these; the engine reads nothing else. Defaults are those of the format.
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
    """Kind of body; the value is the wire code (docs/spec/messages.md)."""

    DEFAULT = 0
    OBJECT = 2
    TEXT = 3
    BYTES = 4
    MAP = 5
    STREAM = 6


class PropertyKind(IntEnum):
    """Type of a property's value; the value is the wire code (docs/spec/messages.md)."""

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


class MessageProperty(NamedTuple):
    """An application property or a header property of a message."""

    name: str
    type: PropertyKind
    value: PropertyValue


class RoutingType(Enum):
    """Anycast: one queue gets a message; multicast: every queue does."""

    ANYCAST = "anycast"
    MULTICAST = "multicast"


class SessionKind(Enum):
    """How the session acknowledges and sends: at once, in local or in XA transactions."""

    AUTO = "auto"
    LOCAL = "local"
    XA = "xa"


class ClientProtocol(Enum):
    """The protocol that the session speaks."""

    CORE = "core"
    AMQP = "amqp"
    OPENWIRE = "openwire"
    STOMP = "stomp"
    MQTT = "mqtt"


class ReceiveAck(Enum):
    """What a receive acknowledges: nothing, each message, or all at its end."""

    NONE = "none"
    EACH = "each"
    END = "end"


class AckMode(Enum):
    """What an acknowledgement covers: all up to a message, single messages, all that were delivered."""

    UPTO = "upto"
    INDIVIDUAL = "individual"
    ALL = "all"


@dataclass(slots=True)
class Operation:
    """Operation number ``i``, from 0, at ``t`` ns on the trace's clock. ``op`` is its name in a trace.

    No operation is changed once it was made. They are not frozen, because making a frozen one takes five times as long,
    and a trace has millions.
    """

    op: ClassVar[str]
    i: int
    t: int


@dataclass(slots=True)
class CreateAddress(Operation):
    """An address with its routing types is made."""

    op: ClassVar[str] = "create_address"
    address: str
    routing: tuple[RoutingType, ...]


@dataclass(slots=True)
class DeleteAddress(Operation):
    """An address and its queues are deleted."""

    op: ClassVar[str] = "delete_address"
    address: str


@dataclass(slots=True)
class CreateQueue(Operation):
    """``address`` equals the queue's name where the trace has none."""

    op: ClassVar[str] = "create_queue"
    queue: str
    address: str
    routing: RoutingType = RoutingType.ANYCAST
    filter: str | None = None
    durable: bool = True
    max_consumers: int = -1
    purge_on_no_consumers: bool = False
    exclusive: bool = False
    auto_delete: bool = False


@dataclass(slots=True)
class DeleteQueue(Operation):
    """A queue is deleted."""

    op: ClassVar[str] = "delete_queue"
    queue: str


@dataclass(slots=True)
class OpenSession(Operation):
    """A client opens a session."""

    op: ClassVar[str] = "open_session"
    session: str
    kind: SessionKind = SessionKind.AUTO
    protocol: ClientProtocol = ClientProtocol.CORE


@dataclass(slots=True)
class CloseSession(Operation):
    """A client closes a session; what was not committed is rolled back."""

    op: ClassVar[str] = "close_session"
    session: str


@dataclass(slots=True)
class Send(Operation):
    """One message, with ``text``, ``body`` or neither; without both, ``size`` counts body bytes or letters of text."""

    op: ClassVar[str] = "send"
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
    props: tuple[MessageProperty, ...] = ()


@dataclass(slots=True)
class Begin(Operation):
    """An XA branch starts in a session."""

    op: ClassVar[str] = "begin"
    session: str
    xid: str | None = None


@dataclass(slots=True)
class Prepare(Operation):
    """An XA branch ends and is prepared."""

    op: ClassVar[str] = "prepare"
    session: str
    xid: str


@dataclass(slots=True)
class Commit(Operation):
    """A local transaction or, with ``xid``, an XA branch is committed."""

    op: ClassVar[str] = "commit"
    session: str
    xid: str | None = None
    one_phase: bool = False
    active: bool = False


@dataclass(slots=True)
class Rollback(Operation):
    """A local transaction or, with ``xid``, an XA branch is rolled back."""

    op: ClassVar[str] = "rollback"
    session: str
    xid: str | None = None
    one_phase: bool = False
    active: bool = False


@dataclass(slots=True)
class OpenConsumer(Operation):
    """``session`` is ``c-`` + consumer where the trace has none."""

    op: ClassVar[str] = "open_consumer"
    consumer: str
    queue: str
    session: str
    selector: str | None = None
    window: int = 0


@dataclass(slots=True)
class Receive(Operation):
    """A consumer takes up to ``max`` messages."""

    op: ClassVar[str] = "receive"
    consumer: str
    max: int = 1
    ack: ReceiveAck = ReceiveAck.NONE


@dataclass(slots=True)
class Ack(Operation):
    """``seqs``: one number for ``upto``, one or more for ``individual``, none for ``all``."""

    op: ClassVar[str] = "ack"
    consumer: str
    mode: AckMode = AckMode.UPTO
    seqs: tuple[int, ...] = ()


@dataclass(slots=True)
class CloseConsumer(Operation):
    """A consumer is closed; its unacknowledged messages return to the queue."""

    op: ClassVar[str] = "close_consumer"
    consumer: str


@dataclass(slots=True)
class Browse(Operation):
    """``max`` None: everything."""

    op: ClassVar[str] = "browse"
    queue: str
    selector: str | None = None
    max: int | None = None
    session: str = "browser"


@dataclass(slots=True)
class Purge(Operation):
    """The messages of a queue, or those that match the selector, are removed."""

    op: ClassVar[str] = "purge"
    queue: str
    selector: str | None = None


@dataclass(slots=True)
class Expire(Operation):
    """``queue`` None: every queue."""

    op: ClassVar[str] = "expire"
    queue: str | None = None


@dataclass(slots=True)
class PauseQueue(Operation):
    """A queue stops delivering."""

    op: ClassVar[str] = "pause_queue"
    queue: str


@dataclass(slots=True)
class ResumeQueue(Operation):
    """A paused queue delivers again."""

    op: ClassVar[str] = "resume_queue"
    queue: str


@dataclass(slots=True)
class BlockAddress(Operation):
    """An operator blocks the producers of an address."""

    op: ClassVar[str] = "block_address"
    address: str


@dataclass(slots=True)
class UnblockAddress(Operation):
    """An operator unblocks the producers of an address."""

    op: ClassVar[str] = "unblock_address"
    address: str


@dataclass(slots=True)
class DiskFull(Operation):
    """The disk monitor reports a full disk, or that there is room again."""

    op: ClassVar[str] = "disk_full"
    full: bool = True


@dataclass(slots=True)
class DiskSpaceChange(Operation):
    """``store`` None: every file store."""

    op: ClassVar[str] = "disk"
    usable: int
    total: int
    store: str | None = None


@dataclass(slots=True)
class SettingsChange(Operation):
    """``values``: text or number by the XML name of the setting, as the trace has it."""

    op: ClassVar[str] = "settings"
    match: str
    values: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Wait(Operation):
    """Nothing happens for ``ms`` milliseconds."""

    op: ClassVar[str] = "wait"
    ms: int


@dataclass(slots=True)
class Checkpoint(Operation):
    """The outcome shows the complete state."""

    op: ClassVar[str] = "checkpoint"


@dataclass(slots=True)
class Restart(Operation):
    """The broker is stopped and started."""

    op: ClassVar[str] = "restart"


@dataclass(slots=True)
class Crash(Operation):
    """The broker is killed and started."""

    op: ClassVar[str] = "crash"
