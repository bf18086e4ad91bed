"""Two disk limits, of which one counts (docs/spec/settings.md 7; docs/spec/disk-monitor.md 1; ARTEMIS-3057)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    usage, free = facts.broker["max-disk-usage"], facts.broker["min-disk-free"]
    if usage.given and usage.value != -1 and free.number != -1:
        yield Hit(usage, f"{usage} is ignored: {free} is also set and takes precedence")


RULE = Rule(
    id="both-disk-limits",
    severity=Severity.WARNING,
    title="min-disk-free and max-disk-usage both set",
    why="min-disk-free takes precedence when both are set (AMQ224130), so producers block at an unexpected point",
    help="keep one of them; <max-disk-usage>-1</max-disk-usage> beside min-disk-free avoids the warning in the log",
    check=_check,
    settings=("min-disk-free", "max-disk-usage"),
    since=Edition.ARTEMIS_2_44,
    failing=lambda: Example(core="<max-disk-usage>85</max-disk-usage><min-disk-free>10G</min-disk-free>"),
    passing=lambda: Example(core="<max-disk-usage>-1</max-disk-usage><min-disk-free>10G</min-disk-free>"),
)
