"""A policy for a full address that is never full (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    if not facts.global_off:
        return
    for case in facts.cases_with("address-full-policy", "max-size-bytes", "max-size-messages"):
        policy = case["address-full-policy"]
        if policy.value in ("BLOCK", "FAIL", "DROP") and not facts.has_memory_limit(case):
            yield Hit(
                policy, f"{policy} of '{case.match}' has no effect: neither the address nor the broker has a limit"
            )


RULE = Rule(
    id="block-without-limit",
    severity=Severity.WARNING,
    title="BLOCK, FAIL or DROP without any limit",
    why="an address without max-size-bytes in a broker without a global limit is never full, so its policy never acts",
    help="set max-size-bytes for the match, or a global limit",
    check=_check,
    settings=("address-full-policy", "max-size-bytes", "max-size-messages"),
    failing=lambda: Example(
        edition=Edition.ARTEMIS_1_5, settings=address_setting("orders.#", address_full_policy="BLOCK")
    ),
    passing=lambda: Example(
        edition=Edition.ARTEMIS_1_5,
        settings=address_setting("orders.#", max_size_bytes="104857600", address_full_policy="BLOCK"),
    ),
)
