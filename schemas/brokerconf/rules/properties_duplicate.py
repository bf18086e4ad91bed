"""A key that stands twice in a file of properties (docs/spec/properties.md 2)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    for entry in facts.properties:
        if entry.earlier is not None:
            same = entry.earlier.value == entry.value
            line = entry.earlier.position.line
            message = f"{entry.key} is already in line {line}, {'with the same' if same else 'with another'} value"
            yield Hit(entry.position, message, severity=Severity.WARNING if same else None, path=entry.key)


RULE = Rule(
    id="properties-duplicate",
    severity=Severity.ERROR,
    title="a duplicate key in a properties file",
    why="the last value is used, and it is applied in the place of the first",
    help="keep one of them",
    check=_check,
    since=Edition.ARTEMIS_2_28,
    failing=lambda: Example(properties="maxDiskUsage=80\nmaxDiskUsage=90\n"),
    passing=lambda: Example(properties="maxDiskUsage=90\n"),
)
