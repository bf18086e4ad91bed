"""A message as a line of JSON, and what the columns of its table have in common with it.

The classes say what ``message_json`` builds and the vectors write; tests compare both with them. A field that is a
column of the Arrow table as well names the column's type (``arrow_type``).
"""

from __future__ import annotations

from operator import methodcaller
from types import new_class
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, get_args, get_type_hints

from msgspec import UNSET, Meta, UnsetType

from pagefmt.describe.json_object import Count, Either, JsonObject

Sha256: TypeAlias = Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
Hex: TypeAlias = Annotated[str, Meta(pattern="^([0-9a-f]{2})*$")]
Bits: TypeAlias = Annotated[str, Meta(pattern="^[0-9a-f]{8}([0-9a-f]{8})?$")]
Base64: TypeAlias = Annotated[str, Meta(extra_json_schema={"contentEncoding": "base64"})]
# integers as wide as the wire format has them
Byte: TypeAlias = Annotated[int, Meta(extra={"arrow": "int8"})]
Int: TypeAlias = Annotated[int, Meta(extra={"arrow": "int32"})]
IntCount: TypeAlias = Annotated[int, Meta(ge=0, extra={"arrow": "int32"})]
Long: TypeAlias = Annotated[int, Meta(extra={"arrow": "int64"})]
LongCount: TypeAlias = Annotated[int, Meta(ge=0, extra={"arrow": "int64"})]
Text: TypeAlias = Annotated[str, Meta(extra={"arrow": "string"})]
Flag: TypeAlias = Annotated[bool, Meta(extra={"arrow": "bool"})]


class IntegerObject(JsonObject):
    """An integer, character or time with its type in the wire format."""

    type: Literal["byte", "short", "int", "long", "ubyte", "ushort", "uint", "ulong", "char", "timestamp"]
    value: int


class TextObject(JsonObject):
    """A text, or a value that is shown as text, with its type; bytes are hexadecimal."""

    type: Literal["string", "bytes", "symbol", "uuid", "decimal32", "decimal64", "decimal128"]
    value: str


class NullObject(JsonObject):
    """Null."""

    type: Literal["null"]
    value: None


class BooleanObject(JsonObject):
    """A boolean."""

    type: Literal["boolean"]
    value: bool


class RealObject(JsonObject):
    """A number with a fraction."""

    type: Literal["float", "double"]
    value: float | Literal["NaN", "Infinity", "-Infinity"]
    bits: Bits
    """The bits of the number in hexadecimal: exact, where the decimal digits need not be."""


class ListObject(JsonObject):
    """A list or an array."""

    type: Literal["list", "array"]
    value: list[ValueObject]


class MapObject(JsonObject):
    """A map as pairs in the order of the wire format."""

    type: Literal["map"]
    value: list[tuple[ValueObject, ValueObject]]


class Description(JsonObject):
    """A descriptor and the value that it describes."""

    descriptor: ValueObject
    described: ValueObject


class DescribedObject(JsonObject):
    """A described value of AMQP."""

    type: Literal["described"]
    value: Description


_VALUES = (
    IntegerObject, TextObject, NullObject, BooleanObject, RealObject, ListObject, MapObject, DescribedObject,
)  # fmt: skip


def _with(key: str, kind: Any, prefix: str) -> tuple[type[JsonObject], ...]:
    """Return the classes of values with one more key."""
    classes = []
    for value_class in _VALUES:
        fields = {"__annotations__": {key: kind}, "__doc__": value_class.__doc__, "__module__": __name__}
        classes.append(new_class(f"{prefix}{value_class.__name__}", (value_class,), {}, methodcaller("update", fields)))
    return tuple(classes)


