"""A global limit that the heap never reaches (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    size = facts.broker["global-max-size"]
    if facts.heap is not None and size.number >= facts.heap:
        yield Hit(size, f"{size} is not below the heap of {facts.heap} bytes")


RULE = Rule(
    id="global-size-over-heap",
    severity=Severity.ERROR,
    title="global-max-size is not below the heap",
    why="the broker runs out of memory before any policy applies",
    help="set global-max-size to half of -Xmx or less, or leave it out",
    check=_check,
    settings=("global-max-size",),
    since=Edition.ARTEMIS_1_5,
    needs="heap",
    failing=lambda: Example(heap=2 << 30, core="<global-max-size>4G</global-max-size>"),
    passing=lambda: Example(heap=8 << 30, core="<global-max-size>4G</global-max-size>"),
)
