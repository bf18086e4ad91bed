"""A journal that never gives files back (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    pool = facts.broker["journal-pool-files"]
    if pool.given and pool.value == -1:
        yield Hit(pool, "journal-pool-files -1: the journal keeps every file that it has ever created")


RULE = Rule(
    id="pool-files-unbounded",
    severity=Severity.WARNING,
    title="journal-pool-files -1",
    why="after one backlog the journal never shrinks; the broker warns about it (AMQ222269)",
    help="set the number of files that normal load needs, such as 10",
    check=_check,
    settings=("journal-pool-files",),
    since=Edition.ARTEMIS_1_5,
    failing=lambda: Example(core="<journal-pool-files>-1</journal-pool-files>"),
    passing=lambda: Example(core="<journal-pool-files>10</journal-pool-files>"),
)
