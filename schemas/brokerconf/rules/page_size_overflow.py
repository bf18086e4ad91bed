"""A page size whose derived read limit overflows (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.editions import Edition
from pagefmt.findings import Severity

HALF = 2**30 - 1


def _check(facts: ConfigFacts) -> Hits:
    for case in facts.cases_with("page-size-bytes", "max-read-page-bytes"):
        if case.number("page-size-bytes") > HALF and not case["max-read-page-bytes"].given:
            size = case["page-size-bytes"]
            yield Hit(size, f"{size} of '{case.match}': twice that does not fit into 32 bits")


RULE = Rule(
    id="page-size-overflow",
    severity=Severity.WARNING,
    title="page-size-bytes above 1 GiB without max-read-page-bytes",
    why="max-read-page-bytes defaults to twice the page size, which overflows and switches the read limit off",
    help="set max-read-page-bytes or, better, use pages of 10 to 100 MiB",
    check=_check,
    settings=("page-size-bytes", "max-read-page-bytes"),
    since=Edition.ARTEMIS_2_28,
    failing=lambda: Example(settings=address_setting("a", page_size_bytes="1500M")),
    passing=lambda: Example(settings=address_setting("a", page_size_bytes="100M")),
)
