"""A page limit that allows no page at all."""

from __future__ import annotations

from collections.abc import Iterator

from brokerconf.evidence.facts import Facts
from brokerconf.evidence.rule import Example, Hit, Rule
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def check(facts: Facts) -> Iterator[Hit]:
    for case in facts.cases_with("page-limit-bytes", "page-size-bytes", "page-full-policy", given="page-limit-bytes"):
        limit, size = case["page-limit-bytes"], facts.page_size(case)
        if case["page-full-policy"].value and 0 < limit.number < size:
            message = f"{limit} is below the page size of {size} bytes: not one page is allowed for '{case.match}'"
            yield Hit(limit, message, f"raise page-limit-bytes to a multiple of {size}")


RULE = Rule(
    id="page-limit-below-page-size",
    severity=Severity.ERROR,
    title="page-limit-bytes is smaller than page-size-bytes",
    why="the limit is divided by the page size and rounded down: at zero pages the address is full from the start",
    help="raise page-limit-bytes to a multiple of page-size-bytes, or make the pages smaller",
    check=check,
    settings=("page-limit-bytes", "page-size-bytes", "page-full-policy"),
    since=Edition.ARTEMIS_2_28,
    failing=Example(
        settings="""<address-setting match="orders.#">
  <page-size-bytes>10M</page-size-bytes>
  <page-limit-bytes>5M</page-limit-bytes>
  <page-full-policy>FAIL</page-full-policy>
</address-setting>"""
    ),
    passing=Example(
        settings="""<address-setting match="orders.#">
  <page-size-bytes>10M</page-size-bytes>
  <page-limit-bytes>500M</page-limit-bytes>
  <page-full-policy>FAIL</page-full-policy>
</address-setting>"""
    ),
    source="spec/settings.md 7; ARTEMIS-4973",
)
