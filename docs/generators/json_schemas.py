"""The JSON Schemas of all answers, made from the classes in ``pagectl.reports``."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import msgspec
import pagectl.reports
from msgspec import inspect as types
from pagectl.reports.form import Report

Classes = type[Report] | tuple[type[Report], ...]


def answers() -> dict[str, Classes]:
    """The name of each schema, and the classes of which an answer is one."""
    found: dict[str, Classes] = {}
    for module in iter_modules(pagectl.reports.__path__):
        found |= getattr(import_module(f"pagectl.reports.{module.name}"), "ANSWERS", {})
    return found


def schemas() -> dict[str, str]:
    """The text of each schema by its name."""
    return {name: json.dumps(schema(name, classes), indent=2) + "\n" for name, classes in sorted(answers().items())}


def schema(name: str, classes: Classes) -> dict[str, Any]:
    """The schema of one answer; of a single class its object stands at the top."""
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


def reached(first: type[Report]) -> list[type[Report]]:
    """The class and all that its fields lead to."""
    found = [first]
    for each in found:
        for field in types.type_info(each).fields:  # type: ignore[attr-defined]
            found += [one for one in _classes(field.type) if one not in found]
    return found


def _classes(kind: Any) -> Iterator[type[Report]]:
    """The classes that a type is made of."""
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


def _describe(report: type[Report], part: dict[str, Any]) -> None:
    """Put the docstrings of the fields into the schema, in the place of titles that repeat a name."""
    part.pop("title", None)
    for owner in report.__mro__:
        if issubclass(owner, Report) and owner is not Report:
            body = ast.parse(textwrap.dedent(inspect.getsource(owner))).body[0]
            assert isinstance(body, ast.ClassDef)
            for field, text in zip(body.body, body.body[1:], strict=False):
                match field, text:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(said))):
                        key = report.__struct_encode_fields__[report.__struct_fields__.index(name)]
                        part["properties"][key] = {"description": said, **part["properties"][key]}
