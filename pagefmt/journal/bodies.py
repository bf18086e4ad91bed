"""Bodies of the message journal's records, decoded and encoded (docs/spec/journal.md 5).

===================================  ==========================================================
29 ADD_LARGE_MESSAGE_PENDING         i64 message id
32 ADD_REF, 33 ACKNOWLEDGE_REF       i64 queue id
34 UPDATE_DELIVERY_COUNT             i64 queue id, i32 count
35 PAGE_TRANSACTION                  i64 transaction id, i32 references to durable queues
36 SET_SCHEDULED_DELIVERY_TIME       i64 queue id, i64 time (ms)
37 DUPLICATE_ID                      sstr address, i32 length, bytes
38 HEURISTIC_COMPLETION              XID, bool8 committed
39 ACKNOWLEDGE_CURSOR                i64 queue id, i64 page, i32 message number (-1: a bookmark)
40 PAGE_CURSOR_COUNTER_VALUE         i64 queue id, i64 count, i64 size (absent before 2.5.0)
41 PAGE_CURSOR_COUNTER_INC           i64 queue id, i32 delta, i64 size delta (absent before 2.5.0)
42 PAGE_CURSOR_COMPLETE              i64 queue id, i64 page, i32 messages in the page
43 PAGE_CURSOR_PENDING_COUNTER       i64 queue id, i64 page
XID                                  i32 format id, i32 + branch, i32 + global transaction id
===================================  ==========================================================

Messages (30, 31, 45) are ``docs/spec/messages.md``; what has no decoder here is named and kept as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct, error
from typing import ClassVar, Final, Self, TypeAlias, TypeVar

from pagefmt.codec.wire import ByteReader, ByteWriter, Undecodable
from pagefmt.errors import PageFmtError
from pagefmt.journal.record_types import RecordType, type_name


class BadBody(PageFmtError):
    """The body of a journal record cannot be decoded as its type.

    ``value``: the decoded body if only bytes after its end are wrong, which brokers ignore; else None.
    """

    def __init__(self, message: str, value: Body | Xid | None = None) -> None:
        super().__init__(message)
        self.value = value

    @property
    def longer(self) -> bool:
        """Return whether the body is correct except for bytes after its end."""
        return self.value is not None


@dataclass(frozen=True, slots=True)
class LargePending:
    """ADD_LARGE_MESSAGE_PENDING: a body file that is being written."""

    LAYOUT: ClassVar[Struct] = Struct(">q")
    message: int


@dataclass(frozen=True, slots=True)
class QueueRef:
    """ADD_REF and ACKNOWLEDGE_REF: the message is the id of the record."""

    LAYOUT: ClassVar[Struct] = Struct(">q")
    queue: int


@dataclass(frozen=True, slots=True)
class DeliveryCount:
    """UPDATE_DELIVERY_COUNT: how often the queue has delivered the message."""

    LAYOUT: ClassVar[Struct] = Struct(">qi")
    queue: int
    count: int


@dataclass(frozen=True, slots=True)
class PageTransaction:
    """The body of a page transaction's record.

    ``references``: to durable queues, of all that the transaction paged; of an update: those acknowledged.
    """

    LAYOUT: ClassVar[Struct] = Struct(">qi")
    tx: int
    references: int


@dataclass(frozen=True, slots=True)
class ScheduledDelivery:
    """SET_SCHEDULED_DELIVERY_TIME: not before ``time`` (ms since 1970)."""

    LAYOUT: ClassVar[Struct] = Struct(">qq")
    queue: int
    time: int


@dataclass(frozen=True, slots=True)
class CursorAck:
    """The body of an acknowledgement of one position.

    ``number`` -1 is a bookmark: it acknowledges nothing.
    """

    LAYOUT: ClassVar[Struct] = Struct(">qqi")
    queue: int
    page: int
    number: int


@dataclass(frozen=True, slots=True)
class PageComplete:
    """PAGE_CURSOR_COMPLETE: the queue is done with a page of so many messages."""

    LAYOUT: ClassVar[Struct] = Struct(">qqi")
    queue: int
    page: int
    messages: int


@dataclass(frozen=True, slots=True)
class PendingCounter:
    """PAGE_CURSOR_PENDING_COUNTER: the page's records are not in the counter yet."""

    LAYOUT: ClassVar[Struct] = Struct(">qq")
    queue: int
    page: int


@dataclass(frozen=True, slots=True)
class CounterValue:
    """The body of a record with a queue's page counter.

    ``size``: bytes, ``None`` in records of before 2.5.0.
    """

    LAYOUT: ClassVar[Struct] = Struct(">qqq")
    SHORT: ClassVar[Struct] = Struct(">qq")
    queue: int
    count: int
    size: int | None


@dataclass(frozen=True, slots=True)
class CounterIncrement:
    """The body of a record that adds to a queue's page counter.

    ``size``: bytes, ``None`` in records of before 2.5.0.
    """

    LAYOUT: ClassVar[Struct] = Struct(">qiq")
    SHORT: ClassVar[Struct] = Struct(">qi")
    queue: int
    count: int
    size: int | None


@dataclass(frozen=True, slots=True)
class DuplicateId:
    """DUPLICATE_ID: one entry of the duplicate cache of an address."""

    address: str
    id: bytes

    @classmethod
    def read(cls, reader: ByteReader) -> Self:
        """Decode from the reader's position."""
        return cls(reader.sstr("address"), reader.take(reader.i32("id length"), "duplicate id"))

    def write(self, out: ByteWriter) -> None:
        """Append the body in its wire format."""
        out.sstr(self.address)
        out.i32(len(self.id))
        out.raw(self.id)


