"""A call enters few files, so that a reader who follows it does, too."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from product_source import ROOT

PAGE = "news/data/paging/dfcf2f68-e58e-11f1-aa91-02fc00000001/000000007.page"
CONFIGURATION = str(ROOT / "tests/recorded/limits/block-messages-full-2.28.0/broker.xml")
# Budgets may only fall. The targets are 40 files to decode a page, 45 to lint by one rule, 65 for what is outstanding.
BUDGETS = {
    "decode": (["pages", "decode", PAGE], 67),
    "lint": (["config", "lint", CONFIGURATION, "--only", "page-size-tiny"], 61),
    "outstanding": (["pages", "outstanding", "news"], 91),
}


@pytest.mark.parametrize("call", BUDGETS)
def test_a_call_enters_few_files(tmp_path: Path, call: str) -> None:
    with tarfile.open(ROOT / "examples/news.tar.gz") as archive:
        archive.extractall(tmp_path / "news", filter="data")
    words, budget = BUDGETS[call]
    script = str(ROOT / "tests/rooms/count_files_entered.py")
    result = subprocess.run([sys.executable, script, *words], cwd=tmp_path, check=True, capture_output=True, text=True)
    *paths, _ = result.stdout.splitlines()
    assert len(paths) == budget, f"{call} enters {len(paths)} files; set the budget to that number if it is lower"
