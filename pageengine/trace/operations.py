"""Operations of clients and operators: one class per operation of a trace (docs/spec/trace-format.md 1.1 and 1.2).

The fields are the keys of the JSON object, with their types, ranges and defaults: msgspec reads and writes by them.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct, field

from pagefmt.codec.messages.values import ValueKind

TRACE_VERSION = 1
# Operations have times in nanoseconds, settings in milliseconds.
NS_PER_MS = 1_000_000
LOWEST, HIGHEST = -(2**63), 2**63 - 1
Int64 = Annotated[int, Meta(ge=LOWEST, le=HIGHEST)]
Natural = Annotated[int, Meta(ge=0, le=HIGHEST)]
# a Java array holds no more bytes, and so no message has more
BodySize = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class TraceHeader(Struct, frozen=True, omit_defaults=True):
    """Line 1 of a trace: how the clients were set up."""

    name: str
    trace: Int64 = TRACE_VERSION
    start_ns: Int64 | None = None
    source: str = "synthetic"
    seq_property: str = "_seq"
    producer_window: Int64 = 65536
    min_large_message_size: Annotated[int, Meta(ge=1, le=HIGHEST)] = 102400
    broker: str | None = None
    acceptor: str = ""
    unknown: tuple[str, ...] = ()
    timeout_ms: Natural = 500
    settle_ms: Natural = 40
    release_ms: Natural = 500


class MessageType(Enum):
    """Kind of a message's body."""

    DEFAULT = "default"
    OBJECT = "object"
    TEXT = "text"
    BYTES = "bytes"
    MAP = "map"
    STREAM = "stream"


class MessageProperty(NamedTuple):
    """Application property or header property of a message; ``value`` has its type."""

    name: str
    type: ValueKind
    value: bool | int | float | str | bytes | None


class MessageProperties(tuple[MessageProperty, ...]):
    """Properties of a message in their order. In a trace they are an object (``message_properties``)."""

    __slots__ = ()


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
    """Protocol that the session speaks."""

    CORE = "core"
    AMQP = "amqp"
    OPENWIRE = "openwire"
    STOMP = "stomp"
    MQTT = "mqtt"


