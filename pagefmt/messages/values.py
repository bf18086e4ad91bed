"""A value with its type, as the broker's typed properties and AMQP know it.

``wire`` holds what Python's value cannot: the byte of a boolean, the bits of a float or double, the AMQP constructor.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
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


@dataclass(frozen=True, slots=True)
class Typed:
    """``value`` by kind: None, bool, int (numbers, char, timestamp), float, str, bytes, and tuples.

    LIST and ARRAY hold a tuple of ``Typed``, MAP a tuple of (key, value) pairs, DESCRIBED (descriptor, described);
    UUID and decimals hold their bytes.
    """

    kind: Kind
    value: Any
    wire: int = 0


@dataclass(frozen=True, slots=True)
class Property:
    name: str
    value: Typed


NULL = Typed(Kind.NULL, None)


def string(text: str) -> Typed:
    return Typed(Kind.STRING, text)


def long(number: int) -> Typed:
    return Typed(Kind.LONG, number)


def last_wins(properties: tuple[Property, ...]) -> dict[str, Typed]:
    """By name; of duplicates the last one counts, as in the broker (spec/messages.md 5)."""
    return {entry.name: entry.value for entry in properties}
