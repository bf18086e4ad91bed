"""Two ways to give the global limit, of which one counts (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.editions import Edition
from pagefmt.findings import Severity

NAME = "global-max-size-percent-of-jvm-max-memory"


def _check(facts: ConfigFacts) -> Hits:
    percent, size = facts.broker[NAME], facts.broker["global-max-size"]
    if percent.given and size.number > 0:
        yield Hit(percent, f"{percent} is ignored: {size} is set as well")


RULE = Rule(
    id="global-percent-ignored",
    severity=Severity.INFO,
    title="percentage of the heap beside an explicit global-max-size",
    why="the percentage is used only if global-max-size is not set",
    help="remove one of the two",
    check=_check,
    settings=(NAME, "global-max-size"),
    since=Edition.ARTEMIS_2_44,
    failing=lambda: Example(core=f"<global-max-size>1G</global-max-size><{NAME}>40</{NAME}>"),
    passing=lambda: Example(core=f"<{NAME}>40</{NAME}>"),
)
