"""The JSON Schemas of all answers, made from the classes in ``pagectl.reports``."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import msgspec
import pagectl.reports
from msgspec import inspect as types
from pagectl.decoding.columns import COLUMNS
from pagectl.reports.message_lines import CHOSEN

from pagefmt.describe.json_object import JsonObject

CHOSEN_COLUMNS = "pages-decode.columns.line"
Classes = type[JsonObject] | tuple[type[JsonObject], ...]


def answers() -> dict[str, Classes]:
    """Collect ``ANSWERS`` of all report modules: the alternative classes of an answer by the name of its schema."""
    found: dict[str, Classes] = {}
    for module in iter_modules(pagectl.reports.__path__):
        found |= getattr(import_module(f"pagectl.reports.{module.name}"), "ANSWERS", {})
    return found


def schemas() -> dict[str, str]:
    """Generate the text of every schema, by name."""
    made = {name: schema(name, classes) for name, classes in sorted(answers().items())}
    made[CHOSEN_COLUMNS] = chosen_columns()
    return {name: _laid_out(each) + "\n" for name, each in made.items()}


def _laid_out(value: Any, indent: str = "") -> str:
    """Return JSON in which what fits into a line stands in one."""
    text = json.dumps(value)
    if len(indent) + len(text) <= 120 or not isinstance(value, dict | list):
        return text
    inner = indent + "  "
    if isinstance(value, dict):
        parts = [f"{inner}{json.dumps(key)}: {_laid_out(each, inner)}" for key, each in value.items()]
    else:
        parts = [f"{inner}{_laid_out(each, inner)}" for each in value]
    opened, closed = "{}" if isinstance(value, dict) else "[]"
    return opened + "\n" + ",\n".join(parts) + f"\n{indent}{closed}"


def chosen_columns() -> dict[str, Any]:
    """Build the schema of lines limited by ``--columns``: every column may be absent or null."""
    parts = [schema(CHOSEN_COLUMNS, each) for each in CHOSEN]
    fields: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for part in parts:
        for name, kind in part["properties"].items():
            fields[name] += [kind] if kind not in fields[name] else []
    return {
        **{key: parts[0][key] for key in ("$schema", "$id")},
        "title": "A line of a command with --format jsonl --columns LIST: the columns that were asked for.",
        "type": "object",
        "properties": {name: {"anyOf": [*kinds, {"type": "null"}]} for name, kinds in fields.items()},
        "patternProperties": {"^(properties|amqp)\\..": {}},
        "additionalProperties": False,
        "required": [],
        "minProperties": 1,
        "$defs": {name: one for part in parts for name, one in part.get("$defs", {}).items()},
    }


def schema(name: str, classes: Classes) -> dict[str, Any]:
    """Build the schema of an answer; a single class is described at the top level, several are joined by ``oneOf``."""
    several = classes if isinstance(classes, tuple) else (classes,)
    classes_used = dict.fromkeys(part for one in several for part in reached(one))
    _, parts = msgspec.json.schema_components(list(classes_used), ref_template="#/$defs/{name}")
    for each in classes_used:
        _describe(each, parts[each.__name__])
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"urn:pagectl:{name}"}
    if len(several) > 1:
        title = " or ".join(parts[each.__name__]["description"] for each in several)
        choice = [{"$ref": f"#/$defs/{each.__name__}"} for each in several]
        return {**head, "title": title, "oneOf": choice, "$defs": parts}
    used = json.dumps(parts).count(f'"#/$defs/{several[0].__name__}"')
    top = dict(parts[several[0].__name__] if used else parts.pop(several[0].__name__))
    top["title"] = top.pop("description")
    return {**head, **top, **({"$defs": parts} if parts else {})}


def reached(first: type[JsonObject]) -> list[type[JsonObject]]:
    """List a class and, once each, the classes that its fields refer to, directly or through other classes."""
    found = [first]
    for each in found:
        for field in types.type_info(each).fields:  # type: ignore[attr-defined]
            found += [one for one in _classes(field.type) if one not in found]
    return found


def _classes(kind: Any) -> Iterator[type[JsonObject]]:
    """Yield the JSON classes that occur in a type."""
    match kind:
        case types.StructType():
            yield kind.cls
        case types.Metadata():
            yield from (kind.extra or {}).get("classes", ())
            yield from _classes(kind.type)
        case types.UnionType():
            for one in kind.types:
                yield from _classes(one)
        case types.ListType() | types.VarTupleType():
            yield from _classes(kind.item_type)
        case types.TupleType():
            for one in kind.item_types:
                yield from _classes(one)
        case types.DictType():
            yield from _classes(kind.value_type)


def _describe(report: type[JsonObject], part: dict[str, Any]) -> None:
    """Put the docstrings of the fields into the schema, in the place of titles that repeat a name."""
    part.pop("title", None)
    if not report.__struct_config__.forbid_unknown_fields:
        part["additionalProperties"] = {"type": "string"}
    for owner in report.__mro__:
        if issubclass(owner, JsonObject):
            for name, text in _field_docstrings(owner).items():
                key = report.__struct_encode_fields__[report.__struct_fields__.index(name)]
                part["properties"][key] = {"description": text, **part["properties"][key]}


@cache  # a base class is looked up for each of its subclasses, and to read and parse its source takes milliseconds
def _field_docstrings(owner: type[JsonObject]) -> dict[str, str]:
    """Return the docstrings of the fields that a class itself declares, by the names of the fields."""
    if not vars(owner).get("__annotations__"):
        return {}
    try:
        source = inspect.getsource(owner)
    except OSError:  # a class that was made from another one with a key more
        return {}
    body = ast.parse(textwrap.dedent(source)).body[0]
    assert isinstance(body, ast.ClassDef)
    docstrings: dict[str, str] = {}
    for field, following in zip(body.body, body.body[1:], strict=False):
        match field, following:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                docstrings[name] = text
    return docstrings
