"""Two matches of one rank, and nothing that says which wins (docs/spec/settings.md 4 and 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.patterns import rivals
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from brokerconf.settings.address_settings import AddressSetting
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    for first, second in rivals(facts.wildcard_matches, facts.spelling.wildcards):
        message = (
            f"'{second.text}' and '{first.text}' (line {first.line}) are of equal rank and differ in "
            f"{', '.join(_differing(first, second))}: which one wins is not defined"
        )
        yield Hit(second.place, message, attribute="match")


def _differing(first: AddressSetting, second: AddressSetting) -> list[str]:
    return [name for name in first.given if name in second.given and first.read[name] != second.read[name]]


RULE = Rule(
    id="ambiguous-match",
    severity=Severity.WARNING,
    title="two wildcard matches of equal rank that overlap and disagree",
    why="among matches of equal rank the broker's order is that of a hash table: it can differ between two brokers",
    help="make one of the matches longer or simpler, or give both the same values",
    check=_check,
    failing=lambda: Example(
        settings=address_setting("a.*.#", max_size_bytes="10M") + address_setting("a.b.#", max_size_bytes="20M")
    ),
    passing=lambda: Example(
        settings=address_setting("a.*.#", max_size_bytes="10M") + address_setting("a.bb.#", max_size_bytes="20M")
    ),
)
