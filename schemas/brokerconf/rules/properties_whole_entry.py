"""A value where an entry with keys of its own belongs (docs/spec/properties.md 2 and 6)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from brokerconf.properties.outcomes import Fault
from pagefmt.editions import Edition
from pagefmt.findings import Severity

# a broker looks into their entries when something names one
_ASKED_FOR = ("connectorConfigurations", "discoveryGroupConfigurations", "jaasConfigs", "resourceLimitSettings")


def _check(facts: ConfigFacts) -> Hits:
    for outcome in facts.outcomes:
        if outcome.fault is Fault.WHOLE:
            starts = outcome.path[0] in _ASKED_FOR
            when = "fails when it is used" if starts else "does not start"
            message = f"{outcome.entry.key} needs keys below it instead of a value: the broker {when}"
            yield Hit(outcome.entry.position, message, path=outcome.entry.key, stops_start=not starts)


RULE = Rule(
    id="properties-whole-entry",
    severity=Severity.ERROR,
    title="a value for a whole entry or collection of broker.properties",
    why="the broker stores the text as the entry and reports no error until it fails",
    help="name the setting as well: addressSettings.a.maxSizeBytes",
    check=_check,
    since=Edition.ARTEMIS_2_28,
    failing=lambda: Example(properties="addressSettings.a=5M\n"),
    passing=lambda: Example(properties="addressSettings.a.maxSizeBytes=5M\n"),
)
