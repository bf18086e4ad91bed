"""A number of messages that the broker cannot read (docs/spec/settings.md 3 and 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.editions import Edition
from pagefmt.findings import Severity

LARGEST = 2**31 - 1


def _check(facts: ConfigFacts) -> Hits:
    for match in facts.matches:
        limit = facts.own(match, "max-size-messages")
        digits = limit.text.strip().removeprefix("+") if limit else ""
        # a property takes 64 bits
        if limit and limit.node and digits.isdecimal() and int(digits[:20]) > LARGEST:
            yield Hit(limit, f"max-size-messages {digits[:20]} is above {LARGEST}, so the broker does not start")


RULE = Rule(
    id="max-messages-over-int",
    severity=Severity.ERROR,
    title="max-size-messages above 2147483647",
    why="the schema allows 64 bits, but the reader only 32: AMQ219054",
    help="use -1 for no limit, or a smaller number",
    check=_check,
    settings=("max-size-messages",),
    since=Edition.ARTEMIS_2_28,
    explains_schema=True,
    stops_start=True,
    failing=lambda: Example(settings=address_setting("a", max_size_messages="3000000000")),
    passing=lambda: Example(settings=address_setting("a", max_size_messages="2147483647")),
)
