"""Messages that would expire into the address they are in (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    """Yield matches that apply to their own expiry address.

    A match of '#' alone is exempt: every broker is created with one, and it necessarily fits its expiry address.
    """
    for case in facts.cases_with("expiry-address"):
        address = case["expiry-address"]
        if not address.value or address.match != case.match or facts.spelling.catches_all(case.match):
            continue
        itself = facts.at(str(address.value))["expiry-address"]
        if itself.by is address.by:
            yield Hit(address, f"match '{case.match}' applies to its own expiry-address '{address.value}'")


RULE = Rule(
    id="expiry-to-itself",
    severity=Severity.WARNING,
    title="the match applies to its own expiry-address",
    why="the broker does not scan the queues of an address whose expiry address it is: what expires there stays",
    help="name an address outside the match",
    check=_check,
    settings=("expiry-address",),
    failing=lambda: Example(settings=address_setting("orders.#", expiry_address="orders.new")),
    passing=lambda: Example(settings=address_setting("orders.#", expiry_address="expired.orders")),
)
