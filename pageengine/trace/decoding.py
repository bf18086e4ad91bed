"""Decoding of JSON to operations (docs/spec/trace-format.md 1.2 and 1.4): a line in one pass, an object key by key.

``decode_line`` decodes the lines with a known operation and no unknown key. Any other line is parsed to a JSON value,
from which ``operation_of`` makes the operation and the list of unknown keys, or says what is wrong.
"""

from __future__ import annotations

import json
import re
from enum import Enum
from typing import Any, Union, get_args

import msgspec

from pageengine.trace import operations as ops
from pageengine.trace.message_properties import read_properties
from pageengine.trace.operations import Operation, SettingsChange, TraceHeader, UnknownOperation

COMMON = ("op", "t", "note")
_OPERATIONS: dict[str, type[Operation]] = {
    str(cls.__struct_config__.tag): cls for cls in Operation.__subclasses__() if cls is not UnknownOperation
}
_KEYS = {op: frozenset({*COMMON, *cls.__struct_encode_fields__} - {""}) for op, cls in _OPERATIONS.items()}
_WORDS = {
    "int": "a whole number",
    "float": "a number with a fraction",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}


class BadValue(Exception):
    """Error for a line that is no operation, or a key that is missing or of the wrong type."""


def _hook(cls: type, value: Any) -> Any:
    return read_properties(value)


_LINES = msgspec.json.Decoder(
    Union[tuple(cls for cls in _OPERATIONS.values() if cls is not SettingsChange)],  # noqa: UP007
    dec_hook=_hook,
)
# Decodes a line to an operation, and raises one of IRREGULAR for every other line.
decode_line = _LINES.decode
IRREGULAR = (msgspec.MsgspecError, ValueError, RecursionError)


def json_value(line: bytes) -> Any:
    """Parse a line as JSON; raise ``BadValue``."""
    try:
        return json.loads(line.decode(), parse_constant=_refuse)
    except json.JSONDecodeError as err:
        raise BadValue(f"not JSON: {err.msg} at column {err.colno}") from None
    except UnicodeDecodeError as err:
        raise BadValue(f"not UTF-8 at byte {err.start} of the line") from None
    except RecursionError:
        raise BadValue("nested too deeply") from None
    except ValueError as err:
        raise BadValue(f"not JSON: {str(err).partition(chr(58))[0]}") from None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def operation_of(value: Any) -> tuple[Operation, list[str]]:
    """Return the operation of a JSON value, and its keys that the format does not define; raise ``BadValue``."""
    if type(value) is not dict:
        raise BadValue("an operation must be an object")
    op = value.get("op")
    if type(op) is not str:
        raise BadValue("'op' must be text" if "op" in value else "'op' is missing")
    cls = _OPERATIONS.get(op)
    if cls is None:
        return _convert(UnknownOperation, {"t": value.get("t", ops.LOWEST), "name": op}), []
    if cls is SettingsChange:
        settings = tuple((name, _setting(name, item)) for name, item in value.items() if name not in (*COMMON, "match"))
        return _convert(cls, {**_known_entries(value, (*COMMON, "match")), "values": settings}), []
    keys = _KEYS[op]
    unknown = [name for name in value if name not in keys]
    return _convert(cls, _known_entries(value, keys) if unknown or "note" in value else value), unknown


def header_of(value: Any, default_name: str) -> tuple[TraceHeader, list[str]]:
    """Return the header of a JSON value, and its keys that the format does not define; raise ``BadValue``."""
    if type(value) is not dict or "trace" not in value:
        raise BadValue("the header is missing (an object with the key 'trace')")
    header = _convert(TraceHeader, {"name": default_name, **value})
    if not 1 <= header.trace <= ops.TRACE_VERSION:
        raise BadValue(
            f"format version {header.trace} is not understood (this program reads up to {ops.TRACE_VERSION})"
        )
    return header, [name for name in value if name not in TraceHeader.__struct_fields__ and name != "note"]


def _known_entries(value: dict[str, Any], keys: Any) -> dict[str, Any]:
    """Return the entries whose key an operation has, without a note that is not text."""
    return {name: item for name, item in value.items() if name in keys and (name != "note" or type(item) is str)}


def _convert(cls: type[Any], value: dict[str, Any]) -> Any:
    try:
        return msgspec.convert(value, cls, dec_hook=_hook)
    except msgspec.ValidationError as err:
        raise BadValue(_reason(str(err), cls)) from None


def _reason(text: str, cls: type[msgspec.Struct]) -> str:
    """Return msgspec's error in the words of the format: the key, what is wrong with it, what is allowed."""
    if text.startswith("Object missing required field"):
        return f"{text.split('`')[1]!r} is missing"
    text, _, path = text.partition(" - at `$.")
    name = re.split(r"[`\[.]", path)[0]
    allowed = next((_choices(item.type) for item in msgspec.structs.fields(cls) if item.encode_name == name), "")
    if allowed:
        return f"{name!r} must be one of {allowed}"
    if text.startswith("Expected "):
        text = re.sub(
            "`(.*?)`", lambda item: " or ".join(_WORDS.get(word, word) for word in item[1].split(" | ")), text
        )
        return f"{name!r} must be {text[9:].replace(', got ', ', not ')}"
    return f"{name!r} is not base64" if text.startswith("Invalid base64") else text


def _choices(kind: Any) -> str:
    enums = (enum for enum in (kind, *get_args(kind)) if isinstance(enum, type) and issubclass(enum, Enum))
    return ", ".join(str(member.value) for enum in enums for member in enum)


def _setting(name: str, value: Any) -> str:
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) in (str, int, float):
        return str(value)
    raise BadValue(f"{name!r} must be text, a number or a truth value")
