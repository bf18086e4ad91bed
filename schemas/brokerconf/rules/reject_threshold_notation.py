"""A size with a unit where the schema wants a plain number (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from brokerconf.reading.repairs import with_text
from pagefmt.editions import Edition
from pagefmt.findings import Severity

NAME = "max-size-bytes-reject-threshold"


def _check(facts: ConfigFacts) -> Hits:
    for match in facts.matches:
        threshold = facts.own(match, NAME)
        # a property is held against no schema
        if threshold and threshold.node and threshold.value is not None and threshold.text.strip()[-1:].isalpha():
            message = (
                f"'{threshold.text.strip()}' is refused by the schema, which requires a plain number of bytes here"
            )
            fix = with_text(threshold.node, str(threshold.value))
            yield Hit(threshold, message, f"write {threshold.value}", fix=fix)


RULE = Rule(
    id="reject-threshold-notation",
    severity=Severity.ERROR,
    title="a unit in max-size-bytes-reject-threshold",
    why="the reader would accept 10M, but the schema does not: the broker does not start",
    help="write the number of bytes",
    check=_check,
    settings=(NAME,),
    since=Edition.ARTEMIS_1_5,
    explains_schema=True,
    stops_start=True,
    failing=lambda: Example(
        valid=False,
        settings=address_setting(
            "orders.#", max_size_bytes="5M", address_full_policy="BLOCK", max_size_bytes_reject_threshold="10M"
        ),
    ),
    passing=lambda: Example(
        settings=address_setting(
            "orders.#", max_size_bytes="5M", address_full_policy="BLOCK", max_size_bytes_reject_threshold="10485760"
        )
    ),
)
