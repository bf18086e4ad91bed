"""A limit of nothing (docs/spec/settings.md 7; docs/spec/editions.md 1)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    for name in ("max-size-bytes", "max-size-messages"):
        for case in facts.cases_with(name):
            if case.value(name) == 0:
                limit = case[name]
                yield Hit(limit, f"{limit}: '{case.match}' is full from its first message on")


RULE = Rule(
    id="max-size-zero",
    severity=Severity.INFO,
    title="max-size-bytes or max-size-messages 0",
    why="such an address pages everything except the first message after each time it has been empty; up to 2.19 "
    "PAGE with 0 is refused when the address is first used",
    help="use -1 if no limit is intended",
    check=_check,
    settings=("max-size-bytes", "max-size-messages"),
    failing=lambda: Example(settings=address_setting("a", max_size_bytes="0")),
    passing=lambda: Example(settings=address_setting("a", max_size_bytes="100M")),
)