@dataclass(frozen=True, slots=True)
class Xid:
    """The identifier of an XA branch."""

    format: int
    branch: bytes
    global_id: bytes

    @classmethod
    def read(cls, reader: ByteReader) -> Self:
        """Decode from the reader's position."""
        format_id = reader.i32("format id")
        branch = reader.take(reader.i32("branch length"), "branch qualifier")
        return cls(format_id, branch, reader.take(reader.i32("global id length"), "global transaction id"))

    def write(self, out: ByteWriter) -> None:
        """Append the XID in its wire format."""
        out.i32(self.format)
        for part in (self.branch, self.global_id):
            out.i32(len(part))
            out.raw(part)

    def __str__(self) -> str:
        """Return ``format:global hex:branch hex``."""
        return f"{self.format}:{self.global_id.hex()}:{self.branch.hex()}"


@dataclass(frozen=True, slots=True)
class HeuristicCompletion:
    """HEURISTIC_COMPLETION: a branch that an operator committed or rolled back."""

    xid: Xid
    committed: int

    @classmethod
    def read(cls, reader: ByteReader) -> Self:
        """Decode from the reader's position."""
        return cls(Xid.read(reader), reader.u8("committed"))

    def write(self, out: ByteWriter) -> None:
        """Append the body in its wire format."""
        self.xid.write(out)
        out.u8(self.committed)


Fixed: TypeAlias = (
    LargePending
    | QueueRef
    | DeliveryCount
    | PageTransaction
    | ScheduledDelivery
    | CursorAck
    | PageComplete
    | PendingCounter
)
Counter: TypeAlias = CounterValue | CounterIncrement
Body: TypeAlias = Fixed | Counter | DuplicateId | HeuristicCompletion
_T = TypeVar("_T", DuplicateId, HeuristicCompletion, Xid)
_F = TypeVar("_F", bound=Fixed | Counter)

FIXED: Final[dict[int, type[Fixed]]] = {
    RecordType.ADD_LARGE_MESSAGE_PENDING: LargePending,
    RecordType.ADD_REF: QueueRef,
    RecordType.ACKNOWLEDGE_REF: QueueRef,
    RecordType.UPDATE_DELIVERY_COUNT: DeliveryCount,
    RecordType.PAGE_TRANSACTION: PageTransaction,
    RecordType.SET_SCHEDULED_DELIVERY_TIME: ScheduledDelivery,
    RecordType.ACKNOWLEDGE_CURSOR: CursorAck,
    RecordType.PAGE_CURSOR_COMPLETE: PageComplete,
    RecordType.PAGE_CURSOR_PENDING_COUNTER: PendingCounter,
}
COUNTERS: Final[dict[int, type[Counter]]] = {
    RecordType.PAGE_CURSOR_COUNTER_VALUE: CounterValue,
    RecordType.PAGE_CURSOR_COUNTER_INC: CounterIncrement,
}


def decode_body(user_type: int, body: bytes) -> Body | None:
    """Decode a body. Return None for types without a decoder. Raise ``BadBody`` unless every byte is used."""
    if fixed := FIXED.get(user_type):
        return _fixed(fixed, user_type, body)
    if counter := COUNTERS.get(user_type):
        if len(body) == counter.SHORT.size:
            queue, count = counter.SHORT.unpack(body)
            return counter(queue, count, None)
        return _fixed(counter, user_type, body)
    match user_type:
        case RecordType.DUPLICATE_ID:
            return _read(DuplicateId, "duplicate id", body)
        case RecordType.HEURISTIC_COMPLETION:
            return _read(HeuristicCompletion, "heuristic completion", body)
    return None


def decode_xid(body: bytes) -> Xid:
    """Decode the XID of a PREPARE record."""
    return _read(Xid, "XID", body)


def _fixed(cls: type[_F], user_type: int, body: bytes) -> _F:
    value = cls(*cls.LAYOUT.unpack_from(body)) if len(body) >= cls.LAYOUT.size else None
    if value is None or len(body) > cls.LAYOUT.size:
        raise BadBody(f"{type_name(user_type)} record: {len(body)} bytes where {cls.LAYOUT.size} were expected", value)
    return value


def _read(cls: type[_T], name: str, body: bytes) -> _T:
    reader = ByteReader(body)
    try:
        value = cls.read(reader)
    except Undecodable as err:
        raise BadBody(f"{name}: {err}") from err
    if reader.left():
        raise BadBody(f"{name}: {reader.left()} bytes too many at offset {reader.pos}", value)
    return value


def encode_body(value: Body | Xid) -> bytes:
    """Return the bytes of a body. Raise ``BadBody`` if a field is out of range."""
    try:
        match value:
            case DuplicateId() | HeuristicCompletion() | Xid():
                out = ByteWriter()
                value.write(out)
                return bytes(out.out)
            case CounterValue() | CounterIncrement():
                if value.size is None:
                    return value.SHORT.pack(value.queue, value.count)
                return value.LAYOUT.pack(value.queue, value.count, value.size)
            case _:
                return value.LAYOUT.pack(*(getattr(value, name) for name in value.__slots__))
    except error as err:
        raise BadBody(f"{type(value).__name__}: a field is out of range: {err}") from err
