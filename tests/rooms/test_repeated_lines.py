"""Code that stands twice: stretches of five lines or more that are found elsewhere in the product, held to a budget."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

from product_source import ROOT, modules, parsed

RUN = 5
BUDGET = 8
"""Places. Take it down where a repetition goes; a new one is written once, in the room that owns it."""


def code_lines(path: Path) -> list[tuple[int, str]]:
    """Return the code lines of a module with their numbers.

    Blank lines, comments, docstrings, imports, parameters and lines of brackets alone are left out. So are fields of
    reports, because JSON objects that differ in one key share the others in the same order.
    """
    skipped: set[int] = set()
    reports = path.parent.name == "reports"
    for node in ast.walk(parsed(path)):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        is_field = reports and isinstance(node, ast.AnnAssign)
        is_parameter = isinstance(node, ast.arg)
        if isinstance(node, ast.Import | ast.ImportFrom) or is_text or is_field or is_parameter:
            skipped |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate((line.strip() for line in path.read_text("utf-8").splitlines()), 1)
    return [
        (number, line)
        for number, line in lines
        if number not in skipped and not line.startswith("#") and line.strip("()[]{},:")
    ]


def repetitions() -> list[str]:
    """Return ``file:line = file:line`` for each repeated stretch; a longer stretch counts once."""
    seen: dict[tuple[str, ...], tuple[str, int]] = {}
    found: dict[tuple[str, str], list[tuple[int, int, int]]] = defaultdict(list)
    for path in modules().values():
        lines, name = code_lines(path), path.relative_to(ROOT).as_posix()
        for at in range(len(lines) - RUN + 1):
            key = tuple(line for _, line in lines[at : at + RUN])
            first = seen.setdefault(key, (name, lines[at][0]))
            if first != (name, lines[at][0]):
                found[name, first[0]].append((at, lines[at][0], first[1]))
    return [
        f"{name}:{line} = {other}:{other_line}"
        for (name, other), places in found.items()
        for n, (at, line, other_line) in enumerate(places)
        if n == 0 or places[n - 1][0] != at - 1
    ]


def test_repetitions_stay_within_the_budget() -> None:
    found = repetitions()
    assert len(found) <= BUDGET, "\n".join(found)


def test_a_repetition_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "twice.py"
    path.write_text('"""Text."""\nimport os\n\n# why\nfirst = [\n    1,\n]\n')
    assert [line for _, line in code_lines(path)] == ["first = [", "1,"]
