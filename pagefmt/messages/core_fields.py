"""The fields of a core message, named and measured once for every reader (docs/spec/messages.md 2 to 5).

Header block, behind the body of each core message and the whole of a large one in a page:

    i64    message id
    nsstr  address
    i8     1: a user id of 16 bytes follows
    ...    ``HEADER_FIELDS``: type, durable, expiration (ms, 0 never), timestamp (ms), priority
    ...    properties block; ``PROPERTY_TYPES`` has the types of its values
"""

from __future__ import annotations

from typing import Final, NamedTuple

from pagefmt.bytes.wire import FixedFields
from pagefmt.messages.values import ValueKind

PACKET_HEADER: Final = 13
"""Bytes that the end-of-body value counts in front of the body (docs/spec/messages.md 3)."""
USER_ID_PRESENT: Final = 1
USER_ID_SIZE: Final = 16
HEADER_FIELDS: Final = FixedFields(
    ("type", "b", "message type"),
    ("durable", "B", "durable"),
    ("expiration", "q", "expiration"),
    ("timestamp", "q", "timestamp"),
    ("priority", "b", "priority"),
)
MESSAGE_TYPES: Final = {
    0: "default",
    2: "object",
    3: "text",
    4: "bytes",
    5: "map",
    6: "stream",
    7: "embedded",
    8: "large",
}
DEFAULT, TEXT, BYTES, MAP, STREAM, EMBEDDED = 0, 3, 4, 5, 6, 7


class PropertyType(NamedTuple):
    """``size``: bytes of a value; None: an i32 byte count and so many bytes, a multiple of ``unit``."""

    kind: ValueKind
    size: int | None
    unit: int = 1


PROPERTY_TYPES: Final = {
    0: PropertyType(ValueKind.NULL, 0),
    2: PropertyType(ValueKind.BOOLEAN, 1),
    3: PropertyType(ValueKind.BYTE, 1),
    4: PropertyType(ValueKind.BYTES, None),
    5: PropertyType(ValueKind.SHORT, 2),
    6: PropertyType(ValueKind.INT, 4),
    7: PropertyType(ValueKind.LONG, 8),
    8: PropertyType(ValueKind.FLOAT, 4),
    9: PropertyType(ValueKind.DOUBLE, 8),
    10: PropertyType(ValueKind.STRING, None, 2),
    11: PropertyType(ValueKind.CHAR, 2),
}
"""By the type byte in front of a property's value (docs/spec/messages.md 5)."""
