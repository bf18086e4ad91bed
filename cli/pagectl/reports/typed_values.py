"""Values of AMQP messages with their types, which JSON alone does not show."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, UnsetType

from pagectl.reports.form import Report


class TypedAmqpValue(Report):
    """A value with its AMQP type."""

    type: Literal[
        "null",
        "boolean",
        "byte",
        "short",
        "int",
        "long",
        "ubyte",
        "ushort",
        "uint",
        "ulong",
        "float",
        "double",
        "char",
        "string",
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
    value: Any
    """A list of typed values for a list or an array, of pairs of them for a map; text for bytes, UUIDs and decimals."""
    bits: Annotated[str, Meta(pattern=r"^[0-9a-f]{8}([0-9a-f]{8})?$")] | UnsetType = UNSET
    """Of a float or a double: its bits, in hexadecimal."""


class DescribedValue(Report):
    """A value with the descriptor of its type."""

    descriptor: TypedAmqpValue
    described: TypedAmqpValue


_TYPED = {"$ref": "#/$defs/TypedAmqpValue"}
_PAIR = {"type": "array", "prefixItems": [_TYPED, _TYPED], "items": False, "minItems": 2}
AmqpValue: TypeAlias = Annotated[
    Any,
    Meta(
        extra_json_schema={
            "anyOf": [
                {"type": ["string", "number", "boolean", "null"]},
                {"type": "array", "items": _TYPED},
                {"type": "array", "items": _PAIR},
                {"$ref": "#/$defs/DescribedValue"},
            ]
        },
        extra={"classes": (TypedAmqpValue, DescribedValue)},
    ),
]
