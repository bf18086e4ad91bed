"""Read limits that let one message through at a time (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.editions import Edition
from pagefmt.findings import Severity

LARGE_MESSAGE = 102400


def _check(facts: ConfigFacts) -> Hits:
    for case in facts.cases_with("max-read-page-bytes", "max-read-page-messages"):
        size, count = case["max-read-page-bytes"], case["max-read-page-messages"]
        if size.given and 0 < size.number < LARGE_MESSAGE:
            yield Hit(size, f"{size} of '{case.match}' is below {LARGE_MESSAGE} bytes, the size of an ordinary message")
        if count.value == 1:
            yield Hit(count, f"{count}: '{case.match}' reads one message at a time")


RULE = Rule(
    id="read-limit-below-message",
    severity=Severity.WARNING,
    title="max-read-page-bytes below one message, or max-read-page-messages 1",
    why="nothing more is read from the pages until the message is acknowledged: one message per round trip",
    help="leave max-read-page-bytes at its default of twice the page size",
    check=_check,
    settings=("max-read-page-bytes", "max-read-page-messages"),
    since=Edition.ARTEMIS_2_28,
    failing=lambda: Example(settings=address_setting("a", max_read_page_bytes="50K")),
    passing=lambda: Example(settings=address_setting("a", max_read_page_bytes="20M")),
)
