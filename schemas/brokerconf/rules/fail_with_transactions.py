"""FAIL, and what it does to transactions (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    for case in facts.cases_with("address-full-policy"):
        if case.value("address-full-policy") == "FAIL":
            policy = case["address-full-policy"]
            yield Hit(policy, f"when '{case.match}' is full, transactions that send to it can only be rolled back")


RULE = Rule(
    id="fail-with-transactions",
    severity=Severity.INFO,
    title="address-full-policy FAIL",
    why="a refused message marks the whole transaction as rollback-only, its other sends and acknowledgements included",
    help="make sure that producers handle the failure and repeat the whole transaction",
    check=_check,
    settings=("address-full-policy",),
    failing=lambda: Example(settings=address_setting("orders.#", max_size_bytes="100M", address_full_policy="FAIL")),
    passing=lambda: Example(settings=address_setting("orders.#", max_size_bytes="100M", address_full_policy="PAGE")),
)
