"""Thousands of empty page folders (ARTEMIS-2102, ARTEMIS-5608)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.host import PageFolder
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.editions import Edition
from pagefmt.findings import Severity

MANY = 1000


def _check(facts: ConfigFacts) -> Hits:
    empty = sum(store.pages == 0 for store in facts.stores or ())
    if empty < MANY or facts.core is None:
        return
    purge = facts.broker["purge-page-folders"]
    if facts.edition >= Edition.ARTEMIS_2_44 and purge.value is not True:
        advice = (
            "set <purge-page-folders>true</purge-page-folders>, and auto-delete-addresses for short-lived addresses"
        )
    else:
        advice = "set auto-delete-queues and auto-delete-addresses for short-lived addresses"
    yield Hit(purge if purge.given else facts.core, f"{empty} page folders contain no page", advice)


RULE = Rule(
    id="many-empty-folders",
    severity=Severity.INFO,
    title="more than a thousand empty page folders",
    why="the broker opens each of them at start: hundreds of thousands take half an hour",
    help="have short-lived addresses deleted and empty folders purged",
    check=_check,
    settings=("purge-page-folders",),
    needs="data",
    failing=lambda: Example(
        stores=tuple(PageFolder(f"tmp.{n}", folder=f"f{n}", pages=0, bytes=0) for n in range(MANY))
    ),
    passing=lambda: Example(stores=(PageFolder("orders", folder="a1", pages=0, bytes=0),)),
)
