"""The JSON form of a send (docs/spec/trace-format.md 1.2), the most frequent operation: read without a loop."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

from pageengine.trace.forms import COMMON, BadValue, decoded, encoded, integer, kind_of, natural, text
from pageengine.trace.operations import MessageProperty, MessageType, PropertyKind, Send

KNOWN = COMMON | {
    "session", "address", "seq", "type", "size", "text", "body_b64", "durable", "priority", "expire_ms", "props",
}  # fmt: skip
_TYPES = {member.name.lower(): member for member in MessageType}
_SMALL = {"byte": 8, "short": 16, "int": 32}


def read_send(i: int, t: int, line: Mapping[str, Any]) -> Send:
    """The send that a JSON object stands for. Raises BadValue."""
    try:
        address, seq = line["address"], line["seq"]
    except KeyError as err:
        raise BadValue(f"{err.args[0]!r} is missing") from None
    get = line.get
    size, durable, priority = get("size", 0), get("durable", True), get("priority", 4)
    session, expire_ms, kind, props = get("session", "main"), get("expire_ms", 0), get("type"), get("props")
    if type(address) is not str or type(session) is not str:
        text("address", address)
        text("session", session)
    if type(seq) is not int or seq < 0 or seq >> 63:
        integer("seq", seq)
    if type(size) is not int or size < 0 or size >> 63:
        natural("size", size)
    if durable is not True and durable is not False:
        raise BadValue(f"'durable' must be true or false, not {kind_of(durable)}")
    if type(priority) is not int or not 0 <= priority <= 9:
        raise BadValue("'priority' must be a whole number from 0 to 9")
    if expire_ms.__class__ is not int or expire_ms < 0 or expire_ms >> 63:
        natural("expire_ms", expire_ms)
    body = _body(line) if "text" in line or "body_b64" in line else (None, None)
    return Send(
        i, t, address, seq, session,
        MessageType.BYTES if kind is None and "type" not in line else _type(kind),
        size, body[0], body[1], durable, priority, expire_ms,
        () if props is None else read_properties(props),
    )  # fmt: skip


def _type(value: Any) -> MessageType:
    found = _TYPES.get(value) if type(value) is str else None
    if found is None:
        raise BadValue(f"'type' must be one of {', '.join(_TYPES)}")
    return found


def _body(line: Mapping[str, Any]) -> tuple[str | None, bytes | None]:
    words, raw = line.get("text"), line.get("body_b64")
    if words is not None and raw is not None:
        raise BadValue("'text' and 'body_b64' exclude each other")
    return (
        None if words is None else text("text", words),
        None if raw is None else decoded("body_b64", raw),
    )


def read_properties(value: Any) -> tuple[MessageProperty, ...]:
    """``props`` as typed values, in the order of the object. Raises BadValue."""
    if type(value) is not dict:
        raise BadValue(f"'props' must be an object, not {kind_of(value)}")
    return tuple([_property(name, one) for name, one in value.items()])


def _property(name: str, value: Any) -> MessageProperty:
    kind = type(value)
    if kind is str:
        return MessageProperty(name, PropertyKind.STRING, value)
    if kind is int:
        return MessageProperty(name, PropertyKind.LONG, integer(name, value))
    if kind is bool:
        return MessageProperty(name, PropertyKind.BOOLEAN, value)
    if kind is float:
        return MessageProperty(name, PropertyKind.DOUBLE, _finite(name, value))
    if value is None:
        return MessageProperty(name, PropertyKind.NULL, None)
    if kind is dict and len(value) == 1:
        return _typed(name, *next(iter(value.items())))
    raise BadValue(f"property {name!r} must be a plain value or an object of one type and its value")


def _typed(name: str, kind: str, value: Any) -> MessageProperty:
    if kind in _SMALL:
        bits = _SMALL[kind]
        if not -(1 << (bits - 1)) <= integer(name, value) < 1 << (bits - 1):
            raise BadValue(f"property {name!r} does not fit into {bits} bits")
        return MessageProperty(name, PropertyKind[kind.upper()], value)
    if kind == "float":
        if type(value) not in (int, float):
            raise BadValue(f"property {name!r} must be a number, not {kind_of(value)}")
        return MessageProperty(name, PropertyKind.FLOAT, _finite(name, value))
    if kind == "char":
        if len(text(name, value)) != 1 or ord(value) > 0xFFFF:
            raise BadValue(f"property {name!r} must be one UTF-16 unit")
        return MessageProperty(name, PropertyKind.CHAR, value)
    if kind == "bytes":
        return MessageProperty(name, PropertyKind.BYTES, decoded(name, value))
    raise BadValue(f"property {name!r} is of the unknown type {kind!r}")


def _finite(name: str, value: float) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = inf
    if number in (inf, -inf):
        raise BadValue(f"property {name!r} is too large for a floating-point number")
    return number


def write_send(send: Send) -> dict[str, Any]:
    """The shortest JSON object that reads back as this send."""
    line: dict[str, Any] = {"session": send.session, "address": send.address, "seq": send.seq}
    if send.type is not MessageType.BYTES:
        line["type"] = send.type.name.lower()
    if send.size:
        line["size"] = send.size
    if send.text is not None:
        line["text"] = send.text
    if send.body is not None:
        line["body_b64"] = encoded(send.body)
    if not send.durable:
        line["durable"] = False
    if send.priority != 4:
        line["priority"] = send.priority
    if send.expire_ms:
        line["expire_ms"] = send.expire_ms
    if send.props:
        line["props"] = write_properties(send.props)
    return line


def write_properties(props: tuple[MessageProperty, ...]) -> dict[str, Any]:
    """The JSON object ``props``."""
    return {one.name: _property_value(one) for one in props}


def _property_value(one: MessageProperty) -> Any:
    if one.type in (
        PropertyKind.INT,
        PropertyKind.SHORT,
        PropertyKind.BYTE,
        PropertyKind.FLOAT,
        PropertyKind.CHAR,
    ):
        return {one.type.name.lower(): one.value}
    if one.type is PropertyKind.BYTES:
        assert isinstance(one.value, bytes)
        return {"bytes": encoded(one.value)}
    return one.value
