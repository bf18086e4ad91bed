"""More memory than the heap has (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.editions import Edition
from pagefmt.findings import Severity

NAME = "global-max-size-percent-of-jvm-max-memory"


def _check(facts: ConfigFacts) -> Hits:
    percent = facts.broker[NAME]
    if percent.number > 100:
        yield Hit(percent, f"the global limit is set to {percent.number} % of the heap")


RULE = Rule(
    id="global-percent-over-100",
    severity=Severity.ERROR,
    title="global-max-size-percent-of-jvm-max-memory above 100",
    why="the broker accepts any number above 0; the heap runs out long before such a limit applies",
    help="choose 50 (the default) or less: the heap does not only hold messages",
    check=_check,
    settings=(NAME,),
    since=Edition.ARTEMIS_2_44,
    failing=lambda: Example(core=f"<{NAME}>150</{NAME}>"),
    passing=lambda: Example(core=f"<{NAME}>40</{NAME}>"),
)
