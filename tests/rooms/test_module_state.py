"""Variables of modules that functions change. What a function does should follow from its arguments alone."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from product_source import ROOT, modules, parsed

# Files and variables of which a process must have one, for the reason that stands above them.
STATE = {
    ("cli/pagectl/terminal/standard_streams.py", "_streams"),
    ("pagefmt/parallel.py", "_fork_disabled"),
    ("pagefmt/storage/remote_paths.py", "_open_archives"),
    ("pagefmt/storage/opened_inputs.py", "_calls"),
    ("pagefmt/vectors/amqp/structure.py", "RECENT_PLANS"),
    ("pagefmt/spark/rows.py", "_last_broker"),
    ("schemas/brokerconf/reading/substitution.py", "_FILLED_IN"),
}
CHANGING = frozenset((
    "add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popitem", "popleft", "remove",
    "setdefault", "sort", "update",
))  # fmt: skip


def module_names(tree: ast.Module) -> set[str]:
    """Return the variables that a module assigns at its top level."""
    targets = [
        target
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    ]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def local_names(function: ast.AST) -> set[str]:
    """Return the parameters and the assigned variables of a function and of those inside it, but no ``global`` ones."""
    nodes = list(ast.walk(function))
    outer = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return (stored - outer) | {node.arg for node in nodes if isinstance(node, ast.arg)}


def changed_names(function: ast.AST) -> Iterator[str]:
    """Yield the variables that a function rebinds with ``global``, stores into, or changes by a method."""
    for node in ast.walk(function):
        target: ast.expr | None = None
        if isinstance(node, ast.Global):
            yield from node.names
        elif isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load):
            target = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
            target = node.func.value
        while isinstance(target, ast.Subscript | ast.Attribute):
            target = target.value
        if isinstance(target, ast.Name):
            yield target.id


def changed_state(tree: ast.Module) -> set[str]:
    """Return the variables of a module that its functions change."""
    functions = [
        node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    ]
    return {
        name
        for function in functions
        for name in set(changed_names(function)) & module_names(tree)
        if name not in local_names(function)
    }


def test_functions_change_no_variables_of_modules() -> None:
    state = {
        (path.relative_to(ROOT).as_posix(), name) for path in modules().values() for name in changed_state(parsed(path))
    }
    assert state == STATE


def test_changes_of_every_form_are_seen() -> None:
    source = """
a1 = {}
a2: list[int] = []
a3 = 0
a4 = object()
a5 = [[0]]
a6 = {}
def function(a6):
    global a3
    a3 = 1
    a1["x"] = 1
    a2.append(1)
    a4.value = 1
    a5[0][0] += 1
    a6["x"] = 1
"""
    assert changed_state(ast.parse(source)) == {"a1", "a2", "a3", "a4", "a5"}
