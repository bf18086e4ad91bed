"""Page limits on an address that never pages (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.editions import Edition
from pagefmt.findings import Severity

NAMES = ("page-limit-bytes", "page-limit-messages", "page-full-policy")


def _check(facts: ConfigFacts) -> Hits:
    for case in facts.cases_with("page-full-policy", "page-limit-bytes", "page-limit-messages", "address-full-policy"):
        if case.value("address-full-policy") == "PAGE" or facts.given.isdisjoint(NAMES):
            continue
        policy = case["address-full-policy"]
        limits = [case["page-limit-bytes"], case["page-limit-messages"]]
        used = [limit for limit in limits if limit.number > 0] or [case["page-full-policy"]]
        if used[0].value and used[0].given:
            yield Hit(used[0], f"{used[0]} is never reached: '{case.match}' has {policy} and does not page")


RULE = Rule(
    id="page-limit-unused",
    severity=Severity.WARNING,
    title="page limits where address-full-policy is not PAGE",
    why="an address with BLOCK, FAIL or DROP writes no pages, so its page limits never apply",
    help="set address-full-policy to PAGE, or remove the page limits and page-full-policy",
    check=_check,
    settings=(*NAMES, "address-full-policy"),
    since=Edition.ARTEMIS_2_28,
    failing=lambda: Example(
        settings=address_setting(
            "orders.#",
            max_size_bytes="100M",
            address_full_policy="BLOCK",
            page_limit_bytes="500M",
            page_full_policy="FAIL",
        )
    ),
    passing=lambda: Example(
        settings=address_setting(
            "orders.#",
            max_size_bytes="100M",
            address_full_policy="PAGE",
            page_limit_bytes="500M",
            page_full_policy="FAIL",
        )
    ),
)
