"""Files of the product import one another without circles; imports for types and inside functions count."""

from __future__ import annotations

import ast
from pathlib import Path

from product_source import modules, parsed


def imported_modules(path: Path, product: set[str]) -> set[str]:
    """Return the modules of the product that a file imports anywhere in it."""
    imported = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom):
            assert node.module and not node.level, f"{path}: a relative import"
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                imported.add(submodule if submodule in product else node.module)
        elif isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
    return imported & product


def circular(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the part of a graph that is left after nodes without arrows in or out are removed until none is left.

    Only circles and the nodes on the way from one circle to another are left.
    """
    while True:
        targets = set().union(*graph.values()) if graph else set()
        kept = {node for node, nodes in graph.items() if nodes and node in targets}
        if len(kept) == len(graph):
            return graph
        graph = {node: graph[node] & kept for node in kept}


def test_no_file_imports_itself_by_way_of_others() -> None:
    files = modules()
    graph = {module: imported_modules(path, set(files)) - {module} for module, path in files.items()}
    assert circular(graph) == {}, "move the types that both sides share to a file below both"


def test_circles_are_detected() -> None:
    assert circular({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == {"b": {"c"}, "c": {"b"}}
