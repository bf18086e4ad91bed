"""Page folders with nothing in them, by the thousand."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.host import PageFolder
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from pagefmt.editions import Edition
from pagefmt.findings import Severity

MANY = 1000


def check(facts: ConfigFacts) -> Hits:
    empty = sum(store.pages == 0 for store in facts.stores or ())
    if empty < MANY or facts.core is None:
        return
    purge = facts.broker["purge-page-folders"]
    if facts.edition >= Edition.ARTEMIS_2_44 and purge.value is not True:
        advice = (
            "set <purge-page-folders>true</purge-page-folders>, and auto-delete-addresses for addresses of a moment"
        )
    else:
        advice = "set auto-delete-queues and auto-delete-addresses for addresses of a moment"
    yield Hit(purge if purge.given else facts.core, f"{empty} page folders hold no page", advice)


RULE = Rule(
    id="many-empty-folders",
    severity=Severity.INFO,
    title="more than a thousand empty page folders",
    why="each is opened when the broker starts: hundreds of thousands cost half an hour",
    help="let addresses of a moment be deleted, and empty folders be purged",
    check=check,
    settings=("purge-page-folders",),
    needs="data",
    failing=Example(stores=tuple(PageFolder(f"tmp.{n}", folder=f"f{n}", pages=0, bytes=0) for n in range(MANY))),
    passing=Example(stores=(PageFolder("orders", folder="a1", pages=0, bytes=0),)),
    source="design/operators.md (ARTEMIS-2102, ARTEMIS-5608)",
)
