"""A value that becomes another without an error (docs/spec/properties.md 1)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from brokerconf.properties.outcomes import Fault
from brokerconf.reading.secrets import masked
from brokerconf.rules.properties_size_notation import is_size
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    for outcome in facts.outcomes:
        if outcome.fault is Fault.LOST and not is_size(outcome):
            entry = outcome.entry
            shown = masked(entry.value, entry.key)
            message = f"{entry.key}={shown} {outcome.said}, without an error"
            yield Hit(entry.at_value or entry.position, message, path=entry.key)


RULE = Rule(
    id="properties-silent-value",
    severity=Severity.ERROR,
    title="a value in broker.properties that becomes 0 or false or overflows",
    why="text that is not a number becomes 0, and text that does not mean true becomes false: not even the status "
    "attribute shows it",
    help="write a plain number, or true or false without spaces",
    check=_check,
    since=Edition.ARTEMIS_2_4,
    failing=lambda: Example(properties="persistenceEnabled=t\n"),
    passing=lambda: Example(properties="persistenceEnabled=true\n"),
)
