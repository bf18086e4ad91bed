"""``ARCHITECTURE.md`` and ``CONTRIBUTING.md`` name modules and tests that exist."""

from __future__ import annotations

import re

import pytest
from product_source import ROOT, modules

MODULE = re.compile(r"`((?:pagefmt|pageengine|brokerconf|pagectl)(?:\.\w+)+)`")
ROW = re.compile(r"^\| .+ \| (`[\w.`, ]+`) \| (`[\w./`, ]+`) \|$", re.MULTILINE)


def known(name: str) -> bool:
    """Return whether a name is a module, or could be a member of one."""
    return name in modules() or name.rsplit(".", 1)[0] in modules()


def test_every_row_of_the_map_leads_somewhere() -> None:
    rows = ROW.findall((ROOT / "ARCHITECTURE.md").read_text("utf-8"))
    assert len(rows) == 31
    for of_modules, of_tests in rows:
        assert [name for name in MODULE.findall(of_modules) if name not in modules()] == []
        assert [file for file in re.findall(r"`([\w/.]+)`", of_tests) if not (ROOT / "tests" / file).is_file()] == []


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_named_modules_and_files_exist(page: str) -> None:
    text = (ROOT / page).read_text("utf-8")
    assert [name for name in MODULE.findall(text) if not known(name)] == []
    paths = re.findall(r"`((?:cli/pagectl|pagefmt|pageengine|schemas|tests|docs|bench|requirements)/[\w./-]+)`", text)
    paths = [path for path in paths if not re.search(r"/[A-Z]+[/.]|^docs/test_", path)]  # names to fill in; tests/docs
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_every_decision_is_in_the_list() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = set(re.findall(r"\]\(([\w-]+\.md)\)", (folder / "README.md").read_text("utf-8")))
    assert listed == {path.name for path in folder.glob("*.md")} - {"README.md"}
