"""A prefetch that the read limit cuts short (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    for unit in ("bytes", "messages"):
        name = f"prefetch-page-{unit}"
        for case in facts.cases_with(name, f"max-read-page-{unit}", "page-size-bytes", only_if_set=name):
            prefetch, limit = case[name], case[f"max-read-page-{unit}"]
            if prefetch.given and prefetch.number > limit.number > 0:
                yield Hit(prefetch, f"{prefetch} of '{case.match}' is above {limit} and has no effect")


RULE = Rule(
    id="prefetch-over-max-read",
    severity=Severity.WARNING,
    title="prefetch-page-* above max-read-page-*",
    why="both limits apply: reading ahead stops at the smaller one",
    help="raise max-read-page-* or lower prefetch-page-*",
    check=_check,
    settings=("prefetch-page-bytes", "prefetch-page-messages", "max-read-page-bytes", "max-read-page-messages"),
    since=Edition.ARTEMIS_2_44,
    failing=lambda: Example(settings=address_setting("orders.#", max_read_page_bytes="10M", prefetch_page_bytes="20M")),
    passing=lambda: Example(settings=address_setting("orders.#", max_read_page_bytes="20M", prefetch_page_bytes="10M")),
)
