"""A negative limit other than -1."""

from __future__ import annotations

from collections.abc import Iterator

from brokerconf.evidence.facts import Facts
from brokerconf.evidence.rule import Example, Hit, Rule
from pagefmt.findings import Severity


def check(facts: Facts) -> Iterator[Hit]:
    for case in facts.cases_with("max-size-bytes"):
        if case.number("max-size-bytes") < -1:
            limit = case["max-size-bytes"]
            yield Hit(limit, f"{limit} of '{case.match}' acts as 'no limit', yet is not -1")


RULE = Rule(
    id="max-size-odd-negative",
    severity=Severity.WARNING,
    title="max-size-bytes below -1",
    why="any negative number switches the limit off, but BLOCK and FAIL look for -1 alone and think there is a limit",
    help="write -1 for no limit",
    check=check,
    settings=("max-size-bytes",),
    failing=Example(settings='<address-setting match="a"><max-size-bytes>-5</max-size-bytes></address-setting>'),
    passing=Example(settings='<address-setting match="a"><max-size-bytes>-1</max-size-bytes></address-setting>'),
    source="spec/settings.md 7",
)
