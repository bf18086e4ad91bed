"""``1`` where the schema takes it for true and the broker for false."""

from __future__ import annotations

from collections.abc import Iterator

from brokerconf.findings import Severity
from brokerconf.rules.facts import Facts
from brokerconf.rules.rule import Example, Hit, Rule


def check(facts: Facts) -> Iterator[Hit]:
    for node in facts.booleans_written("1"):
        yield Hit(node, f"{node.name} is 1: the schema takes that for true, the broker reads false")


RULE = Rule(
    id="boolean-one",
    severity=Severity.WARNING,
    title="1 for a boolean",
    why="the broker takes 'true' alone for true: with 1 the setting is switched off in silence",
    help="write true",
    check=check,
    failing=Example(core="<persistence-enabled>1</persistence-enabled>"),
    passing=Example(core="<persistence-enabled>true</persistence-enabled>"),
    source="spec/config-behaviour.md",
)
