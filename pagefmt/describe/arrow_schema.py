"""The one table of messages: a row per record, the same for Arrow, Parquet and Spark.

Text is UTF-8; a lone surrogate (legal in Java strings) is U+FFFD here. Times are milliseconds since 1970-01-01 UTC, 0
where the broker stores 0. Documented column by column in ``docs/message-table.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any, Final

import pyarrow as pa

from pagefmt.describe.message_json import MESSAGE_KEYS
from pagefmt.describe.message_line import column_types
from pagefmt.storage.files import utf8_name

STRING: Final = pa.string()
BINARY: Final = pa.binary()
LONGS: Final = pa.list_(pa.int64())

VALUE: Final = pa.struct(
    [
        pa.field("type", STRING),  # the type's name in the wire format; never null
        pa.field("long", pa.int64()),  # boolean (0, 1), integers, char, timestamp
        pa.field("double", pa.float64()),  # float and double
        pa.field("string", STRING),  # string, symbol, uuid, decimals, ulong above 2^63-1
        pa.field("bytes", BINARY),
        pa.field("json", STRING),  # list, map, described: the typed values as JSON
    ]
)
PROPERTIES: Final = pa.map_(STRING, VALUE)

AMQP_HEADER: Final = pa.struct(
    [
        pa.field("durable", pa.bool_()),
        pa.field("priority", pa.int16()),
        pa.field("ttl", pa.int64()),
        pa.field("first_acquirer", pa.bool_()),
        pa.field("delivery_count", pa.int64()),
    ]
)
AMQP_PROPERTIES: Final = pa.struct(
    [
        pa.field("message_id", STRING),
        pa.field("message_id_type", STRING),
        pa.field("user_id", BINARY),
        pa.field("to", STRING),
        pa.field("subject", STRING),
        pa.field("reply_to", STRING),
        pa.field("correlation_id", STRING),
        pa.field("correlation_id_type", STRING),
        pa.field("content_type", STRING),
        pa.field("content_encoding", STRING),
        pa.field("absolute_expiry_time", pa.int64()),
        pa.field("creation_time", pa.int64()),
        pa.field("group_id", STRING),
        pa.field("group_sequence", pa.int64()),
        pa.field("reply_to_group_id", STRING),
    ]
)
AMQP: Final = pa.struct(
    [
        pa.field("message_format", pa.int64()),
        pa.field("encoded_size", pa.int64()),
        pa.field("header", AMQP_HEADER),
        pa.field("delivery_annotations", PROPERTIES),
        pa.field("message_annotations", PROPERTIES),
        pa.field("properties", AMQP_PROPERTIES),
        pa.field("footer", PROPERTIES),
        pa.field("extra_properties", PROPERTIES),
    ]
)

# columns that JSON Lines have as well: their types are those of the class of lines
_PLAIN: Final = {
    name: pa.field(name, pa.type_for_alias(kind.arrow), kind.nullable) for name, kind in column_types().items()
}
FRAME_FIELDS: Final = tuple(_PLAIN[name].with_nullable(False) for name in ("page", "number", "offset", "length"))
HEADER_FIELDS: Final = (
    _PLAIN["tx"],
    pa.field("queues", LONGS, nullable=False),
    *(_PLAIN[name] for name in MESSAGE_KEYS if name in _PLAIN),
    _PLAIN["body_size"],
)
PROPERTY_FIELDS: Final = (pa.field("properties", PROPERTIES), pa.field("amqp", AMQP))
TEXT_FIELDS: Final = (_PLAIN["body_text"],)
BODY_FIELDS: Final = (pa.field("body", BINARY),)


class Detail(IntEnum):
    """How much of each message is wanted; each level holds the ones before.

    TIMES: what counts of queues need, which is cheap: no text is built.
    STRINGS: ``body_text`` of those bodies alone that say that they are text.
    """

    COUNT = 0
    TIMES = 1
    HEADERS = 2
    PROPERTIES = 3
    STRINGS = 4
    TEXTS = 5
    BODIES = 6


_TIMES: Final = {"tx", "queues", "protocol", "id", "timestamp", "large"}

FIELDS: Final = {
    Detail.COUNT: FRAME_FIELDS,
    Detail.TIMES: FRAME_FIELDS + tuple(field for field in HEADER_FIELDS if field.name in _TIMES),
    Detail.HEADERS: FRAME_FIELDS + HEADER_FIELDS,
    Detail.PROPERTIES: FRAME_FIELDS + HEADER_FIELDS + PROPERTY_FIELDS,
    Detail.STRINGS: FRAME_FIELDS + HEADER_FIELDS + PROPERTY_FIELDS + TEXT_FIELDS,
    Detail.TEXTS: FRAME_FIELDS + HEADER_FIELDS + PROPERTY_FIELDS + TEXT_FIELDS,
    Detail.BODIES: FRAME_FIELDS + HEADER_FIELDS + PROPERTY_FIELDS + TEXT_FIELDS + BODY_FIELDS,
}


def schema(level: Detail) -> pa.Schema:
    """Return the columns of a level, in order."""
    return pa.schema(FIELDS[level])


def utf8_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row with lone surrogates (of file names) replaced in texts, also within lists and structs."""
    return {key: _utf8(value) for key, value in row.items()}


def _utf8(value: Any) -> Any:
    if isinstance(value, str):
        return utf8_name(value)
    if isinstance(value, list):
        return [_utf8(item) for item in value]
    return utf8_row(value) if isinstance(value, Mapping) else value


def names_array(names: Iterable[str | None]) -> pa.StringArray:
    """Return the names as an Arrow column, with lone surrogates replaced."""
    return pa.array([None if name is None else utf8_name(name) for name in names], STRING)
