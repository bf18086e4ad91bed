"""A setting that this release does not know yet, or no longer (docs/spec/settings.md 7; docs/spec/editions.md 3)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    for setting, node in facts.foreign:
        releases = (
            f"known since {setting.since}" if not setting.until else f"known from {setting.since} to {setting.until}"
        )
        message = f"{setting.name} is not known to {facts.edition.value} ({facts.edition.release}): {releases}"
        yield Hit(node, message)


RULE = Rule(
    id="unknown-in-version",
    severity=Severity.ERROR,
    title="a setting that this edition does not know",
    why="the schema of that release refuses the element, and the broker does not start",
    help="remove it, or upgrade the broker first",
    check=_check,
    explains_schema=True,
    stops_start=True,
    failing=lambda: Example(
        valid=False, edition=Edition.ARTEMIS_2_28, settings=address_setting("a", prefetch_page_bytes="1M")
    ),
    passing=lambda: Example(edition=Edition.ARTEMIS_2_44, settings=address_setting("a", prefetch_page_bytes="1M")),
)
