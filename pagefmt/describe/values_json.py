"""Typed values as JSON: ``{"type": T, "value": V}`` (and ``"bits"`` of a float or double).

Numbers are exact, bytes are lower-case hex, maps are arrays of pairs in wire order, property maps are sorted by name
in UTF-16 order. A float is written with the fewest digits that lead back to the same bits. The properties of a message
are two objects by name: their values, and the types that JSON does not show.
"""

from __future__ import annotations

import math
from struct import pack, unpack
from typing import Any, Final, TypeAlias

from pagefmt.describe.decimal_text import decimal_text
from pagefmt.messages.amqp_text import binary_text, uuid_text
from pagefmt.messages.values import TypedValue, ValueKind

Json: TypeAlias = dict[str, Any]

SHOWN_TYPES: Final = frozenset((ValueKind.STRING, ValueKind.BOOLEAN, ValueKind.INT, ValueKind.NULL))
"""Types that a reader takes from the JSON value alone; ``property_types`` names all others."""


def typed_json(typed: TypedValue) -> Json:
    """The object of a value."""
    fields: Json = {"type": typed.kind.value, "value": plain_value(typed)}
    if typed.kind is ValueKind.FLOAT:
        fields["bits"] = f"{typed.wire:08x}"
    elif typed.kind is ValueKind.DOUBLE:
        fields["bits"] = f"{typed.wire:016x}"
    return fields


def plain_value(typed: TypedValue) -> Any:
    """What stands under ``value``."""
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
    """A repeated key keeps its first place and its last value, as in the broker's maps."""
    found: dict[Any, tuple[TypedValue, TypedValue]] = {}
    for key, value in pairs:
        identity = (key.kind, key.value)
        found[identity] = (found[identity][0] if identity in found else key, value)
    return list(found.values())


def special_json(value: float) -> str:
    """Infinities and NaN, which JSON has no numbers for."""
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def float_json(value: float) -> float | str:
    """A single-precision number with the fewest digits, but no fewer than two (so that the smallest is 1.4e-45)."""
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
    """The properties as objects, sorted by name."""
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
    """An AMQP map as a property map: keys as text, of equal ones the last wins."""
    if section is None or section.kind is not ValueKind.MAP:
        return None
    return property_map_json({key_text(key): value for key, value in section.value})


def key_text(typed: TypedValue) -> str:
    """A map key as the text that names the entry."""
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
