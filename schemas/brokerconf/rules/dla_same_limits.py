"""A dead letter address that itself drops or refuses."""

from __future__ import annotations

from collections.abc import Iterator

from brokerconf.evidence.facts import Facts
from brokerconf.evidence.rule import Example, Hit, Rule
from pagefmt.findings import Severity


def check(facts: Facts) -> Iterator[Hit]:
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
    why="when dead letters pile up, the address that should keep them loses or refuses them",
    help="give the dead letter address a match of its own with PAGE",
    check=check,
    settings=("dead-letter-address", "address-full-policy"),
    failing=Example(
        settings="""<address-setting match="orders.#">
  <dead-letter-address>orders.dead</dead-letter-address>
  <max-size-bytes>10M</max-size-bytes>
  <address-full-policy>FAIL</address-full-policy>
</address-setting>"""
    ),
    passing=Example(
        settings="""<address-setting match="orders.#">
  <dead-letter-address>orders.dead</dead-letter-address>
  <max-size-bytes>10M</max-size-bytes>
  <address-full-policy>FAIL</address-full-policy>
</address-setting>
<address-setting match="orders.dead">
  <address-full-policy>PAGE</address-full-policy>
</address-setting>"""
    ),
    source="spec/settings.md 7",
)
