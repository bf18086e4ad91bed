"""A value with its type, as the broker's typed properties and AMQP know it.

``wire`` holds what Python's value cannot: the byte of a boolean, the bits of a float or double, the AMQP constructor.
"""

from __future__ import annotations

from enum import StrEnum
from math import isnan
from typing import Any, Final, NamedTuple


class ValueKind(StrEnum):
    """The name is the public one (JSON ``type``)."""

    NULL = "null"
    BOOLEAN = "boolean"
    BYTE = "byte"
    SHORT = "short"
    INT = "int"
    LONG = "long"
    UBYTE = "ubyte"
    USHORT = "ushort"
    UINT = "uint"
    ULONG = "ulong"
    FLOAT = "float"
    DOUBLE = "double"
    CHAR = "char"
    STRING = "string"
    BYTES = "bytes"
    SYMBOL = "symbol"
    UUID = "uuid"
    TIMESTAMP = "timestamp"
    DECIMAL32 = "decimal32"
    DECIMAL64 = "decimal64"
    DECIMAL128 = "decimal128"
    LIST = "list"
    MAP = "map"
    ARRAY = "array"
    DESCRIBED = "described"


# Kinds whose value is an ``int`` (or a ``bool``).
INTEGRAL: Final = frozenset(
    (
        ValueKind.BOOLEAN,
        ValueKind.BYTE,
        ValueKind.SHORT,
        ValueKind.INT,
        ValueKind.LONG,
        ValueKind.UBYTE,
        ValueKind.USHORT,
        ValueKind.UINT,
        ValueKind.ULONG,
        ValueKind.CHAR,
        ValueKind.TIMESTAMP,
    )
)


_HALF: Final = 1 << 63


class TypedValue(NamedTuple):
    """A value with its type and encoding.

    ``value`` by kind: None, bool, int (numbers, char, timestamp), float, str, bytes, and tuples.

    LIST and ARRAY hold a tuple of ``TypedValue``, MAP a tuple of (key, value) pairs, DESCRIBED (descriptor, described);
    UUID and decimals hold their bytes.
    """

    kind: ValueKind
    value: Any
    wire: int = 0


def java_long(value: TypedValue) -> int | None:
    """Convert a number of any type as brokers do where they expect a long (Java narrowing).

    Return None for other types.

    Proton does not decode decimals: they count as 0.
    """
    kind, number = value.kind, value.value
    if kind in INTEGRAL and kind not in (ValueKind.BOOLEAN, ValueKind.CHAR, ValueKind.TIMESTAMP):
        return (int(number) + _HALF) % (2 * _HALF) - _HALF
    if kind in (ValueKind.FLOAT, ValueKind.DOUBLE):
        return 0 if isnan(number) else min(int(max(-_HALF, min(number, _HALF))), _HALF - 1)
    return 0 if kind in (ValueKind.DECIMAL32, ValueKind.DECIMAL64, ValueKind.DECIMAL128) else None


class Property(NamedTuple):
    """A property's name and value."""

    name: str
    value: TypedValue


NULL = TypedValue(ValueKind.NULL, None)


def has_expired(expiration: int, now: int) -> bool:
    """Return whether a broker treats a message as expired.

    Times are in ms; 0 never expires, negative times have passed.

    The difference is a Java long: it overflows for the most negative times, which therefore lie in the future.
    """
    return expiration != 0 and 0 <= now - expiration < 1 << 63


def string(text: str) -> TypedValue:
    """Return the text as a value of kind STRING."""
    return TypedValue(ValueKind.STRING, text)


def long(number: int) -> TypedValue:
    """Return the number as a value of kind LONG."""
    return TypedValue(ValueKind.LONG, number)


def last_wins(properties: tuple[Property, ...]) -> dict[str, TypedValue]:
    """Return the properties by name; of duplicates the last one counts, as in the broker (docs/spec/messages.md 5)."""
    return {entry.name: entry.value for entry in properties}
