"""Expressions that the broker's language compiles, and those it does not: as Java 17 did it."""

from __future__ import annotations

import pytest
from brokerconf.settings.java_expressions import ExpressionError, check
from brokerconf.settings.matching import Wildcards, compile_match

from pagefmt.editions import Edition

TAKEN = [
    r"a\p{L}",
    r"a\1",
    r"a\Qa[(\E",
    r"a\Q(",
    "(?i)a",
    "a(?i)b",
    r"(?<x>a)\k<x>",
    "(?<=a+)b",
    "[a&&b]",
    "[[a]b]",
    "[]a]",
    "a++",
    "a{2}",
    "a{2,}?",
    "a{2,3}+",
    r"\x{41}",
    r"\u0041",
    r"\z\Z\A\h",
    "a]",
    "a}",
    "{2}",
    "a|{2}{3}",
    r"\cA",
    r"\07",
    "()",
    "(?-i)",
    r"a\$",
]
REFUSED = [
    "a[",
    "(a",
    "a)",
    "a**",
    "*a",
    "a|*",
    "(*)",
    "a{x}",
    "a{,3}",
    "a{2,1}",
    "[z-a]",
    "[[a]",
    "[]",
    "(?P<x>a)",
    "(?#x)",
    r"\k",
    r"\y",
    r"\u00",
    r"\xg",
    r"\x{110000}",
    "a{99999999999}",
    r"\E",
    r"\c",
    r"\08",
    r"\k<x>",
    "(?<a>x)(?<a>y)",
]


@pytest.mark.parametrize("expression", TAKEN)
def test_taken(expression: str) -> None:
    check(expression)


@pytest.mark.parametrize("expression", REFUSED)
def test_refused(expression: str) -> None:
    with pytest.raises(ExpressionError):
        check(expression)


@pytest.mark.parametrize("match", [r"*\p{L}", r"*\Qa", "*[[a]b]"])
def test_what_only_the_other_language_knows_fits_nothing(match: str, recwarn: pytest.WarningsRecorder) -> None:
    compiled = compile_match(match, Wildcards(), Edition.ARTEMIS_2_56)
    assert not compiled.fits("zzz") and not recwarn.list
