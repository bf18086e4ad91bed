"""Two disk limits, of which one counts."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def check(facts: ConfigFacts) -> Hits:
    usage, free = facts.broker["max-disk-usage"], facts.broker["min-disk-free"]
    if usage.given and usage.value != -1 and free.number != -1:
        yield Hit(usage, f"{usage} is ignored: {free} is given as well and wins")


RULE = Rule(
    id="both-disk-limits",
    severity=Severity.WARNING,
    title="min-disk-free and max-disk-usage both given",
    why="min-disk-free alone decides when both are there (AMQ224130): producers block at another point than expected",
    help="keep the one that is meant; <max-disk-usage>-1</max-disk-usage> beside min-disk-free keeps the log quiet",
    check=check,
    settings=("min-disk-free", "max-disk-usage"),
    since=Edition.ARTEMIS_2_44,
    failing=Example(core="<max-disk-usage>85</max-disk-usage><min-disk-free>10G</min-disk-free>"),
    passing=Example(core="<max-disk-usage>-1</max-disk-usage><min-disk-free>10G</min-disk-free>"),
    source="spec/settings.md 7; spec/disk-monitor.md 1; ARTEMIS-3057",
)
