"""Names with dots in ``broker.properties``, not quoted (docs/spec/settings.md 1 and 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from brokerconf.properties.outcomes import Fault
from pagefmt.editions import Edition
from pagefmt.findings import Fix, Severity


def _check(facts: ConfigFacts) -> Hits:
    for outcome in facts.outcomes:
        if outcome.fault is Fault.UNQUOTED:
            collection, name, last = outcome.path[0], ".".join(outcome.path[1:-1]), outcome.path[-1]
            message = f"{outcome.entry.key} applies to match '{outcome.path[1]}', not to '{name}'"
            quoted = f'{collection}."{name}".{last}'
            fix = Fix(outcome.entry.position, outcome.entry.key, quoted)
            yield Hit(outcome.entry.position, message, f"write {quoted}", fix=fix, path=outcome.entry.key)


RULE = Rule(
    id="properties-unquoted-dots",
    severity=Severity.ERROR,
    title="a name with dots in a key of broker.properties, without quotes",
    why="each dot starts a new step: the setting applies to the first word, and the rest is an error that only the "
    "broker's status attribute shows",
    help='put the name in double quotes: addressSettings."a.b".maxSizeBytes',
    check=_check,
    since=Edition.ARTEMIS_2_28,
    failing=lambda: Example(properties="addressSettings.orders.eu.maxSizeBytes=10485760\n"),
    passing=lambda: Example(properties='addressSettings."orders.eu".maxSizeBytes=10485760\n'),
)
