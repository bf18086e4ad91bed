"""The promises of ``docs/promises.md``: every test that it names is there, and runs where it says."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest
from pagectl.running.statuses import STATUSES
from program import ROOT

TEXT = (ROOT / "docs" / "promises.md").read_text("utf-8")
PROMISES = re.split(r"^### ", TEXT, flags=re.MULTILINE)[1:]
NAMED = sorted(set(re.findall(r"`(test_\w+\.py)::(test_\w+)`(?: \((slow|broker)\))?", TEXT)))


@cache
def markers(file: str) -> dict[str, str]:
    """Map each test of a file to the text of its decorators and of the module's ``pytestmark``."""
    tree = ast.parse(next((ROOT / "tests").rglob(file)).read_text("utf-8"))
    of_all = [
        ast.unparse(node) for node in tree.body if isinstance(node, ast.Assign) and "pytestmark" in ast.unparse(node)
    ]
    return {
        node.name: " ".join([*of_all, *map(ast.unparse, node.decorator_list)])
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }


@pytest.mark.parametrize(("file", "name", "mark"), NAMED, ids=lambda part: str(part))
def test_the_test_of_a_promise_exists(file: str, name: str, mark: str) -> None:
    found = markers(file)
    assert name in found
    for each in ("slow", "broker"):
        assert (f"mark.{each}" in found[name]) == (each == mark), f"{file}::{name} runs elsewhere than promises.md says"


def test_every_promise_has_a_test() -> None:
    assert len(PROMISES) >= 80
    for promise in PROMISES:
        assert "\n* `test_" in promise, promise


def test_counts_are_true() -> None:
    commands, statuses = map(int, re.findall(r"(\d+) commands, (\d+) statuses", TEXT)[0])
    assert (commands, statuses) == (len(STATUSES), sum(map(len, STATUSES.values())))
    schemas = int(re.findall(r"(\d+) schemas", TEXT)[0])
    assert schemas == len(list((ROOT / "schemas" / "json").glob("*.json")))
