"""Ten mistakes that operators make: each is found, and the page that shows them beside xmllint is up to date."""

from __future__ import annotations

import shutil

import mistakes
import pytest
from mistakes import PAGE

from pagefmt.findings import Severity

ROWS = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")][1:]


def test_there_are_ten() -> None:
    assert len(mistakes.MISTAKES) == len(ROWS) == 10


@pytest.mark.parametrize("number", range(10))
def test_each_is_found_as_the_page_says(number: int) -> None:
    mistake = mistakes.MISTAKES[number]
    assert ROWS[number].startswith(f"| {mistake.what}")
    assert ROWS[number].endswith(f"| {mistakes._cell(mistakes.ours(mistake))} |")


@pytest.mark.parametrize("number", range(10))
def test_nothing_else_is_called_an_error(number: int) -> None:
    mistake = mistakes.MISTAKES[number]
    errors = {f.rule for f in mistakes.report_of(mistake).findings if f.severity is Severity.ERROR}
    assert errors <= mistake.rules


@pytest.mark.skipif(shutil.which("xmllint") is None, reason="needs xmllint (libxml2-utils)")
@pytest.mark.parametrize("number", range(10))
def test_xmllint_says_what_the_page_says(number: int) -> None:
    # The wording of xmllint differs between releases, so only whether it objects is compared.
    cell = ROWS[number].split(" | ")[1]
    assert (mistakes.xmllint(mistakes.MISTAKES[number]) == "validates") == (cell == "validates")
