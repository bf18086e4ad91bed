"""``global-max-size`` -1, which does not switch the limit off (docs/spec/settings.md 6.1 and 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    size = facts.broker["global-max-size"]
    if size.node is not None and size.value == -1 and not facts.global_off:
        yield Hit(size, "global-max-size -1 does not switch the global limit off: half of the heap stays the limit")


RULE = Rule(
    id="global-size-minus-one",
    severity=Severity.WARNING,
    title="global-max-size -1 in broker.xml",
    why="since 2.1 the broker treats -1 as 'not set' and derives the limit from the heap, contrary to the manual",
    help="give a size, or leave the element out; only broker.properties (globalMaxSize=-1) really switches it off",
    check=_check,
    settings=("global-max-size",),
    since=Edition.ARTEMIS_2_4,
    failing=lambda: Example(core="<global-max-size>-1</global-max-size>"),
    passing=lambda: Example(core="<global-max-size>1G</global-max-size>"),
)
