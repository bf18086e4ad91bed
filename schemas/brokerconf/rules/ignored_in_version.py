"""Settings that are still read and no longer do anything (docs/spec/settings.md 3 and 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from brokerconf.reading.repairs import without_element
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    for match in facts.matches:
        setting = facts.own(match, "page-max-cache-size")
        if setting:
            message = f"{setting} has no effect: there is no page cache since 2.24 (AMQ224117)"
            yield Hit(setting, message, fix=without_element(setting.node) if setting.node else None)
    whole = facts.broker["read-whole-page"]
    if whole.given:
        yield Hit(whole, f"{whole} has no effect since 2.24", fix=without_element(whole.node) if whole.node else None)


RULE = Rule(
    id="ignored-in-version",
    severity=Severity.INFO,
    title="page-max-cache-size or read-whole-page",
    why="it belonged to the page cache, which was removed in 2.24",
    help="remove it; max-read-page-bytes and the related settings now limit reading ahead",
    check=_check,
    settings=("page-max-cache-size", "read-whole-page"),
    since=Edition.ARTEMIS_2_28,
    failing=lambda: Example(settings=address_setting("a", page_max_cache_size="5")),
    passing=lambda: Example(settings=address_setting("a", max_read_page_bytes="20M")),
)
