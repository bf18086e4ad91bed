"""Passwords that anybody who may read the file can read."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.findings import Severity


def check(facts: ConfigFacts) -> Hits:
    for place in facts.secrets:
        yield Hit(place.node, f"the password in {place.name} is written out in clear", attribute=place.attribute)


RULE = Rule(
    id="password-in-clear",
    severity=Severity.WARNING,
    title="a password in clear",
    why="configuration files travel: into backups, repositories, tickets",
    help="mask it as ENC(…) with 'artemis mask', or take it from a property: ${name}",
    check=check,
    failing=Example(core="<cluster-password>example-only</cluster-password>"),
    passing=Example(core="<cluster-password>ENC(-5a2376c61c668aaf)</cluster-password>"),
    source="spec/settings.md 1",
)
