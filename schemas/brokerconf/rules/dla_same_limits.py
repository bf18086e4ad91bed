"""A dead letter address that itself drops or refuses (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    for case in facts.cases_with("dead-letter-address", "address-full-policy", "max-size-bytes", "max-size-messages"):
        name = case.value("dead-letter-address")
        if not name:
            continue
        target = facts.at(str(name))
        refuses = target.value("address-full-policy") in ("DROP", "FAIL")
        if refuses and (facts.has_memory_limit(target) or not facts.global_off):
            address, policy = case["dead-letter-address"], target["address-full-policy"]
            yield Hit(address, f"dead-letter-address '{address.value}' has {policy} itself (match '{policy.match}')")


RULE = Rule(
    id="dla-same-limits",
    severity=Severity.INFO,
    title="the dead letter address has DROP or FAIL",
    why="when dead letters accumulate, the address that should keep them drops or rejects them",
    help="give the dead letter address a match of its own with PAGE",
    check=_check,
    settings=("dead-letter-address", "address-full-policy"),
    failing=lambda: Example(
        settings=address_setting(
            "orders.#", dead_letter_address="orders.dead", max_size_bytes="10M", address_full_policy="FAIL"
        )
    ),
    passing=lambda: Example(
        settings=address_setting(
            "orders.#", dead_letter_address="orders.dead", max_size_bytes="10M", address_full_policy="FAIL"
        )
        + address_setting("orders.dead", address_full_policy="PAGE")
    ),
)
