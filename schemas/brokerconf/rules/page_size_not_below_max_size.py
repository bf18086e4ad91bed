"""Pages as large as the memory of the address (docs/spec/settings.md 3 and 7; docs/spec/editions.md 1)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    for case in facts.cases_with("page-size-bytes", "max-size-bytes", "address-full-policy"):
        size, most = case.number("page-size-bytes"), case.number("max-size-bytes")
        if most != -1 and size >= most and case.value("address-full-policy") == "PAGE":
            page, limit = case["page-size-bytes"], case["max-size-bytes"]
            yield Hit(page if page.given else limit, f"{page} is not below {limit} of '{case.match}'")


RULE = Rule(
    id="page-size-not-below-max-size",
    severity=Severity.ERROR,
    by_edition=((Edition.ARTEMIS_2_28, Severity.INFO),),
    title="page-size-bytes is not smaller than max-size-bytes",
    why="up to 2.19 the address cannot be used at all: its first queue or message fails; since 2.20 it is allowed, "
    "but a single page read back fills the memory of the address",
    help="set page-size-bytes to a fraction of max-size-bytes, such as a tenth",
    check=_check,
    settings=("page-size-bytes", "max-size-bytes"),
    failing=lambda: Example(
        edition=Edition.ARTEMIS_2_17,
        settings=address_setting("orders.#", max_size_bytes="5M", page_size_bytes="10M", address_full_policy="PAGE"),
    ),
    passing=lambda: Example(
        edition=Edition.ARTEMIS_2_17,
        settings=address_setting("orders.#", max_size_bytes="100M", page_size_bytes="10M", address_full_policy="PAGE"),
    ),
)
