"""What is said about installing is true: every extra is named, no index is, and no URL has to be filled in."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from program import ROOT

PAGES = [
    path
    for folder in ("docs", "examples", "cli", "pagefmt", "man", ".github")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in {".md", ".py", ".yml", ".yaml", ".toml", ".1", ""} and path.is_file()
] + [
    ROOT / name
    for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "pyproject.toml", "action.yml")
]
FROM_AN_INDEX = re.compile(r"(?:pip|pipx|uv tool) install (?:-\S+ )*['\"]?pagectl\b(?!-)")
TO_FILL_IN = re.compile(r"your-\w+/|\bOWNER/|<(?:owner|url|repository)>")


@pytest.mark.parametrize(
    "text",
    ["pip install pagectl", "pipx install 'pagectl[spark]'", "uv tool install pagectl", "pip install -q pagectl"],
)
def test_an_index_is_found(text: str) -> None:
    assert FROM_AN_INDEX.search(text) and not FROM_AN_INDEX.search("pipx install dist/pagectl-*.whl")


def test_nothing_is_said_to_be_in_an_index_and_no_url_has_to_be_filled_in() -> None:
    assert len(PAGES) > 300
    wrong = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in PAGES
        for pattern in (FROM_AN_INDEX, TO_FILL_IN)
        for match in pattern.finditer(path.read_text("utf-8"))
    ]
    assert not wrong


def test_every_extra_is_named_with_what_works_without_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    rows = re.findall(
        r"^\| (`\w+`(?:, `\w+`)*) \|", Path(ROOT / "docs" / "install.md").read_text("utf-8"), re.MULTILINE
    )
    assert {name for row in rows for name in re.findall(r"\w+", row)} == set(project["optional-dependencies"])
