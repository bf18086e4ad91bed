"""A global limit in messages that counts nothing (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    messages = facts.broker["global-max-messages"]
    if messages.number > 0 and facts.global_off:
        yield Hit(messages, f"{messages} has no effect: the global limit in bytes is switched off")


RULE = Rule(
    id="global-messages-without-size",
    severity=Severity.WARNING,
    title="global-max-messages while the global size limit is off",
    why="the broker checks the number of messages only while a global limit in bytes is in force",
    help="remove globalMaxSize=-1 from the properties, or set a size that is never reached",
    check=_check,
    settings=("global-max-messages", "global-max-size"),
    since=Edition.ARTEMIS_2_28,
    failing=lambda: Example(core="<global-max-messages>500000</global-max-messages>", properties="globalMaxSize=-1\n"),
    passing=lambda: Example(core="<global-max-messages>500000</global-max-messages>"),
)
