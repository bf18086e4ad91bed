"""A policy for full pages, and nothing that fills them (docs/spec/settings.md 3 and 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    for case in facts.cases_with(
        "page-full-policy", "page-limit-bytes", "page-limit-messages", only_if_set="page-full-policy"
    ):
        policy = case["page-full-policy"]
        if policy.value and not facts.has_page_limit(case):
            yield Hit(policy, f"{policy} of '{case.match}' has no page-limit-bytes and no page-limit-messages")


RULE = Rule(
    id="page-policy-without-limit",
    severity=Severity.WARNING,
    title="page-full-policy without a page limit",
    why="the broker ignores the policy and logs AMQ224124: the pages of the address remain unlimited",
    help="add page-limit-bytes or page-limit-messages, or remove page-full-policy",
    check=_check,
    settings=("page-full-policy", "page-limit-bytes", "page-limit-messages"),
    since=Edition.ARTEMIS_2_28,
    failing=lambda: Example(settings=address_setting("orders.#", page_full_policy="FAIL")),
    passing=lambda: Example(
        settings=address_setting("orders.#", page_limit_messages="100000", page_full_policy="FAIL")
    ),
)
