"""Page limits on an address that never pages."""

from __future__ import annotations

from collections.abc import Iterator

from brokerconf.evidence.facts import Facts
from brokerconf.evidence.rule import Example, Hit, Rule
from pagefmt.editions import Edition
from pagefmt.findings import Severity

NAMES = ("page-limit-bytes", "page-limit-messages", "page-full-policy")


def check(facts: Facts) -> Iterator[Hit]:
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
    why="an address with BLOCK, FAIL or DROP writes no pages, so its page limits are never looked at",
    help="set address-full-policy to PAGE, or remove the page limits and page-full-policy",
    check=check,
    settings=(*NAMES, "address-full-policy"),
    since=Edition.ARTEMIS_2_28,
    failing=Example(
        settings="""<address-setting match="orders.#">
  <max-size-bytes>100M</max-size-bytes>
  <address-full-policy>BLOCK</address-full-policy>
  <page-limit-bytes>500M</page-limit-bytes>
  <page-full-policy>FAIL</page-full-policy>
</address-setting>"""
    ),
    passing=Example(
        settings="""<address-setting match="orders.#">
  <max-size-bytes>100M</max-size-bytes>
  <address-full-policy>PAGE</address-full-policy>
  <page-limit-bytes>500M</page-limit-bytes>
  <page-full-policy>FAIL</page-full-policy>
</address-setting>"""
    ),
    source="spec/settings.md 7",
)
