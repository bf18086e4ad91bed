"""Two connectors or acceptors of one name."""

from __future__ import annotations

from collections.abc import Iterator

from brokerconf.findings import Severity
from brokerconf.rules.facts import Facts
from brokerconf.rules.rule import Example, Hit, Rule
from pagefmt.editions import Edition


def check(facts: Facts) -> Iterator[Hit]:
    seen: dict[str, int] = {}
    for connector in facts.connectors:
        if connector.name in seen:
            message = (
                f"connector '{connector.name}' stands in line {seen[connector.name]} already: this one is left out"
            )
            yield Hit(connector.node, message, attribute="name")
        else:
            seen[connector.name] = connector.node.position.line


RULE = Rule(
    id="duplicate-connector",
    severity=Severity.WARNING,
    title="the same connector name twice",
    why="the first one stays; the later is left out with a warning in the log",
    help="give it a name of its own, or remove it",
    check=check,
    since=Edition.ARTEMIS_1_5,
    failing=Example(
        core="""<connectors>
  <connector name="shop">tcp://one:61616</connector>
  <connector name="shop">tcp://two:61616</connector>
</connectors>"""
    ),
    passing=Example(
        core="""<connectors>
  <connector name="shop">tcp://one:61616</connector>
  <connector name="shop-2">tcp://two:61616</connector>
</connectors>"""
    ),
    source="spec/config-behaviour.md",
)
