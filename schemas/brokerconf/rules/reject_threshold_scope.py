"""A threshold for AMQP that has no effect, or acts too early (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.editions import Edition
from pagefmt.findings import Severity

NAME = "max-size-bytes-reject-threshold"


def _check(facts: ConfigFacts) -> Hits:
    for case in facts.cases_with(NAME, "address-full-policy", "max-size-bytes", only_if_set=NAME):
        threshold, policy, limit = case[NAME], case["address-full-policy"], case["max-size-bytes"]
        if threshold.number < 0:
            continue
        if policy.value != "BLOCK":
            yield Hit(threshold, f"{threshold} has no effect: '{case.match}' has {policy}, not BLOCK")
        elif threshold.number < limit.number:
            yield Hit(
                threshold, f"{threshold} is below {limit}: AMQP senders to '{case.match}' are refused, never blocked"
            )


RULE = Rule(
    id="reject-threshold-scope",
    severity=Severity.WARNING,
    title="max-size-bytes-reject-threshold without BLOCK, or below max-size-bytes",
    why="the threshold is for AMQP senders that keep sending after the address blocks; other policies ignore it",
    help="set it above max-size-bytes, with address-full-policy BLOCK",
    check=_check,
    settings=(NAME, "address-full-policy", "max-size-bytes"),
    since=Edition.ARTEMIS_1_5,
    failing=lambda: Example(
        settings=address_setting(
            "orders.#", max_size_bytes="100M", max_size_bytes_reject_threshold="50000000", address_full_policy="BLOCK"
        )
    ),
    passing=lambda: Example(
        settings=address_setting(
            "orders.#", max_size_bytes="100M", max_size_bytes_reject_threshold="200000000", address_full_policy="BLOCK"
        )
    ),
)
