"""Matches held against addresses by their words, and found among thousands, as the expression of the broker does."""

from __future__ import annotations

import re

import pytest
from brokerconf.evidence.patterns import overlap
from brokerconf.settings.matching import MatchTable, Wildcards, compile_match
from brokerconf.settings.word_index import PLACES, WordIndex, numbers_of
from hypothesis import given
from hypothesis import strategies as st

from pagefmt.editions import NEWEST, Edition

WORDS = st.lists(st.sampled_from(["a", "b", "", "*", "a*", "ab", "\n"]), min_size=1, max_size=4)
MATCHES = st.builds(lambda words, end: ".".join(words).replace("\n", "") + end, WORDS, st.sampled_from(["", ".#", "#"]))
ADDRESSES = st.lists(st.sampled_from(["a", "b", "", "ab", "c", "\n", "\r"]), min_size=1, max_size=6).map(".".join)
EDITIONS = st.sampled_from([Edition.ARTEMIS_2_4, Edition.ARTEMIS_2_28, Edition.ARTEMIS_2_56])
DEFAULT = Wildcards()


@given(MATCHES, ADDRESSES, EDITIONS)
def test_words_fit_what_the_expression_fits(match: str, address: str, edition: Edition) -> None:
    found = compile_match(match, DEFAULT, edition)
    if found.expression:
        assert found.fits(address) == (re.fullmatch(found.expression, address) is not None)


@given(st.lists(MATCHES, min_size=20, max_size=60), ADDRESSES, EDITIONS)
def test_many_matches_are_searched_as_one_by_one(matches: list[str], address: str, edition: Edition) -> None:
    compiled = [compile_match(match, DEFAULT, edition) for match in dict.fromkeys(matches)]
    fitting = MatchTable.of(compiled, DEFAULT, edition).fitting(address)
    exact = {match.written for match in fitting}
    assert exact == {match.written for match in compiled if match.fits(address)}


def test_an_index_of_words_leaves_out_nothing_that_overlaps() -> None:
    matches = ["*.b", "a.*.#", "a.b", "b.*", "*.*.c", *(f"a.{n}" for n in range(100))]
    words = [[None if word == "*" else word for word in match.removesuffix(".#").split(".")] for match in matches]
    index = WordIndex(words)
    for number, match in enumerate(matches):
        found = set(numbers_of(index.fitting(words[number], longer=True)))
        assert {other for other, text in enumerate(matches) if overlap(match, text, DEFAULT)} <= found
    assert list(numbers_of(index.fitting(["a", "7"]))) == [1, matches.index("a.7")]


def test_a_match_of_very_many_words_is_held_whole() -> None:
    long = ".".join(["*"] * PLACES)
    index = WordIndex([(*(None,) * PLACES, "x"), (*(None,) * PLACES, "y")])
    assert list(numbers_of(index.fitting([*["w"] * PLACES, "y"]))) == [0, 1]
    assert compile_match(f"{long}.y", DEFAULT, Edition.ARTEMIS_2_56).fits(f"{'w.' * PLACES}y")
    assert not compile_match(f"{long}.x", DEFAULT, Edition.ARTEMIS_2_56).fits(f"{'w.' * PLACES}y")


@pytest.mark.timeout(60)
def test_thousands_of_matches_of_many_wildcards_take_seconds() -> None:
    # Comparing each match with each took more than a minute.
    matches = [".".join(f"x{n}" if place == n % 200 else "*" for place in range(200)) for n in range(2000)]
    table = MatchTable.of([compile_match(match, DEFAULT, NEWEST) for match in matches], DEFAULT, NEWEST)
    for match in matches:
        assert [each.written for each in table.fitting(match.replace("*", "w"))] == [match]


@pytest.mark.parametrize("end", ["\n", "\r", "\x85", "\u2028", "\u2029"])
@pytest.mark.parametrize(("match", "fits"), [("#", 0), ("a.#", 0), ("a.*", 1), ("a.*.#", 1), ("*.#", 0)])
def test_no_end_of_a_line_is_under_the_any_words_wildcard(match: str, fits: int, end: str) -> None:
    # Brokers 2.28 and 2.56 did not page such addresses although the match ``#`` paged all others.
    for edition in (Edition.ARTEMIS_2_28, Edition.ARTEMIS_2_56):
        assert compile_match(match, DEFAULT, edition).fits(f"a.x{end}y") == fits
    assert not compile_match("a.*.#", DEFAULT, NEWEST).fits(f"a.x.{end}")


IN_WORDS = st.text("ab~./", min_size=1, max_size=10)
"""With ~ for the wildcard of one word."""
STYLES = [DEFAULT, Wildcards(delimiter="/", single_word="+")]


def as_the_broker_has_it(match: str, style: Wildcards, edition: Edition) -> str:
    """Translate a match to the broker's regular expression, which backtracks exponentially on many wildcards."""
    text = match.replace(style.delimiter + "#", "#").replace(".", "\\.")
    dot = "[^\n\r\x85\u2028\u2029]"
    if edition <= Edition.ARTEMIS_1_5:
        return text.replace("*", "[^.]+").replace("#", f"{dot}*")
    one, end = re.escape(style.delimiter), style.single_word
    return text.replace(end, f"[^{one}]+").replace("#", f"({one}{dot}+)*")


@given(
    st.builds(str.__add__, IN_WORDS, st.sampled_from(["", ".#", "/#", "#"])),
    st.text("ab./\n", max_size=12),
    st.sampled_from(STYLES),
    st.sampled_from([Edition.ARTEMIS_1_5, Edition.ARTEMIS_2_28, NEWEST]),
)
def test_wildcards_within_words_fit_as_the_expression_of_the_broker(
    match: str, address: str, style: Wildcards, edition: Edition
) -> None:
    style = DEFAULT if edition <= Edition.ARTEMIS_1_5 else style
    match = match.replace("~", style.single_word)
    found = compile_match(match, style, edition)
    assert found.plain
    if match != "#":
        expected = re.fullmatch(as_the_broker_has_it(match, style, edition), address) is not None
        assert found.fits(address) == expected, (found.expression, address)


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    ("match", "style", "fits"),
    [
        ("a*" * 12 + "b", DEFAULT, False),
        ("*a" * 12, DEFAULT, True),
        ("x." + "*" * 20, DEFAULT, False),
        ("a#", DEFAULT, False),
        ("a+" * 8 + "b.#", DEFAULT, False),
        ("a+?" * 5 + "a{2,}b.*", DEFAULT, False),
        ("x+" * 9 + "b", Wildcards(delimiter="a", any_words=".", single_word="+"), False),
    ],
)
def test_no_match_takes_longer_than_a_look(match: str, style: Wildcards, fits: bool) -> None:
    # Backtracking took hours for these; a match that needs too many attempts matches nothing.
    found = compile_match(match, style, NEWEST)
    letter = "x" if style is not DEFAULT else "a"
    assert found.fits(letter * 3000) == fits
    assert not found.fits("x." + letter * 3000 + ".") and not found.fits("a" + "." * 60 + "\n")
