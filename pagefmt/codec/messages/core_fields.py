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

from pagefmt.codec.messages.values import ValueKind
from pagefmt.codec.wire import FixedFields

# Bytes before the body that the end-of-body value counts (docs/spec/messages.md 3).
PACKET_HEADER: Final = 13
USER_ID_PRESENT: Final = 1
USER_ID_SIZE: Final = 16
HEADER_FIELDS: Final = FixedFields(
    ("type", "b", "message type"),
    ("durable", "B", "durable"),
    ("expiration", "q", "expiration"),
    ("timestamp", "q", "timestamp"),
    ("priority", "b", "priority"),
)
DEFAULT, OBJECT, TEXT, BYTES, MAP, STREAM, EMBEDDED, LARGE = 0, 2, 3, 4, 5, 6, 7, 8
MESSAGE_TYPES: Final = {
    DEFAULT: "default", OBJECT: "object", TEXT: "text", BYTES: "bytes", MAP: "map", STREAM: "stream",
    EMBEDDED: "embedded", LARGE: "large",
}  # fmt: skip


class PropertyType(NamedTuple):
    """The wire format of a property type.

    ``size``: bytes of a value; None: an i32 byte count and so many bytes, a multiple of ``unit``.
    """

    kind: ValueKind
    size: int | None
    unit: int = 1


# By the type byte before a property's value (docs/spec/messages.md 5).
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
# The type byte of each kind of value that a property may have.
PROPERTY_CODES: Final = {form.kind: code for code, form in PROPERTY_TYPES.items()}
