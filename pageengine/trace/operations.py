"""What clients and operators did: one class per operation of a trace (docs/spec/trace-format.md 1.1 and 1.2).

The fields are the keys of the JSON object, with their types, ranges and defaults: msgspec reads and writes by them.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct, field

from pagefmt.messages.values import ValueKind

TRACE_VERSION = 1
NS_PER_MS = 1_000_000
"""Operations tell the time in nanoseconds, settings in milliseconds."""
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
    timeout_ms: Natural = 500
    settle_ms: Natural = 40
    release_ms: Natural = 500


class MessageType(Enum):
    """Kind of body."""

    DEFAULT = "default"
    OBJECT = "object"
    TEXT = "text"
    BYTES = "bytes"
    MAP = "map"
    STREAM = "stream"


class MessageProperty(NamedTuple):
    """An application property or a header property of a message; ``value`` as its type has it."""

    name: str
    type: ValueKind
    value: bool | int | float | str | bytes | None


class MessageProperties(tuple[MessageProperty, ...]):
    """The properties of a message in their order. In a trace they are an object (``message_properties``)."""

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
    """The protocol that the session speaks."""

    CORE = "core"
    AMQP = "amqp"
    OPENWIRE = "openwire"
    STOMP = "stomp"
    MQTT = "mqtt"


class ClientOptions(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How a client of another protocol than core sends; each protocol looks at its own.

    AMQP: ``settled``, ``anonymous``, ``drain`` (gives its credit back when asked). OpenWire: ``asynchronous``,
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
        """Its name in a trace."""
        return str(self.__struct_config__.tag)


class CreateAddress(Operation, tag="create_address"):
    """An address with its routing types is made."""

    address: str
    routing: RoutingType | Annotated[tuple[RoutingType, ...], Meta(min_length=1)]

    @property
    def routings(self) -> tuple[RoutingType, ...]:
        """The routing types, one or two."""
        return (self.routing,) if isinstance(self.routing, RoutingType) else self.routing


class DeleteAddress(Operation, tag="delete_address"):
    """An address and its queues are deleted."""

    address: str


class CreateQueue(Operation, tag="create_queue"):
    """``address`` equals the queue's name where the trace has none."""

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
    """A queue is deleted."""

    queue: str


class OpenSession(Operation, tag="open_session"):
    """A client opens a session."""

    session: str
    kind: SessionKind = SessionKind.AUTO
    protocol: ClientProtocol = ClientProtocol.CORE
    client: ClientOptions = PLAIN_CLIENT


class CloseSession(Operation, tag="close_session"):
    """A client closes a session; what was not committed is rolled back."""

    session: str


class Send(Operation, tag="send"):
    """One message, with ``text``, ``body`` or neither; without both, ``size`` counts body bytes or letters of text."""

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
    """An XA branch starts in a session."""

    session: str
    xid: str | None = None


class Prepare(Operation, tag="prepare"):
    """An XA branch ends and is prepared."""

    session: str
    xid: str


class Commit(Operation, tag="commit"):
    """A local transaction or, with ``xid``, an XA branch is committed."""

    session: str
    xid: str | None = None
    one_phase: bool = False
    active: bool = False


class Rollback(Operation, tag="rollback"):
    """A local transaction or, with ``xid``, an XA branch is rolled back."""

    session: str
    xid: str | None = None
    one_phase: bool = False
    active: bool = False


class OpenConsumer(Operation, tag="open_consumer"):
    """``session`` is ``c-`` + consumer where the trace has none."""

    consumer: str
    queue: str
    session: str = ""
    selector: str | None = None
    window: Int64 = 0

    def __post_init__(self) -> None:
        self.session = self.session or f"c-{self.consumer}"


class Receive(Operation, tag="receive"):
    """A consumer takes up to ``max`` messages, or exactly those of ``seq``, wherever they are in the queue."""

    consumer: str
    max: Natural = 1
    ack: ReceiveAck = ReceiveAck.NONE
    seq: tuple[Int64, ...] | None = None


class Ack(Operation, tag="ack"):
    """``seq``: one number for ``upto``, one or several for ``individual``, nothing for ``all``."""

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
        """The numbers that it names."""
        return (self.seq,) if isinstance(self.seq, int) else self.seq or ()


class CloseConsumer(Operation, tag="close_consumer"):
    """A consumer is closed; its unacknowledged messages return to the queue."""

    consumer: str


class Browse(Operation, tag="browse"):
    """``max`` None: everything."""

    queue: str
    selector: str | None = None
    max: Natural | None = None
    session: str = "browser"


class Purge(Operation, tag="purge"):
    """The messages of a queue, or those that match the selector, are removed."""

    queue: str
    selector: str | None = None


class Expire(Operation, tag="expire"):
    """``queue`` None: every queue."""

    queue: str | None = None


class PauseQueue(Operation, tag="pause_queue"):
    """A queue stops delivering."""

    queue: str


class ResumeQueue(Operation, tag="resume_queue"):
    """A paused queue delivers again."""

    queue: str


class BlockAddress(Operation, tag="block_address"):
    """An operator blocks the producers of an address."""

    address: str


class UnblockAddress(Operation, tag="unblock_address"):
    """An operator unblocks the producers of an address."""

    address: str


class DiskFull(Operation, tag="disk_full"):
    """The disk monitor reports a full disk, or enough space again."""

    full: bool = True


class DiskSpaceChange(Operation, tag="disk"):
    """``store`` None: every file store."""

    usable: Natural
    total: Natural
    store: str | None = None


class SettingsChange(Operation, tag="settings"):
    """``values``: text or number by the XML name of the setting, as the trace has it."""

    match: str
    values: tuple[tuple[str, str], ...] = ()


class Wait(Operation, tag="wait"):
    """Nothing happens for ``ms`` milliseconds."""

    ms: Natural


class Checkpoint(Operation, tag="checkpoint"):
    """The outcome shows the complete state."""


class Restart(Operation, tag="restart"):
    """The broker is stopped and started."""


class CrashKind(Enum):
    """What is lost: nothing that was under way is; what the process held; what was not forced to the disk, too."""

    REST = "rest"
    KILL = "kill"
    POWER = "power"


class Crash(Operation, tag="crash"):
    """The broker is killed and started."""

    kind: CrashKind = CrashKind.REST


class UnknownOperation(Operation):
    """An operation of a name that this version does not know."""

    name: str

    @property
    def op(self) -> str:
        """Its name in the trace."""
        return self.name
