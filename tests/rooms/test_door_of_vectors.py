"""The door of vectors has every name that it offers, and its docstring says what holds each to the plain code."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from product_source import ROOT

from pagefmt import vectors


def test_every_name_of_the_door_can_be_had() -> None:
    assert all(getattr(vectors, name) is not None for name in vectors._MODULE_OF)


def test_what_types_see_is_what_the_door_offers() -> None:
    tree = ast.parse(Path(str(vectors.__file__)).read_text())
    seen = {
        (node.module.removeprefix("pagefmt.vectors."), alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.col_offset
        for alias in node.names
        if node.module.startswith("pagefmt.vectors.") and alias.name != "RouteVectors"
    }
    assert seen == {(module, name) for name, module in vectors._MODULE_OF.items()}


def test_the_tests_that_the_docstring_names_exist() -> None:
    named = set(re.findall(r"test_\w+\.py", str(vectors.__doc__)))
    assert named and all((ROOT / "tests/equivalence" / name).is_file() for name in named)
