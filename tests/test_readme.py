"""The README's examples print what the README says."""

from __future__ import annotations

from pathlib import Path

import pytest
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


def test_typical_mistakes_are_those_of_the_made_page() -> None:
    page = (README.parent / "examples" / "config" / "typical-mistakes.md").read_text("utf-8").strip()
    assert page in README.read_text("utf-8")