_NAMED = _with("name", str, "Named")
_BODIES = _with("kind", Literal["value"], "Body")
_TYPED = [{"$ref": f"#/$defs/{each.__name__}"} for each in _VALUES]
_PAIR = {"type": "array", "prefixItems": [{"oneOf": _TYPED}] * 2, "items": False, "minItems": 2}
ValueObject: TypeAlias = Either[_VALUES]  # type: ignore[valid-type]
EntryObject: TypeAlias = Either[_NAMED]  # type: ignore[valid-type]
ItemObject: TypeAlias = Annotated[Any, Meta(extra_json_schema={"oneOf": [*_TYPED, _PAIR]}, extra={"classes": _VALUES})]
PlainValue: TypeAlias = str | int | float | bool | Description | list[ItemObject] | None
HiddenType: TypeAlias = Literal[
    "byte",
    "short",
    "long",
    "ubyte",
    "ushort",
    "uint",
    "ulong",
    "float",
    "double",
    "char",
    "bytes",
    "symbol",
    "uuid",
    "timestamp",
    "decimal32",
    "decimal64",
    "decimal128",
    "list",
    "map",
    "array",
    "described",
]


class AmqpHeaderFields(JsonObject):
    """The header section of an AMQP message."""

    durable: bool | None
    priority: Count | None
    ttl: Count | None
    """Milliseconds."""
    first_acquirer: bool | None
    delivery_count: Count | None


class AmqpPropertyFields(JsonObject):
    """The properties section of an AMQP message."""

    message_id: ValueObject | None
    user_id: ValueObject | None
    to: ValueObject | None
    subject: ValueObject | None
    reply_to: ValueObject | None
    correlation_id: ValueObject | None
    content_type: ValueObject | None
    content_encoding: ValueObject | None
    absolute_expiry_time: ValueObject | None
    creation_time: ValueObject | None
    group_id: ValueObject | None
    group_sequence: ValueObject | None
    reply_to_group_id: ValueObject | None


class SummedBody(JsonObject):
    """A body section by its size and sum."""

    kind: Literal["data", "sequence", "value"]
    size: Count
    sha256: Sha256


class SequenceBody(JsonObject):
    """A body section that is a sequence of values."""

    kind: Literal["sequence"]
    value: PlainValue


class AmqpObject(JsonObject):
    """The sections of an AMQP message, and what the broker keeps beside them."""

    message_format: int
    encoded_size: Count | None
    """Bytes of the encoded message; null if it is a file."""
    encoded_sha256: Sha256 | None
    header: AmqpHeaderFields | None
    delivery_annotations: list[EntryObject] | None
    message_annotations: list[EntryObject] | None
    properties: AmqpPropertyFields | None
    application_properties: list[EntryObject] | None
    footer: list[EntryObject] | None
    body: list[Either[(SummedBody, SequenceBody, *_BODIES)]] | None  # type: ignore[valid-type]
    extra_properties: dict[str, PlainValue] | None
    extra_property_types: dict[str, HiddenType] | None


class RecordDamage(JsonObject):
    """Why facts are null: the broker delivers the record, but not all of its bytes are understood."""

    kind: Literal["undecodable", "swallowed"]
    offset: Count
    detail: str


class QueueStateObject(JsonObject):
    """How a message stands with a queue."""

    state: Literal[
        "due", "scheduled", "in-doubt", "acknowledged", "waiting", "expired", "moved", "removed", "rolled-back",
        "unknown",
    ]  # fmt: skip
    """The first four of a message that is there now, and ``acknowledged`` and the others of one in a history."""
    delivery_count: Count
    scheduled: int | None
    """Delivery time (ms), or null."""
    why: str | UnsetType = UNSET
    """What more is known of the state, in a history."""


class NoQueueState(JsonObject):
    """Why a message stands in no state with a queue."""

    state: None
    delivery_count: Count
    scheduled: int | None
    why: str


