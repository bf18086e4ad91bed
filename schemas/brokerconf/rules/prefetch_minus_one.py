"""A prefetch of -1, which is not unlimited (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    for unit in ("bytes", "messages"):
        name = f"prefetch-page-{unit}"
        for match in facts.matches if name in facts.given else ():
            prefetch = facts.own(match, name)
            if prefetch and prefetch.text.strip() == "-1":
                yield Hit(prefetch, f"{prefetch} means 'as max-read-page-{unit}', not 'unlimited'")


RULE = Rule(
    id="prefetch-minus-one",
    severity=Severity.INFO,
    title="prefetch-page-* -1",
    why="a prefetch of -1 falls back to max-read-page-*; it does not remove the limit",
    help="remove the element, or set max-read-page-* to -1 if no limit is intended",
    check=_check,
    settings=("prefetch-page-bytes", "prefetch-page-messages"),
    since=Edition.ARTEMIS_2_44,
    failing=lambda: Example(settings=address_setting("a", prefetch_page_bytes="-1")),
    passing=lambda: Example(settings=address_setting("a", prefetch_page_bytes="1M")),
)
