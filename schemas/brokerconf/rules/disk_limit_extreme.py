"""Disk limits that always or never act (docs/spec/settings.md 7; docs/spec/disk-monitor.md 3)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.editions import Edition
from pagefmt.findings import Severity

_EFFECTS = {
    0: "producers are blocked from the first scan on",
    100: "producers are blocked only when not one byte is left",
    -1: "the disk is not watched",
}


def _check(facts: ConfigFacts) -> Hits:
    usage, period = facts.broker["max-disk-usage"], facts.broker["disk-scan-period"]
    decides = facts.broker["min-disk-free"].number == -1
    if usage.given and decides and usage.number in _EFFECTS:
        yield Hit(usage, f"{usage}: {_EFFECTS[usage.number]}")
    if period.given and period.number < 0:
        yield Hit(period, f"disk-scan-period {period.number}: the limits are never checked")


RULE = Rule(
    id="disk-limit-extreme",
    severity=Severity.WARNING,
    title="max-disk-usage 0, 100 or -1, or disk-scan-period -1",
    why="a full disk stops the whole broker with an I/O error; the limit blocks producers before that happens",
    help="use 80 to 95, or min-disk-free with a size",
    check=_check,
    settings=("max-disk-usage", "disk-scan-period"),
    since=Edition.ARTEMIS_1_5,
    failing=lambda: Example(core="<max-disk-usage>100</max-disk-usage>"),
    passing=lambda: Example(core="<max-disk-usage>90</max-disk-usage>"),
)
