"""Ten mistakes that operators make: each is found, and the page that shows them beside xmllint is up to date."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pytest

from pagefmt.findings import Severity

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "config"


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_pages", FOLDER / "make_pages.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["make_pages"] = module
    spec.loader.exec_module(module)
    return module


PAGES = load()
ROWS = (FOLDER / "typical-mistakes.md").read_text("utf-8").splitlines()[2:]


def test_there_are_ten() -> None:
    assert len(PAGES.MISTAKES) == len(ROWS) == 10


@pytest.mark.parametrize("number", range(10))
def test_each_is_found_as_the_page_says(number: int) -> None:
    mistake = PAGES.MISTAKES[number]
    assert ROWS[number].startswith(f"| {mistake.what}")
    assert ROWS[number].endswith(f"| {PAGES._cell(PAGES.ours(mistake))} |")


@pytest.mark.parametrize("number", range(10))
def test_nothing_else_is_called_an_error(number: int) -> None:
    mistake = PAGES.MISTAKES[number]
    errors = {f.rule for f in PAGES.report_of(mistake).findings if f.severity is Severity.ERROR}
    assert errors <= mistake.rules


@pytest.mark.skipif(shutil.which("xmllint") is None, reason="needs xmllint (libxml2-utils)")
@pytest.mark.parametrize("number", range(10))
def test_xmllint_says_what_the_page_says(number: int) -> None:
    """Its wording differs between releases: what counts is whether it objects."""
    cell = ROWS[number].split(" | ")[1]
    assert (PAGES.xmllint(PAGES.MISTAKES[number]) == "validates") == (cell == "validates")
