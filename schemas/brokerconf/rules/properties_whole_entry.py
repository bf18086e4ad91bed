"""A value where an entry with keys of its own belongs (docs/spec/properties.md 2)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from brokerconf.properties.application import Fault
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    for one in facts.outcomes:
        if one.fault is Fault.WHOLE:
            message = f"{one.entry.key} takes keys below it and no value of its own"
            yield Hit(one.entry.position, message, path=one.entry.key)


RULE = Rule(
    id="properties-whole-entry",
    severity=Severity.ERROR,
    title="a value for a whole entry or collection of broker.properties",
    why="the broker takes the text for the entry, tells no error, and fails at its start or on first use",
    help="name what is to be set: addressSettings.a.maxSizeBytes",
    check=_check,
    since=Edition.ARTEMIS_2_28,
    failing=Example(properties="addressSettings.a=5M\n"),
    passing=Example(properties="addressSettings.a.maxSizeBytes=5M\n"),
)
