"""The README's examples print what the README says."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from command_table import commands
from readme_examples import README, Example, agrees, examples, folder, run

BLOCKS = list(examples(README.read_text("utf-8")))


def test_there_are_examples() -> None:
    assert len(BLOCKS) >= 5


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: f"line-{block[0].line}")
def test_block_prints_what_it_says(block: list[Example], tmp_path: Path) -> None:
    where = folder(tmp_path)
    for example in block:
        printed = run(example.command, where)
        if not agrees(printed, example.printed):
            assert printed == example.printed, f"README.md:{example.line}: {example.command}"


def test_the_picture_is_the_first_example() -> None:
    sys.path.append(str(README.parent / "examples"))
    from picture import PICTURE, picture  # type: ignore[import-not-found]

    assert PICTURE.read_text("utf-8") == picture(README.read_text("utf-8")), "run: python examples/picture.py"


def test_every_command_has_its_row() -> None:
    text = README.read_text("utf-8")
    for command in commands():
        name = f"pagectl {' '.join(command.path)}"
        assert f"`{name}" in text or f"\n{name}" in text, name


def test_links_lead_somewhere() -> None:
    text = README.read_text("utf-8")
    headings = {
        re.sub(r"[^\w\- ]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in text.splitlines()
        if line.startswith("#")
    }
    links = re.findall(r"\]\(#([^)]+)\)", text)
    assert len(links) >= 7 and set(links) <= headings
    for file in ("SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "RULES.md", "examples/terminal.svg", "schemas/json"):
        assert file in text and (README.parent / file).exists()


def test_typical_mistakes_are_those_of_the_made_page() -> None:
    page = (README.parent / "examples" / "config" / "typical-mistakes.md").read_text("utf-8").strip()
    assert page in README.read_text("utf-8")
