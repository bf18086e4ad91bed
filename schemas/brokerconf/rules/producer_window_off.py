"""Clients that switch flow control off (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    for connector in facts.connectors:
        if connector.parameters.get("producerWindowSize", "").strip() == "-1":
            message = f"connector '{connector.name}' has producerWindowSize=-1: its clients do not wait for credits"
            yield Hit(connector.node, message)


RULE = Rule(
    id="producer-window-off",
    severity=Severity.INFO,
    title="producerWindowSize=-1 in a connector",
    why="a producer without credits is not held back by BLOCK, nor by a full disk",
    help="leave it at its default of 65536",
    check=_check,
    failing=lambda: Example(
        core="""<connectors>
  <connector name="shop">tcp://localhost:61616?producerWindowSize=-1</connector>
</connectors>"""
    ),
    passing=lambda: Example(
        core="""<connectors>
  <connector name="shop">tcp://localhost:61616?producerWindowSize=65536</connector>
</connectors>"""
    ),
)
