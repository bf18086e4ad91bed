"""A disk looked at too seldom (docs/spec/settings.md 7; docs/spec/disk-monitor.md 5)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.editions import Edition
from pagefmt.findings import Severity

SLOW = 60000


def _check(facts: ConfigFacts) -> Hits:
    period = facts.broker["disk-scan-period"]
    if period.number > SLOW:
        yield Hit(period, f"{period}: the disk is checked only every {period.number / 1000:g} s")


RULE = Rule(
    id="disk-scan-slow",
    severity=Severity.WARNING,
    title="disk-scan-period above a minute",
    why="the disk can fill up between two scans, and producers may still use credits that they already have",
    help="use the default of 5000 (milliseconds)",
    check=_check,
    settings=("disk-scan-period",),
    since=Edition.ARTEMIS_1_5,
    failing=lambda: Example(core="<disk-scan-period>300000</disk-scan-period>"),
    passing=lambda: Example(core="<disk-scan-period>5000</disk-scan-period>"),
)
