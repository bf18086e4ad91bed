"""``orders#``, which does not fit what it seems to (docs/spec/settings.md 4 and 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    any_words, delimiter = facts.spelling.wildcards.any_words, facts.spelling.wildcards.delimiter
    for match in facts.matches if facts.wildcards_known else ():
        text = match.text
        bare = text.removesuffix(any_words)
        if facts.spelling.is_literal(text) or bare == text or not bare or bare.endswith(delimiter):
            continue
        advice = _advice(bare, delimiter, any_words)
        message = f"'{text}' matches '{bare}' and '{bare}{delimiter}x', but not '{bare}x'"
        yield Hit(match.place, message, advice, attribute="match")


def _advice(bare: str, delimiter: str, any_words: str) -> str:
    """Return the match that was meant; the end of ``bare`` may be the delimiter of another broker or protocol."""
    other = "." if delimiter == "/" else "/"
    if other not in bare:
        return f"write '{bare}{delimiter}{any_words}'"
    spelt = bare.replace(other, delimiter)
    meant = f"write '{spelt if spelt.endswith(delimiter) else spelt + delimiter}{any_words}'"
    if other == ".":
        return f"{meant}: the delimiter is '{delimiter}'"
    return (
        f"{meant}, as the broker turns the '/' of MQTT topics into '{delimiter}'; for addresses that contain '/', set "
        "<delimiter>/</delimiter> in <wildcard-addresses>"
    )


RULE = Rule(
    id="match-hash-inside-word",
    severity=Severity.WARNING,
    title="'#' without a delimiter before it",
    why="'#' stands for whole words: it never matches the rest of a word",
    help="write the delimiter before '#'; there is no wildcard for part of a word",
    check=_check,
    failing=lambda: Example(settings=address_setting("orders#", max_size_bytes="10M")),
    passing=lambda: Example(settings=address_setting("orders.#", max_size_bytes="10M")),
)
