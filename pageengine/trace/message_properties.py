"""The key ``props`` of a send (docs/spec/trace-format.md 1.2): plain values, or ``{"int": 5}`` for the other types."""

from __future__ import annotations

from sys import float_info
from typing import Annotated, Any

from msgspec import Meta, ValidationError, convert, to_builtins

from pageengine.trace.operations import Int64, MessageProperties, MessageProperty
from pagefmt.codec.messages.values import ValueKind

PLAIN = {
    str: ValueKind.STRING,
    int: ValueKind.LONG,
    bool: ValueKind.BOOLEAN,
    float: ValueKind.DOUBLE,
    type(None): ValueKind.NULL,
}
_FINITE = Annotated[float, Meta(ge=-float_info.max, le=float_info.max)]
_TYPED: dict[str, Any] = {
    "byte": Annotated[int, Meta(ge=-(2**7), lt=2**7)],
    "short": Annotated[int, Meta(ge=-(2**15), lt=2**15)],
    "int": Annotated[int, Meta(ge=-(2**31), lt=2**31)],
    "float": _FINITE,
    "char": str,
    "bytes": bytes,
}
_RANGES: dict[str, Any] = {"long": Int64, "double": _FINITE, **_TYPED}


def read_properties(value: Any) -> MessageProperties:
    """Return the properties of a JSON value; raise ``ValueError``."""
    if value is None:
        return MessageProperties()
    if type(value) is not dict:
        raise ValueError("'props' must be an object")
    return MessageProperties([_property(name, item) for name, item in value.items()])


def _property(name: str, value: Any) -> MessageProperty:
    kind = PLAIN.get(type(value))
    if kind is None:
        key = next(iter(value)) if type(value) is dict and len(value) == 1 else None
        if key not in _TYPED:
            raise ValueError(
                f"property {name!r} must be text, a number, true, false, null, "
                f"or an object with one of the keys {', '.join(_TYPED)}"
            )
        kind, value = ValueKind(key), value[key]
    if kind in _RANGES:
        try:
            value = convert(float(value) if kind == "float" and type(value) is int else value, _RANGES[kind])
            ok = kind != "char" or (len(value) == 1 and value <= "\uffff")
        except (ValidationError, OverflowError):
            ok = False
        if not ok:
            raise ValueError(f"property {name!r} is not a {kind}: {value!r:.60}")
    return MessageProperty(name, kind, value)


def write_properties(props: MessageProperties) -> dict[str, Any]:
    """Return the JSON object that reads back as these properties."""
    return {item.name: to_builtins({item.type: item.value} if item.type in _TYPED else item.value) for item in props}
