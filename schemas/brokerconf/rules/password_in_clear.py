"""Passwords that anybody who may read the file can read (docs/spec/settings.md 1)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    for place in facts.secrets:
        yield Hit(place.node, f"the password in {place.name} is in clear text", attribute=place.attribute)


RULE = Rule(
    id="password-in-clear",
    severity=Severity.WARNING,
    title="a password in clear text",
    why="configuration files end up in backups, repositories and tickets",
    help="mask it as ENC(…) with 'artemis mask', or take it from a property: ${name}",
    check=_check,
    failing=Example(core="<cluster-password>example-only</cluster-password>"),
    passing=Example(core="<cluster-password>ENC(-5a2376c61c668aaf)</cluster-password>"),
)
