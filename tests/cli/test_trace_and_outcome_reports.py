"""The classes that describe lines of traces and outcomes have the fields of the structs that the engine reads by."""

from __future__ import annotations

from typing import Any, get_args, get_type_hints

import msgspec
import pytest
from msgspec import NODEFAULT, UNSET
from msgspec import inspect as types
from pagectl.reports import outcome as outcome_reports
from pagectl.reports import trace as trace_reports
from pagectl.reports.form import Report

from pageengine.model import outcome
from pageengine.trace import operations

TRACE_LINES = {
    get_args(hints["op"])[0]: line
    for line in trace_reports.ANSWERS["replay-trace.line"]
    if "op" in (hints := get_type_hints(line))
}
OPERATIONS = {
    each.__struct_config__.tag: each
    for each in vars(operations).values()
    if isinstance(each, type) and issubclass(each, operations.Operation)
    if each not in (operations.Operation, operations.UnknownOperation)
}
# written by functions of their own: properties as an object, the settings as further keys
BY_HAND = {("send", "props"), ("settings", "values")}
# a line has the keys, although the reader can do without them
ALWAYS_WRITTEN = {"t", "session of send", "trace"}
Shape = Any  # a type, the words or numbers of an enumeration, or a tuple or set of shapes


def shape(kind: Any) -> Shape:
    """Return what a type stands for in JSON, without bounds and without null or absence."""
    match kind:
        case types.Metadata():
            return shape(kind.type)
        case types.IntType():
            return int
        case types.BoolType():
            return bool
        case types.FloatType():
            return float
        case types.StrType() | types.BytesType():
            return str
        case types.EnumType():
            return frozenset(each.value for each in kind.cls)
        case types.LiteralType():
            is_flag = all(type(value) is bool for value in kind.values)
            return bool if is_flag else frozenset(kind.values)
        case types.ListType() | types.VarTupleType():
            return "list", shape(kind.item_type)
        case types.DictType():
            return "object", shape(kind.value_type)
        case types.TupleType():
            return tuple(shape(each) for each in kind.item_types)
        case types.StructType() if kind.cls.__struct_config__.array_like:
            return tuple(shape(each.type) for each in types.type_info(kind.cls).fields)  # type: ignore[attr-defined]
        case types.StructType():
            return "object of its own"
        case types.UnionType():
            shapes = {shape(each) for each in kind.types if not isinstance(each, types.NoneType)}
            return shapes.pop() if len(shapes) == 1 else frozenset(shapes)
    raise AssertionError(kind)


def fields(struct: type[msgspec.Struct] | type[Report], name: str = "") -> dict[str, tuple[bool, Shape]]:
    """Return the keys of an object: whether each is always there, and its shape."""
    keys = {}
    for field in types.type_info(struct).fields:  # type: ignore[attr-defined]
        if field.encode_name in ("", "op") or (name, field.encode_name) in BY_HAND:
            continue
        always = field.encode_name in ALWAYS_WRITTEN or f"{field.encode_name} of {name}" in ALWAYS_WRITTEN
        required = field.required or always
        values = shape(_present(field.type))
        if isinstance(values, frozenset) and field.default not in (NODEFAULT, UNSET, None):
            values -= {field.default.value}  # a default is not written
        keys[field.encode_name] = required, values
    return keys


def _present(kind: Any) -> Any:
    """Return a type without the absence of its key."""
    if isinstance(kind, types.UnionType):
        left = [each for each in kind.types if "Unset" not in type(each).__name__]
        return left[0] if len(left) == 1 else types.UnionType(tuple(left))
    return kind


def same(line: dict[str, tuple[bool, Shape]], struct: dict[str, tuple[bool, Shape]]) -> None:
    assert set(line) == set(struct)
    for name, (required, values) in struct.items():
        described = line[name][1]
        assert line[name][0] == required, name
        # a class may name the default as well, and the words where the engine has a text
        words = isinstance(described, frozenset) and all(isinstance(word, str) for word in described)
        more = isinstance(values, frozenset) and described > values
        assert described == values or more or (words and values is str), name


def test_every_operation_is_described() -> None:
    assert set(TRACE_LINES) == set(OPERATIONS)


@pytest.mark.parametrize("name", sorted(map(str, OPERATIONS)))
def test_a_line_of_a_trace_has_the_fields_of_its_operation(name: str) -> None:
    same(fields(TRACE_LINES[name], name), fields(OPERATIONS[name], name))


def test_the_head_of_a_trace_and_a_client() -> None:
    same(fields(trace_reports.TraceClient), fields(operations.ClientOptions))
    head = fields(trace_reports.TraceHeaderLine)
    assert head.pop("trace") == (True, frozenset({operations.TRACE_VERSION}))
    struct = fields(operations.TraceHeader)
    assert struct.pop("trace") == (True, int)
    same(head, struct)


def decided() -> dict[str, tuple[bool, Shape]]:
    """Return the keys of a decision as a client of any protocol sees it."""
    return fields(outcome.ClientDecision) | {"r": (True, str)}


def test_the_results_of_an_outcome() -> None:
    results = fields(outcome.OperationResult)
    del results["verdict"], results["state"]
    always = {name: (name in ("i", "op"), values) for name, (_, values) in results.items()}
    line = fields(outcome_reports.OutcomeOperation)
    assert line.pop("state")[0] is False
    same(line, decided() | always)
    same(fields(outcome_reports.ReleasedSend), decided() | {"i": (True, int)})
    same(fields(outcome_reports.OutcomeLoss), fields(outcome.CrashLoss))


def test_the_words_for_results_are_all_described() -> None:
    words = {value for name, value in vars(outcome).items() if name.isupper() and isinstance(value, str)}
    assert set(get_args(outcome_reports.OutcomeResult)) == words - {outcome.NOT_ROUTED}
    assert outcome.NOT_ROUTED in get_args(outcome_reports.BrokerResult)


def test_the_first_and_the_last_line_of_an_outcome() -> None:
    for line, struct in (
        (outcome_reports.OutcomeHeaderLine, outcome.OutcomeHeader),
        (outcome_reports.OutcomeEndLine, outcome.OutcomeEnd),
        (outcome_reports.OutcomePage, outcome.PageFiled),
    ):
        keys = fields(line)
        if struct is outcome.OutcomeHeader:
            assert keys.pop("outcome") == (True, frozenset({outcome.OUTCOME_VERSION}))
        same(keys, fields(struct))
