"""A page limit that allows no page at all (docs/spec/settings.md 7; ARTEMIS-4973)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    for case in facts.cases_with(
        "page-limit-bytes", "page-size-bytes", "page-full-policy", only_if_set="page-limit-bytes"
    ):
        limit, size = case["page-limit-bytes"], facts.page_size(case)
        if case["page-full-policy"].value and 0 < limit.number < size:
            message = f"{limit} is below the page size of {size} bytes: no page at all is allowed for '{case.match}'"
            yield Hit(limit, message, f"raise page-limit-bytes to a multiple of {size}")


RULE = Rule(
    id="page-limit-below-page-size",
    severity=Severity.ERROR,
    title="page-limit-bytes is smaller than page-size-bytes",
    why="the limit is divided by the page size and rounded down: at zero pages the address is full from the start",
    help="raise page-limit-bytes to a multiple of page-size-bytes, or make the pages smaller",
    check=_check,
    settings=("page-limit-bytes", "page-size-bytes", "page-full-policy"),
    since=Edition.ARTEMIS_2_28,
    failing=lambda: Example(
        settings=address_setting("orders.#", page_size_bytes="10M", page_limit_bytes="5M", page_full_policy="FAIL")
    ),
    passing=lambda: Example(
        settings=address_setting("orders.#", page_size_bytes="10M", page_limit_bytes="500M", page_full_policy="FAIL")
    ),
)