class ClientOptions(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How a client of another protocol than core sends; each protocol uses its own options.

    AMQP: ``settled``, ``anonymous``, ``drain`` (returns its credit when asked). OpenWire: ``asynchronous``,
    ``window`` (of a producer, in bytes). STOMP: ``receipt``. MQTT: ``version`` (5, or less for 3.1.1), ``qos``.
    """

    settled: bool = False
    anonymous: bool = False
    drain: bool = True
    asynchronous: bool = field(default=False, name="async")
    window: Natural = 0
    receipt: bool = True
    version: Natural = 4
    qos: Annotated[int, Meta(ge=0, le=2)] = 1


PLAIN_CLIENT = ClientOptions()


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


class Operation(Struct, kw_only=True, tag_field="op", forbid_unknown_fields=True, omit_defaults=True):
    """Operation number ``i``, from 0, at ``t`` ns on the trace's clock. ``op`` is its name in a trace.

    A trace has no ``i`` (the reader counts), and a ``t`` that is absent is LOWEST until the reader fills it in; then
    nothing changes the operation any more.
    """

    i: int = field(default=0, name="")
    t: Int64 = LOWEST
    note: str | None = None

    @property
    def op(self) -> str:
        """Return the operation's name in a trace."""
        return str(self.__struct_config__.tag)


class CreateAddress(Operation, tag="create_address"):
    """Creation of an address with its routing types."""

    address: str
    routing: RoutingType | Annotated[tuple[RoutingType, ...], Meta(min_length=1)]

    @property
    def routings(self) -> tuple[RoutingType, ...]:
        """Return the routing types, one or two."""
        return (self.routing,) if isinstance(self.routing, RoutingType) else self.routing


class DeleteAddress(Operation, tag="delete_address"):
    """Deletion of an address and its queues."""

    address: str


class CreateQueue(Operation, tag="create_queue"):
    """Creation of a queue; ``address`` equals the queue's name if the trace has none."""

    queue: str
    address: str = ""
    routing: RoutingType = RoutingType.ANYCAST
    filter: str | None = None
    durable: bool = True
    max_consumers: Int64 = -1
    purge_on_no_consumers: bool = False
    exclusive: bool = False
    auto_delete: bool = False

    def __post_init__(self) -> None:
        self.address = self.address or self.queue


class DeleteQueue(Operation, tag="delete_queue"):
    """Deletion of a queue by management."""

    queue: str


class OpenSession(Operation, tag="open_session"):
    """Opening of a session by a client."""

    session: str
    kind: SessionKind = SessionKind.AUTO
    protocol: ClientProtocol = ClientProtocol.CORE
    client: ClientOptions = PLAIN_CLIENT


class CloseSession(Operation, tag="close_session"):
    """Closing of a session by a client; uncommitted work is rolled back."""

    session: str


class Send(Operation, tag="send"):
    """Send of one message, with ``text``, ``body`` or neither; then ``size`` counts body bytes or letters of text."""

    address: str
    seq: Int64
    session: str = field(default_factory=lambda: "main")  # a factory: written even where it is the default
    type: MessageType = MessageType.BYTES
    size: BodySize = 0
    text: str | None = None
    body: bytes | None = field(default=None, name="body_b64")
    durable: bool = True
    priority: Annotated[int, Meta(ge=0, le=9)] = 4
    expire_ms: Natural = 0
    props: MessageProperties = MessageProperties()

    def __post_init__(self) -> None:
        if self.text is not None and self.body is not None:
            raise ValueError("'text' and 'body_b64' cannot be combined")


class Begin(Operation, tag="begin"):
    """Start of an XA branch in a session."""

    session: str
    xid: str | None = None


class Prepare(Operation, tag="prepare"):
    """End and preparation of an XA branch."""

    session: str
    xid: str


class Commit(Operation, tag="commit"):
    """Commit of a local transaction or, with ``xid``, of an XA branch."""

    session: str
    xid: str | None = None
    one_phase: bool = False
    active: bool = False


class Rollback(Operation, tag="rollback"):
    """Rollback of a local transaction or, with ``xid``, of an XA branch."""

    session: str
    xid: str | None = None
    one_phase: bool = False
    active: bool = False


class OpenConsumer(Operation, tag="open_consumer"):
    """Opening of a consumer; ``session`` is ``c-`` + consumer if the trace has none."""

    consumer: str
    queue: str
    session: str = ""
    selector: str | None = None
    window: Int64 = 0

    def __post_init__(self) -> None:
        self.session = self.session or f"c-{self.consumer}"


class Receive(Operation, tag="receive"):
    """Receipt of up to ``max`` messages, or of exactly those of ``seq``, wherever they are in the queue."""

    consumer: str
    max: Natural = 1
    ack: ReceiveAck = ReceiveAck.NONE
    seq: tuple[Int64, ...] | None = None


class Ack(Operation, tag="ack"):
    """Acknowledgement. ``seq``: one number for ``upto``, one or several for ``individual``, nothing for ``all``."""

    consumer: str
    mode: AckMode = AckMode.UPTO
    seq: Int64 | tuple[Int64, ...] | None = None

    def __post_init__(self) -> None:
        if self.seq is None and self.mode is not AckMode.ALL:
            raise ValueError("'seq' is missing")
        if self.mode is AckMode.UPTO and len(self.seqs) != 1:
            raise ValueError("'seq' must be one whole number for mode upto")

    @property
    def seqs(self) -> tuple[int, ...]:
        """Return the message numbers that the acknowledgement names."""
        return (self.seq,) if isinstance(self.seq, int) else self.seq or ()


class CloseConsumer(Operation, tag="close_consumer"):
    """Closing of a consumer; its unacknowledged messages return to the queue."""

    consumer: str


class Browse(Operation, tag="browse"):
    """Browsing of a queue; ``max`` None: everything."""

    queue: str
    selector: str | None = None
    max: Natural | None = None
    session: str = "browser"


class Purge(Operation, tag="purge"):
    """Removal of a queue's messages, or of those that match the selector."""

    queue: str
    selector: str | None = None


class Expire(Operation, tag="expire"):
    """Scan for expired messages; ``queue`` None: in every queue."""

    queue: str | None = None


class PauseQueue(Operation, tag="pause_queue"):
    """Pause of a queue, which stops delivering."""

    queue: str


class ResumeQueue(Operation, tag="resume_queue"):
    """Resumption of a paused queue."""

    queue: str


class BlockAddress(Operation, tag="block_address"):
    """Block of the producers of an address by an operator."""

    address: str


class UnblockAddress(Operation, tag="unblock_address"):
    """End of an operator's block of the producers of an address."""

    address: str


class DiskFull(Operation, tag="disk_full"):
    """Report of the disk monitor: a full disk, or enough space again."""

    full: bool = True


class DiskSpaceChange(Operation, tag="disk"):
    """Report of a file store's space in bytes; ``store`` None: of every file store."""

    usable: Natural
    total: Natural
    store: str | None = None


class SettingsChange(Operation, tag="settings"):
    """Change of settings at run time.

    ``values``: text or number by the XML name of the setting, as the trace has it.
    """

    match: str
    values: tuple[tuple[str, str], ...] = ()


class Wait(Operation, tag="wait"):
    """Wait for ``ms`` milliseconds without an operation."""

    ms: Natural


class Checkpoint(Operation, tag="checkpoint"):
    """Request that the outcome show the complete state."""


class Restart(Operation, tag="restart"):
    """Stop and start of the broker."""


class CrashKind(Enum):
    """Extent of a loss: nothing in progress; what the process held; also what was not forced to the disk."""

    REST = "rest"
    KILL = "kill"
    POWER = "power"


class Crash(Operation, tag="crash"):
    """Kill and start of the broker."""

    kind: CrashKind = CrashKind.REST


class UnknownOperation(Operation):
    """Operation of a name that this version does not know."""

    name: str

    @property
    def op(self) -> str:
        """Return the operation's name in the trace."""
        return self.name
