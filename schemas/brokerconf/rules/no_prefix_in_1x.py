"""Matches that miss the prefix of JMS addresses in 1.x and HornetQ (docs/spec/settings.md 5 and 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    if not facts.jms_destinations:
        return
    for match in facts.matches:
        for name, prefix in facts.jms_destinations.items():
            if facts.spelling.fits(match.text, name) and not facts.spelling.fits(match.text, prefix + name):
                message = f"'{match.text}' is meant for '{name}', whose address is '{prefix}{name}'"
                yield Hit(match.place, message, f"write '{prefix}{match.text}'", attribute="match")
                break


RULE = Rule(
    id="no-prefix-in-1x",
    severity=Severity.WARNING,
    title="a match without jms.queue. or jms.topic. for a JMS destination",
    why="up to 1.5 and in HornetQ the address of a JMS queue is jms.queue.NAME: a match without it applies to nothing",
    help="add jms.queue. or jms.topic. before it",
    check=_check,
    until=Edition.ARTEMIS_1_5,
    failing=lambda: Example(
        edition=Edition.ARTEMIS_1_5,
        jms='<queue name="orders"/>',
        settings=address_setting("orders", redelivery_delay="5"),
    ),
    passing=lambda: Example(
        edition=Edition.ARTEMIS_1_5,
        jms='<queue name="orders"/>',
        settings=address_setting("jms.queue.orders", redelivery_delay="5"),
    ),
)