class _Routing(JsonObject):
    tx: Long
    """Transaction of the page record, -1 without one."""
    queues: list[int]
    """Ids of the queues that the message was routed to, as the record has them."""
    large_type: Byte
    """As stored."""
    persister: Byte | None
    """As stored; null where the format has none."""
    id: Long
    """Id of the message."""
    user_id: Text | None
    """Id that the client set."""
    address: Text | None
    """Address that it was sent to."""
    type: Byte | None
    """Type of a core message; null for AMQP."""
    type_name: Text | None
    """Name of the type; null for AMQP."""
    large_id: int | None
    large_file: str | None
    large_size: int | None
    """Bytes of a large body as its message has them."""
    acked_by: list[int] | UnsetType = UNSET
    """Ids of the queues that have acknowledged the message."""
    body_size: LongCount | UnsetType | None = UNSET
    """Bytes of a core body; null for AMQP and large messages."""
    body_sha256: Sha256 | UnsetType | None = UNSET
    body_text: Text | UnsetType | None = UNSET
    """Text of core text messages and AMQP string values, and of bytes and AMQP data that are valid UTF-8."""
    body_value: list[Either[*_VALUES, *_NAMED]] | UnsetType | None = UNSET  # type: ignore[valid-type]
    """Entries of map and stream bodies."""
    body_base64: Base64 | UnsetType | None = UNSET
    body_hex: Hex | UnsetType | None = UNSET
    body_error: str | UnsetType = UNSET
    """Why the body is not shown as asked."""
    amqp: AmqpObject | UnsetType = UNSET
    """Sections of an AMQP message."""


class MessageFacts(_Routing):
    """What a message has wherever it is stored."""

    protocol: Annotated[Literal["core", "amqp"], Meta(extra={"arrow": "string"})]
    """core (also of JMS, STOMP, MQTT and OpenWire) or amqp."""
    durable: Flag
    """Whether it survives a restart of the broker."""
    priority: Byte
    """From 0, the lowest, to 9."""
    timestamp: Long
    """Time (ms) that it was sent, or 0."""
    expiration: Long
    """Time (ms) that it expires, or 0."""
    large: Flag
    """Whether its body is a file."""
    properties: dict[str, PlainValue]
    """Application properties as the broker delivers them."""
    property_types: dict[str, HiddenType]
    """Types that the values do not show: all but string, boolean, int and null."""


class PageMessageLine(MessageFacts):
    """A message of a page file."""

    store: Text
    """Name of the folder."""
    store_address: Text | None
    """Address in the folder's address.txt."""
    page: LongCount
    """Number of the page."""
    number: IntCount | None
    """Ordinal number of the record in its page; null if the record was found after damage."""
    offset: LongCount
    """Offset of the record in its file, in bytes."""
    length: IntCount
    """Bytes of the record without its frame."""


class StoredMessageLine(MessageFacts):
    """A message of the journal or of a page file."""

    store: str | None
    """Name of the folder; this, page and number are null for messages of the journal."""
    store_address: str | None
    page: Count | None
    number: Count | None
    offset: Count
    length: Count
    where: Literal["journal", "page", "large", "history"]
    file: str | None
    not_before: str | UnsetType | None = UNSET
    """ISO time before which it was not sent, in a history; null if not known."""
    not_after: str | UnsetType | None = UNSET
    """ISO time after which it was not sent, in a history; null if not known."""
    queues_state: dict[str, Either[QueueStateObject, NoQueueState]]


def _odd(line: type[MessageFacts]) -> type[MessageFacts]:
    """Return the class of lines of messages that are not understood in full: facts may be null, and damage says why."""
    facts = get_type_hints(MessageFacts, include_extras=True)
    fields = {name: facts[name] | None for name in vars(MessageFacts)["__annotations__"]} | {"damage": RecordDamage}
    text = f"{line.__doc__} It is not understood in full: null is not known."
    body = {"__annotations__": fields, "__doc__": text, "__module__": __name__}
    return new_class(f"Odd{line.__name__}", (line,), {}, methodcaller("update", body))


OddPageMessageLine = _odd(PageMessageLine)
OddStoredMessageLine = _odd(StoredMessageLine)


class ColumnType(NamedTuple):
    """The Arrow type of a column that is a plain value, and whether it is null in rows that are not understood."""

    arrow: str
    nullable: bool


def column_types() -> dict[str, ColumnType]:
    """Return the type of each column of the message table that is a plain value, by its name."""
    hints = get_type_hints(OddPageMessageLine, include_extras=True)
    return {
        name: ColumnType(kind, type(None) in get_args(hint))
        for name, hint in hints.items()
        if (kind := _arrow_type(hint)) is not None
    }


def _arrow_type(hint: Any) -> str | None:
    for part in (hint, *getattr(hint, "__args__", ())):
        for meta in getattr(part, "__metadata__", ()):
            if meta.extra and "arrow" in meta.extra:
                return str(meta.extra["arrow"])
    return None
