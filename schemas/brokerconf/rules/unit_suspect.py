"""A number that looks like another unit (docs/spec/settings.md 6.15 and 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.findings import Severity

NANOSECONDS = 10000
MILLISECONDS = 100


def _check(facts: ConfigFacts) -> Hits:
    for name in ("page-sync-timeout", "journal-buffer-timeout"):
        timeout = facts.broker[name]
        if timeout.given and 0 < timeout.number < NANOSECONDS:
            yield Hit(timeout, f"{timeout} is in nanoseconds: {timeout.number / 1000:g} µs")
    period = facts.broker["disk-scan-period"]
    if 0 < period.number < MILLISECONDS:
        yield Hit(period, f"{period} is in milliseconds: the disk is checked {1000 // period.number} times a second")


RULE = Rule(
    id="unit-suspect",
    severity=Severity.WARNING,
    title="a time that was probably meant in a different unit",
    why="page-sync-timeout and journal-buffer-timeout are in nanoseconds, disk-scan-period in milliseconds",
    help="multiply milliseconds by 1000000 for nanoseconds, seconds by 1000 for milliseconds",
    check=_check,
    settings=("page-sync-timeout", "journal-buffer-timeout", "disk-scan-period"),
    failing=lambda: Example(core="<page-sync-timeout>5000</page-sync-timeout>"),
    passing=lambda: Example(core="<page-sync-timeout>5000000</page-sync-timeout>"),
)
