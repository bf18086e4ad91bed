"""Reading ahead without a limit (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.editions import Edition
from pagefmt.findings import Severity

NAMES = ("max-read-page-bytes", "max-read-page-messages", "prefetch-page-bytes", "prefetch-page-messages")


def _check(facts: ConfigFacts) -> Hits:
    for case in facts.cases_with(*NAMES):
        limits = [case[name] for name in NAMES]
        where = next((limit for limit in limits if limit.given), None)
        if where and all(limit.number <= 0 for limit in limits):
            yield Hit(where, f"'{case.match}' reads its pages ahead without any limit in bytes or messages")


RULE = Rule(
    id="all-read-limits-off",
    severity=Severity.WARNING,
    title="max-read-page-* and prefetch-page-* all off",
    why="only a fixed limit of 1000 messages remains, whatever their size: paging no longer keeps heap use low",
    help="leave max-read-page-bytes at its default of twice the page size",
    check=_check,
    settings=NAMES,
    since=Edition.ARTEMIS_2_28,
    failing=lambda: Example(
        settings=address_setting(
            "orders.#",
            max_read_page_bytes="-1",
            max_read_page_messages="-1",
            prefetch_page_bytes="-1",
            prefetch_page_messages="-1",
        )
    ),
    passing=lambda: Example(
        settings=address_setting("orders.#", max_read_page_messages="-1", prefetch_page_messages="-1")
    ),
)
