"""A limit of nothing."""

from __future__ import annotations

from collections.abc import Iterator

from brokerconf.evidence.facts import Facts
from brokerconf.evidence.rule import Example, Hit, Rule
from pagefmt.findings import Severity


def check(facts: Facts) -> Iterator[Hit]:
    for name in ("max-size-bytes", "max-size-messages"):
        for case in facts.cases_with(name):
            if case.value(name) == 0:
                limit = case[name]
                yield Hit(limit, f"{limit}: '{case.match}' counts as full from its first message on")


RULE = Rule(
    id="max-size-zero",
    severity=Severity.INFO,
    title="max-size-bytes or max-size-messages 0",
    why="such an address pages everything but the first message after each time it ran empty; up to 2.19 PAGE with 0 "
    "is refused when the address is first used",
    help="use -1 where no limit is meant",
    check=check,
    settings=("max-size-bytes", "max-size-messages"),
    failing=Example(settings='<address-setting match="a"><max-size-bytes>0</max-size-bytes></address-setting>'),
    passing=Example(settings='<address-setting match="a"><max-size-bytes>100M</max-size-bytes></address-setting>'),
    source="spec/settings.md 7; spec/editions.md 1",
)
