"""The JSON form of each operation (docs/spec/trace-format.md 1.2): checked on the way in, shortest on the way out.

A form is the list of an operation's keys; the sends, most of any trace, have a file of their own (``send_form``).
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from enum import Enum
from typing import Any, cast

from pageengine.trace import operations as ops

_KINDS: dict[type[object], str] = {
    type(None): "null",
    bool: "true or false",
    int: "a whole number",
    float: "a number with a fraction",
    str: "text",
    list: "a list",
}
LOWEST, HIGHEST = -(2**63), 2**63 - 1
COMMON = frozenset({"op", "t", "note"})


class BadValue(Exception):
    """A key of an operation that is missing or of the wrong type; the text says which and how."""


Convert = Callable[[str, Any], Any]


@dataclass(frozen=True, slots=True)
class OperationKey:
    """One key: how its value is read, and how it is written when it is not the default."""

    name: str
    read: Convert
    write: Callable[[Any], Any] = lambda value: value


@dataclass(frozen=True, slots=True)
class OperationForm:
    """Keys of one operation. ``required`` and ``none`` (null stands for absent) follow from the dataclass."""

    cls: type[Any]
    keys: tuple[OperationKey, ...]
    required: frozenset[str]
    nullable: frozenset[str]
    known: frozenset[str]
    defaults: Mapping[str, Any]


def kind_of(value: object) -> str:
    """What a JSON value is, for a message to a person."""
    return _KINDS.get(type(value), "an object")


def text(name: str, value: Any) -> str:
    """The value if it is text. Raises BadValue, as all of these readers do."""
    if type(value) is not str:
        raise BadValue(f"{name!r} must be text, not {kind_of(value)}")
    return value


def integer(name: str, value: Any) -> int:
    """The value if it is a whole number of 64 bits."""
    if type(value) is not int:
        raise BadValue(f"{name!r} must be a whole number, not {kind_of(value)}")
    if not LOWEST <= value <= HIGHEST:
        raise BadValue(f"{name!r} does not fit into 64 bits")
    return value


def natural(name: str, value: Any) -> int:
    """The value if it is a whole number of 64 bits, 0 or more."""
    if integer(name, value) < 0:
        raise BadValue(f"{name!r} must not be negative")
    return cast(int, value)


def boolean(name: str, value: Any) -> bool:
    """The value if it is true or false."""
    if type(value) is not bool:
        raise BadValue(f"{name!r} must be true or false, not {kind_of(value)}")
    return value


def one_of(kind: type[Enum]) -> Convert:
    """A reader of the values of an enum."""
    by_value = {member.value: member for member in kind}

    def read(name: str, value: Any) -> Enum:
        member = by_value.get(value) if type(value) is str else None
        if member is None:
            raise BadValue(f"{name!r} must be one of {', '.join(by_value)}")
        return member

    return read


def decoded(name: str, value: Any) -> bytes:
    """Base64 as JSON carries it."""
    try:
        return base64.b64decode(text(name, value), validate=True)
    except (binascii.Error, ValueError) as err:
        raise BadValue(f"{name!r} is not base64") from err


def encoded(value: bytes) -> str:
    """Bytes as base64."""
    return base64.b64encode(value).decode("ascii")


def _routings(name: str, value: Any) -> tuple[ops.RoutingType, ...]:
    values = value if isinstance(value, list) else [value]
    if not values:
        raise BadValue(f"{name!r} must name anycast, multicast or both")
    return tuple(_routing(name, one) for one in values)


def _routings_out(value: tuple[ops.RoutingType, ...]) -> Any:
    return value[0].value if len(value) == 1 else [one.value for one in value]


def _seqs(name: str, value: Any) -> tuple[int, ...]:
    return tuple(integer(name, one) for one in value) if isinstance(value, list) else (integer(name, value),)


def _seqs_out(value: tuple[int, ...]) -> Any:
    return value[0] if len(value) == 1 else list(value)


_routing = one_of(ops.RoutingType)


def _of_enum(value: Enum) -> Any:
    return value.value


def _key(name: str, read: Convert = text) -> OperationKey:
    return OperationKey(name, read)


def _choice(name: str, kind: type[Enum]) -> OperationKey:
    return OperationKey(name, one_of(kind), _of_enum)


def _form(cls: type[Any], *keys: OperationKey, optional: tuple[str, ...] = ()) -> OperationForm:
    defaults = {one.name: one.default for one in fields(cls) if one.default is not MISSING}
    absent = {key.name for key in keys if key.name in defaults or key.name == "seq"} | set(optional)
    return OperationForm(
        cls,
        keys,
        required=frozenset(key.name for key in keys) - absent,
        nullable=frozenset(name for name, value in defaults.items() if value is None),
        known=COMMON | {key.name for key in keys},
        defaults=defaults,
    )


_TRANSACTION = (_key("session"), _key("xid"))
_END = (*_TRANSACTION, _key("one_phase", boolean), _key("active", boolean))

FORMS: dict[str, OperationForm] = {
    form.cls.op: form
    for form in (
        _form(ops.CreateAddress, _key("address"), OperationKey("routing", _routings, _routings_out)),
        _form(ops.DeleteAddress, _key("address")),
        _form(
            ops.CreateQueue,
            _key("queue"),
            _key("address"),
            _choice("routing", ops.RoutingType),
            _key("filter"),
            _key("durable", boolean),
            _key("max_consumers", integer),
            _key("purge_on_no_consumers", boolean),
            _key("exclusive", boolean),
            _key("auto_delete", boolean),
            optional=("address",),
        ),
        _form(ops.DeleteQueue, _key("queue")),
        _form(
            ops.OpenSession, _key("session"), _choice("kind", ops.SessionKind), _choice("protocol", ops.ClientProtocol)
        ),
        _form(ops.CloseSession, _key("session")),
        _form(ops.Begin, *_TRANSACTION),
        _form(ops.Prepare, *_TRANSACTION),
        _form(ops.Commit, *_END),
        _form(ops.Rollback, *_END),
        _form(
            ops.OpenConsumer,
            _key("consumer"),
            _key("queue"),
            _key("session"),
            _key("selector"),
            _key("window", integer),
            optional=("session",),
        ),
        _form(ops.Receive, _key("consumer"), _key("max", natural), _choice("ack", ops.ReceiveAck)),
        _form(ops.Ack, _key("consumer"), _choice("mode", ops.AckMode), OperationKey("seq", _seqs, _seqs_out)),
        _form(ops.CloseConsumer, _key("consumer")),
        _form(ops.Browse, _key("queue"), _key("selector"), _key("max", natural), _key("session")),
        _form(ops.Purge, _key("queue"), _key("selector")),
        _form(ops.Expire, _key("queue")),
        _form(ops.PauseQueue, _key("queue")),
        _form(ops.ResumeQueue, _key("queue")),
        _form(ops.BlockAddress, _key("address")),
        _form(ops.UnblockAddress, _key("address")),
        _form(ops.DiskFull, _key("full", boolean)),
        _form(ops.DiskSpaceChange, _key("usable", natural), _key("total", natural), _key("store")),
        _form(ops.Wait, _key("ms", natural)),
        _form(ops.Checkpoint),
        _form(ops.Restart),
        _form(ops.Crash),
    )
}


def read_operation(form: OperationForm, i: int, t: int, line: Mapping[str, Any]) -> ops.Operation:
    """The operation that a JSON object of this form stands for. Raises BadValue."""
    values: dict[str, Any] = {}
    for key in form.keys:
        value = line.get(key.name, MISSING)
        if value is MISSING or (value is None and key.name in form.nullable):
            if key.name in form.required:
                raise BadValue(f"{key.name!r} is missing")
            continue
        values[key.name] = key.read(key.name, value)
    if form.cls is ops.Ack:
        return _ack(i, t, values)
    if form.cls is ops.CreateQueue:
        values.setdefault("address", values["queue"])
    elif form.cls is ops.OpenConsumer:
        values.setdefault("session", f"c-{values['consumer']}")
    return cast(ops.Operation, form.cls(i, t, **values))


def _ack(i: int, t: int, values: dict[str, Any]) -> ops.Ack:
    mode = values.get("mode", ops.AckMode.UPTO)
    seqs = values.get("seq", ())
    if mode is ops.AckMode.ALL:
        return ops.Ack(i, t, values["consumer"], mode)
    if "seq" not in values:
        raise BadValue("'seq' is missing")
    if mode is ops.AckMode.UPTO and len(seqs) != 1:
        raise BadValue("'seq' must be one whole number for mode upto")
    return ops.Ack(i, t, values["consumer"], mode, seqs)


def write_operation(form: OperationForm, operation: ops.Operation) -> dict[str, Any]:
    """The shortest JSON object that reads back as this operation."""
    line: dict[str, Any] = {}
    for key in form.keys:
        value = getattr(operation, "seqs" if key.name == "seq" else key.name)
        if key.name in form.required or value != form.defaults.get(key.name, ()):
            line[key.name] = key.write(value)
    if isinstance(operation, ops.CreateQueue) and operation.address == operation.queue:
        del line["address"]
    elif isinstance(operation, ops.OpenConsumer) and operation.session == f"c-{operation.consumer}":
        del line["session"]
    elif isinstance(operation, ops.Ack) and operation.mode is not ops.AckMode.ALL:
        line["seq"] = _seqs_out(operation.seqs)
    return line


def read_settings(i: int, t: int, line: Mapping[str, Any]) -> ops.SettingsChange:
    """A ``settings`` operation: every key but the common ones and ``match`` is a setting. Raises BadValue."""
    if "match" not in line:
        raise BadValue("'match' is missing")
    values = tuple((name, _setting(name, value)) for name, value in line.items() if name not in COMMON | {"match"})
    return ops.SettingsChange(i, t, text("match", line["match"]), values)


def _setting(name: str, value: Any) -> str:
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) in (str, int, float):
        return str(value)
    raise BadValue(f"{name!r} must be text, a number or a truth value, not {kind_of(value)}")
