"""Prefixes of JMS addresses that are gone since 2.0 (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.editions import Edition
from pagefmt.findings import Severity

PREFIXES = ("jms.queue.", "jms.topic.")


def _check(facts: ConfigFacts) -> Hits:
    # application servers still put the prefix before the names
    for match in () if facts.document.kind.of_application_server else facts.matches:
        prefix = next((prefix for prefix in PREFIXES if match.text.startswith(prefix)), "")
        if prefix:
            message = f"'{match.text}': since 2.0 the addresses of JMS destinations have no '{prefix}'"
            yield Hit(match.place, message, f"write '{match.text.removeprefix(prefix)}'", attribute="match")


RULE = Rule(
    id="jms-prefix-in-2x",
    severity=Severity.WARNING,
    title="a match that begins with jms.queue. or jms.topic.",
    why="in 1.x and HornetQ the address of a JMS queue had that prefix; now the match applies to no address, unless "
    "old clients send to the long name and the acceptor does not strip the prefix (anycastPrefix, multicastPrefix)",
    help="remove the prefix",
    check=_check,
    since=Edition.ARTEMIS_2_4,
    failing=lambda: Example(settings=address_setting("jms.queue.orders", max_size_bytes="10M")),
    passing=lambda: Example(settings=address_setting("orders", max_size_bytes="10M")),
)
