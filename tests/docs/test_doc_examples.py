"""The examples of the README and of the pages below ``docs/`` print what stands there; links and rows are complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from command_table import commands
from doc_examples import DOCS, README, ROOT, examples, folder, pages

MARKDOWN = [
    README,
    *(ROOT / name for name in ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")),
    *DOCS.rglob("*.md"),
]


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_there_are_examples() -> None:
    assert len(pages()) >= 8 and sum(len(list(examples(page.read_text("utf-8")))) for page in pages()) >= 30


@pytest.mark.parametrize("page", pages(), ids=named)
def test_page_prints_what_it_says(page: Path, tmp_path: Path) -> None:
    where = folder(tmp_path)
    for example in examples(page.read_text("utf-8")):
        printed = example.run(where)
        if not example.agrees(printed):
            assert printed == example.printed, f"{named(page)}:{example.line}: {example.command}"


@pytest.mark.parametrize("page", pages(), ids=named)
def test_no_page_states_an_age(page: Path) -> None:
    """An age is another one tomorrow: it stands as ``[…]``."""
    for example in examples(page.read_text("utf-8")):
        assert not re.search(r"\d\d:\d\dZ +\d+[smhd]\b", example.printed), f"{named(page)}:{example.line}"


def test_the_readme_is_short() -> None:
    assert len(README.read_text("utf-8").splitlines()) <= 150


def test_every_command_has_its_row() -> None:
    text = (DOCS / "commands.md").read_text("utf-8")
    for command in commands():
        assert f"`pagectl {' '.join(command.path)}" in text, command.path


def headings(text: str) -> set[str]:
    """Return the anchors of a page's headings."""
    found = re.findall(r"^#+ (.*)", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in found}


@pytest.mark.parametrize("page", MARKDOWN, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"`[^`\n]+`", "", page.read_text("utf-8"))
    for target, _, heading in re.findall(r"\]\((?!\w+:)([^)#\s]*)(#([^)]*))?\)", text):
        there = (page.parent / target) if target else page
        assert there.exists(), f"{named(page)}: {target}"
        assert not heading or heading in headings(there.read_text("utf-8")), f"{named(page)}: {target}#{heading}"
