"""A size that does not fit and turns into another number."""

from __future__ import annotations

from collections.abc import Iterator

from brokerconf.findings import Severity
from brokerconf.rules.facts import Facts
from brokerconf.rules.rule import Example, Hit, Rule
from pagefmt.editions import Edition


def check(facts: Facts) -> Iterator[Hit]:
    for taken, size in facts.overflowing_sizes:
        yield Hit(taken, f"{taken} does not fit into 64 bits: the broker takes {size}")


RULE = Rule(
    id="size-overflow",
    severity=Severity.WARNING,
    title="a size beyond 64 bits",
    why="the multiplication overflows without an error: the limit becomes some other number, often a negative one",
    help="write a smaller size, or -1 for no limit",
    check=check,
    since=Edition.ARTEMIS_1_5,
    failing=Example(
        settings='<address-setting match="a"><max-size-bytes>8589934592G</max-size-bytes></address-setting>'
    ),
    passing=Example(settings='<address-setting match="a"><max-size-bytes>8G</max-size-bytes></address-setting>'),
    source="spec/settings.md 2; spec/config-behaviour.md",
)
