"""Characters of regular expressions in a match (docs/spec/settings.md 4 and 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.findings import Severity

SPECIAL = frozenset("+?()[]{}|^\\")


def _check(facts: ConfigFacts) -> Hits:
    wildcards = facts.spelling.wildcards
    wild = {wildcards.any_words, wildcards.single_word, wildcards.delimiter}
    for match in facts.wildcard_matches if facts.wildcards_known else ():
        special = sorted(SPECIAL.intersection(match.text) - wild)
        if special:
            message = f"'{match.text}': {' '.join(special)} are read as parts of a regular expression"
            yield Hit(match.place, message, attribute="match")


RULE = Rule(
    id="match-regex-characters",
    severity=Severity.WARNING,
    title="characters of regular expressions in a wildcard match",
    why="the broker turns a match with a wildcard into a regular expression and escapes only '.' and '$'",
    help="avoid such characters in addresses, or use an exact match or literal-match-markers",
    check=_check,
    failing=lambda: Example(settings=address_setting("a+b.#", max_size_bytes="10M")),
    passing=lambda: Example(settings=address_setting("a+b", max_size_bytes="10M")),
)
