"""A page limit that nothing enforces (docs/spec/settings.md 3 and 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    for case in facts.cases_with("page-full-policy", "page-limit-bytes", "page-limit-messages"):
        if not case["page-full-policy"].value:
            for limit in (case["page-limit-bytes"], case["page-limit-messages"]):
                if limit.number > 0:
                    yield Hit(limit, f"{limit} of '{case.match}' has no page-full-policy")


RULE = Rule(
    id="page-limit-without-policy",
    severity=Severity.ERROR,
    title="page-limit-bytes or page-limit-messages without page-full-policy",
    why="the broker drops the limit and logs AMQ224125: the pages of the address grow without limit",
    help="add <page-full-policy>FAIL</page-full-policy> (or DROP, if losing messages is intended)",
    check=_check,
    settings=("page-limit-bytes", "page-limit-messages", "page-full-policy"),
    since=Edition.ARTEMIS_2_28,
    failing=lambda: Example(settings=address_setting("orders.#", page_limit_bytes="500M")),
    passing=lambda: Example(
        settings=address_setting("#", page_full_policy="FAIL", page_limit_bytes="1G")
        + address_setting("orders.#", page_limit_bytes="500M")
    ),
)
