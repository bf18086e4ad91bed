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


INTEGRAL: Final = frozenset(
    (ValueKind.BOOLEAN, ValueKind.BYTE, ValueKind.SHORT, ValueKind.INT, ValueKind.LONG, ValueKind.UBYTE,
     ValueKind.USHORT, ValueKind.UINT, ValueKind.ULONG, ValueKind.CHAR, ValueKind.TIMESTAMP)
)  # fmt: skip
"""Kinds whose value is an ``int`` (or a ``bool``)."""


_HALF: Final = 1 << 63


class TypedValue(NamedTuple):
    """``value`` by kind: None, bool, int (numbers, char, timestamp), float, str, bytes, and tuples.

    LIST and ARRAY hold a tuple of ``TypedValue``, MAP a tuple of (key, value) pairs, DESCRIBED (descriptor, described);
    UUID and decimals hold their bytes.
    """

    kind: ValueKind
    value: Any
    wire: int = 0


def java_long(value: TypedValue) -> int | None:
    """A number of any type where brokers ask for a long, as Java narrows it; None: it is no number.

    Proton does not decode decimals: they count as 0.
    """
    kind, found = value.kind, value.value
    if kind in INTEGRAL and kind not in (ValueKind.BOOLEAN, ValueKind.CHAR, ValueKind.TIMESTAMP):
        return (int(found) + _HALF) % (2 * _HALF) - _HALF
    if kind in (ValueKind.FLOAT, ValueKind.DOUBLE):
        return 0 if isnan(found) else min(int(max(-_HALF, min(found, _HALF))), _HALF - 1)
    return 0 if kind in (ValueKind.DECIMAL32, ValueKind.DECIMAL64, ValueKind.DECIMAL128) else None


class Property(NamedTuple):
    """A name and its value."""

    name: str
    value: TypedValue


NULL = TypedValue(ValueKind.NULL, None)


def has_expired(expiration: int, now: int) -> bool:
    """Whether a broker takes a message for expired (times in ms): 0 is never, a time below zero is long over. The
    difference is a Java long, so that what is furthest below zero lies ahead."""
    return expiration != 0 and 0 <= now - expiration < 1 << 63


def string(text: str) -> TypedValue:
    """A string value."""
    return TypedValue(ValueKind.STRING, text)


def long(number: int) -> TypedValue:
    """A long value."""
    return TypedValue(ValueKind.LONG, number)


def last_wins(properties: tuple[Property, ...]) -> dict[str, TypedValue]:
    """By name; of duplicates the last one counts, as in the broker (docs/spec/messages.md 5)."""
    return {entry.name: entry.value for entry in properties}
