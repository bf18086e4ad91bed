"""Wildcard addresses take what the broker's expression for them takes, in proportional time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pageengine.broker.bindings import _takes

WORDS = st.lists(st.sampled_from(["a", "b", "", "#", "*"]), min_size=1, max_size=7).map(".".join)
GIVEN = st.lists(st.sampled_from(["a", "b", "", "\n", "ab"]), min_size=1, max_size=8).map(".".join)


def expression(bound: str) -> str:
    """Translate a wildcard address to a regular expression, which backtracks exponentially on many wildcards."""
    text = ""
    for at, one in enumerate(bound.split(".")):
        lead = r"\." if at else ""
        if one == "#":
            text += rf"(?:{lead}[^.]+(?:\.[^.]+)*)?"
        else:
            text += lead + ("[^.]+" if one == "*" else re.escape(one))
    return text


@given(WORDS, GIVEN)
def test_a_wildcard_takes_what_its_expression_takes(bound: str, address: str) -> None:
    # a word of a literal that is a wildcard in the address is none there
    assert _takes(bound, address, ".", "#", "*") == (re.fullmatch(expression(bound), address) is not None)


@pytest.mark.timeout(30)
def test_many_wildcards_take_no_longer_than_their_words() -> None:
    bound = ".".join(["#", "a"] * 20 + ["b"])
    assert not _takes(bound, ".".join(["a"] * 1000), ".", "#", "*")
    assert _takes(bound, ".".join(["a"] * 1000 + ["b"]), ".", "#", "*")
