"""A key that is not applied because of the one before (docs/spec/properties.md 2)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from brokerconf.properties.outcomes import Fault
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    for outcome in facts.outcomes:
        if outcome.fault is Fault.AFTER_ERROR:
            yield Hit(
                outcome.entry.position, f"{outcome.entry.key} is not applied: {outcome.said}", path=outcome.entry.key
            )


RULE = Rule(
    id="properties-after-error",
    severity=Severity.ERROR,
    title="a key of broker.properties that an earlier error breaks",
    why="after an error in a collection, or after all its entries were removed, the broker misreads one key",
    help="correct the key before it; put keys that remove a whole collection in a file of their own",
    check=_check,
    since=Edition.ARTEMIS_2_28,
    failing=lambda: Example(properties="divertConfigurations=-\naddressSettings.a.maxSizeBytes=5M\n"),
    passing=lambda: Example(properties="divertConfigurations=-\n"),
)
