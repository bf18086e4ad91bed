"""Characters of regular expressions in a match."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.findings import Severity

SPECIAL = frozenset("+?()[]{}|^\\")


def check(facts: ConfigFacts) -> Hits:
    given = facts.spelling.wildcards
    wild = {given.any_words, given.single_word, given.delimiter}
    for match in facts.wildcard_matches:
        found = sorted(SPECIAL.intersection(match.text) - wild)
        if found:
            message = f"'{match.text}': {' '.join(found)} are read as parts of a regular expression"
            yield Hit(match.place, message, attribute="match")


RULE = Rule(
    id="match-regex-characters",
    severity=Severity.WARNING,
    title="characters of regular expressions in a wildcard match",
    why="a match with a wildcard is made into a regular expression, in which only '.' and '$' are taken as they are",
    help="avoid such characters in addresses, or use an exact match or literal-match-markers",
    check=check,
    failing=Example(settings=address_setting("a+b.#", max_size_bytes="10M")),
    passing=Example(settings=address_setting("a+b", max_size_bytes="10M")),
    source="spec/settings.md 4 and 7",
)
