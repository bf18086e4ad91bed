"""Modules and classes say what they are; functions say what their names and types leave open."""

from __future__ import annotations

import ast

from product_source import FUNCTIONS, Definition, definitions, modules, parsed


def test_every_module_has_a_docstring() -> None:
    assert [name for name, path in modules().items() if not ast.get_docstring(parsed(path))] == []


def test_every_public_class_has_a_docstring() -> None:
    classes = (each for each in definitions() if isinstance(each.node, ast.ClassDef))
    assert [name(each) for each in classes if each.is_public and not ast.get_docstring(each.node)] == []


def test_functions_say_what_names_and_types_leave_open() -> None:
    functions = (each for each in definitions() if isinstance(each.node, FUNCTIONS))
    assert [name(each) for each in functions if leaves_open(each) and not ast.get_docstring(each.node)] == []


def name(definition: Definition) -> str:
    return f"{definition.module}.{definition.qualified}"


def leaves_open(definition: Definition) -> bool:
    """Return whether a public function may return None, raises errors or takes more than three parameters.

    What None means, when which error comes and how many parameters act together is in no name and no type.
    """
    node = definition.node
    if isinstance(node, ast.ClassDef) or not definition.is_public or node.name.startswith("__"):
        return False
    result = ast.unparse(node.returns) if node.returns is not None else ""
    optional = "| None" in result or result.startswith("Optional[")
    raises = any(isinstance(inner, ast.Raise) and inner.exc is not None for inner in ast.walk(node))
    parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return optional or raises or len([each for each in parameters if each.arg not in ("self", "cls")]) > 3
