"""The page of rules is what the rules say; ids named anywhere are known; every id of a finding is described."""

from __future__ import annotations

import ast
from pathlib import Path

import brokerconf as package
from brokerconf.linting.catalogue import CHECKS, described, known_ids
from brokerconf.rules import rules
from rules_md import page

ROOT = Path(__file__).resolve().parents[2]
ROOM = Path(package.__file__).parent
CALLS = {"Finding", "ReadingError", "refused", "warning"}


def test_every_rule_is_on_the_page() -> None:
    text = page()
    for rule in rules():
        assert f"\n## {rule.id}\n" in text
    assert all(f"| {id} |" in text for id in CHECKS)


def _ids_in(path: Path) -> set[str]:
    """Collect a module's rule ids: the first literal text among the first three arguments of each call of ``CALLS``."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS:
            texts = [a.value for a in node.args[:3] if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            found |= set(texts[:1])
    return found


def test_every_id_of_a_finding_is_described() -> None:
    found = {id for path in ROOM.rglob("*.py") for id in _ids_in(path)}
    assert len(found) > 15
    assert found <= known_ids(), found - known_ids()


def test_descriptions_are_complete_and_in_order() -> None:
    all_of_them = described()
    assert list(all_of_them) == sorted(all_of_them)
    assert all(one.title and one.why for one in all_of_them.values())
    assert set(CHECKS).isdisjoint(rule.id for rule in rules())
