"""A value that the broker does not take for a key (docs/spec/properties.md 1)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from brokerconf.properties.outcomes import Fault
from brokerconf.reading.secrets import masked
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    for outcome in facts.outcomes:
        if outcome.fault in (Fault.REFUSED, Fault.CODE):
            entry = outcome.entry
            message = f"{entry.key}={masked(entry.value, entry.key)} is refused: {outcome.said}"
            at = entry.at_value or entry.position
            yield Hit(at, message, path=entry.key, stops_start=outcome.fault is Fault.CODE)


RULE = Rule(
    id="properties-bad-value",
    severity=Severity.ERROR,
    title="a value in broker.properties that the broker refuses",
    why="the old value stays; only the broker's status attribute shows it (with an invalid ENC(), the broker does "
    "not start)",
    help="write a value of the type that the key accepts",
    check=_check,
    since=Edition.ARTEMIS_2_28,
    failing=lambda: Example(properties="addressSettings.a.addressFullMessagePolicy=page\n"),
    passing=lambda: Example(properties="addressSettings.a.addressFullMessagePolicy=PAGE\n"),
)
