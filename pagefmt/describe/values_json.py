"""Typed values as JSON: ``{"type": T, "value": V}`` (and ``"bits"`` of a float or double).

Numbers are exact, bytes are lower-case hex, maps are arrays of pairs in wire order, property maps are sorted by name
in UTF-16 order. A float is written with the fewest digits that lead back to the same bits. The properties of a message
are two objects by name: their values, and the types that JSON does not show.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from struct import pack, unpack
from typing import Any, Final, TypeAlias

from pagefmt.codec.messages.amqp_text import binary_text, uuid_text
from pagefmt.codec.messages.values import TypedValue, ValueKind
from pagefmt.describe.decimal_text import decimal_text

Json: TypeAlias = dict[str, Any]
# a function that writes a value as JSON
Quote: TypeAlias = Callable[[object], str]

# types that are evident from the JSON value; ``property_types`` names all others
SHOWN_TYPES: Final = frozenset((ValueKind.STRING, ValueKind.BOOLEAN, ValueKind.INT, ValueKind.NULL))


def typed_json(typed: TypedValue) -> Json:
    """Return the object of a value: its type, the value, and the bits of floating-point numbers."""
    fields: Json = {"type": typed.kind.value, "value": plain_value(typed)}
    if typed.kind is ValueKind.FLOAT:
        fields["bits"] = f"{typed.wire:08x}"
    elif typed.kind is ValueKind.DOUBLE:
        fields["bits"] = f"{typed.wire:016x}"
    return fields


def plain_value(typed: TypedValue) -> Any:
    """Return what is shown under ``value``."""
    value = typed.value
    match typed.kind:
        case ValueKind.BYTES:
            return value.hex()
        case ValueKind.FLOAT:
            return float_json(value)
        case ValueKind.DOUBLE:
            return value if math.isfinite(value) else special_json(value)
        case ValueKind.CHAR:
            return value & 0xFFFF
        case ValueKind.UUID:
            return uuid_text(value)
        case ValueKind.DECIMAL32 | ValueKind.DECIMAL64 | ValueKind.DECIMAL128:
            return decimal_text(value)
        case ValueKind.LIST | ValueKind.ARRAY:
            return [typed_json(item) for item in value]
        case ValueKind.MAP:
            return [[typed_json(key), typed_json(item)] for key, item in _last_by_key(value)]
        case ValueKind.DESCRIBED:
            return {"descriptor": typed_json(value[0]), "described": typed_json(value[1])}
        case _:
            return value


def _last_by_key(pairs: tuple[tuple[TypedValue, TypedValue], ...]) -> list[tuple[TypedValue, TypedValue]]:
    """Return the pairs without repeated keys. A key keeps its first position and last value, as in brokers' maps."""
    by_identity: dict[Any, tuple[TypedValue, TypedValue]] = {}
    for key, value in pairs:
        identity = (key.kind, key.value)
        by_identity[identity] = (by_identity[identity][0] if identity in by_identity else key, value)
    return list(by_identity.values())


def special_json(value: float) -> str:
    """Return infinity or NaN, for which JSON has no numbers, as text."""
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def float_json(value: float) -> float | str:
    """Return a single-precision number with the fewest digits, at least two, so that the smallest is 1.4e-45.

    Infinity and NaN become text.
    """
    if not math.isfinite(value):
        return special_json(value)
    for digits in range(2, 9):
        short = float(f"{value:.{digits}g}")
        if math.isfinite(short) and abs(short) <= 3.4028235e38 and unpack(">f", pack(">f", short))[0] == value:
            return short
    return float(f"{value:.9g}")


def utf16_order(name: str) -> bytes:
    """Sort key: the order of UTF-16 code units."""
    return name.encode("utf-16-be", "surrogatepass")


def property_map_json(properties: dict[str, TypedValue]) -> list[Json]:
    """Return the properties as objects, sorted by name."""
    return [{"name": name} | typed_json(properties[name]) for name in sorted(properties, key=utf16_order)]


def property_values_json(properties: dict[str, TypedValue]) -> Json:
    """Return the plain values by name, in the order of ``property_map_json``."""
    return {name: plain_value(properties[name]) for name in sorted(properties, key=utf16_order)}


def property_types_json(properties: dict[str, TypedValue]) -> dict[str, str]:
    """Return the types that the values of ``property_values_json`` do not show, by name, in the same order."""
    return {
        name: str(properties[name].kind)
        for name in sorted(properties, key=utf16_order)
        if properties[name].kind not in SHOWN_TYPES
    }


def annotations_json(section: TypedValue | None) -> list[Json] | None:
    """Return an AMQP map as a property map, with keys as text; the last of equal keys wins. None if it is no map."""
    if section is None or section.kind is not ValueKind.MAP:
        return None
    return property_map_json({key_text(key): value for key, value in section.value})


def key_text(typed: TypedValue) -> str:
    """Return a map key as the text that names the entry."""
    match typed.kind:
        case ValueKind.STRING | ValueKind.SYMBOL:
            return str(typed.value)
        case ValueKind.NULL:
            return "null"
        case ValueKind.BOOLEAN:
            return "true" if typed.value else "false"
        case ValueKind.BYTES:
            return binary_text(typed.value)
        case ValueKind.CHAR:
            return chr(typed.value & 0xFFFF)
        case _:
            return str(plain_value(typed))
