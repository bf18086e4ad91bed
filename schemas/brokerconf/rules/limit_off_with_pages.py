"""Page files of an address that has no limit any more (HornetQ 1469369)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.host import PageFolder
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    if not facts.global_off:
        return
    for store in facts.stores or ():
        if store.pages == 0 or not store.address:
            continue
        case = facts.at(store.address)
        limit = case["max-size-bytes"]
        if case["address-full-policy"].value == "PAGE" and not facts.has_memory_limit(case):
            message = f"'{store.address}' has {store.pages} page files ({store.bytes} bytes) but no longer a limit"
            yield Hit(limit if limit.given else case.place, message)


RULE = Rule(
    id="limit-off-with-pages",
    severity=Severity.WARNING,
    title="page files exist for an address without any limit",
    why="the limit was removed while the address had page files: old releases never read them again",
    help="restore the limit until the pages are consumed",
    check=_check,
    settings=("max-size-bytes",),
    needs="data",
    failing=lambda: Example(
        edition=Edition.ARTEMIS_1_5,
        settings=address_setting("#", max_size_bytes="-1"),
        stores=(PageFolder("jms.queue.orders", folder="a1", pages=12, bytes=120 << 20),),
    ),
    passing=lambda: Example(
        edition=Edition.ARTEMIS_1_5,
        settings=address_setting("#", max_size_bytes="104857600"),
        stores=(PageFolder("jms.queue.orders", folder="a1", pages=12, bytes=120 << 20),),
    ),
)
