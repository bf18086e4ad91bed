"""Page files of an address that no longer pages (docs/spec/settings.md 6.10 and 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.host import PageFolder
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    delivered = facts.edition >= Edition.ARTEMIS_2_44
    for store in facts.stores or ():
        if store.pages == 0 or not store.address:
            continue
        case = facts.at(store.address)
        policy = case["address-full-policy"]
        if policy.value != "PAGE":
            fate = "they are still delivered by this edition" if delivered else "consumers stop receiving them"
            message = (
                f"'{store.address}' has {store.pages} page files ({store.bytes} bytes) but now has {policy}: {fate}"
            )
            yield Hit(policy if policy.given else case.place, message)


RULE = Rule(
    id="policy-change-with-pages",
    severity=Severity.WARNING,
    title="page files exist for an address whose policy is not PAGE",
    why="before 2.43 a queue checks the policy, not the disk: the remaining pages are stranded",
    help="restore PAGE until the pages are consumed, or upgrade to 2.43 or later",
    check=_check,
    settings=("address-full-policy",),
    needs="data",
    failing=lambda: Example(
        edition=Edition.ARTEMIS_2_28,
        settings=address_setting("orders", max_size_bytes="100M", address_full_policy="BLOCK"),
        stores=(PageFolder("orders", folder="a1", pages=12, bytes=120 << 20),),
    ),
    passing=lambda: Example(
        edition=Edition.ARTEMIS_2_28,
        settings=address_setting("orders", max_size_bytes="100M", address_full_policy="PAGE"),
        stores=(PageFolder("orders", folder="a1", pages=12, bytes=120 << 20),),
    ),
)
