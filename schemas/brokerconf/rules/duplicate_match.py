"""The same match twice (docs/spec/settings.md 4 and 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from brokerconf.settings.address_settings import AddressSetting
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    seen: dict[str, AddressSetting] = {}
    late = facts.edition >= Edition.ARTEMIS_2_28
    counts = "the first one is used, this one is ignored" if late else "this one is used, the first one is lost"
    for match in facts.matches:
        if match.text in seen:
            message = f"match '{match.text}' is already in line {seen[match.text].line}: {counts}"
            yield Hit(match.place, message, attribute="match")
        else:
            seen[match.text] = match


RULE = Rule(
    id="duplicate-match",
    severity=Severity.ERROR,
    title="the same match twice",
    why="the settings are not merged: since 2.18 the first element is used and the log says so (AMQ222301), before "
    "that the last one replaced the others entirely",
    help="put all settings of a match in one address-setting",
    check=_check,
    failing=lambda: Example(
        settings=address_setting("orders.#", max_size_bytes="10M") + address_setting("orders.#", page_size_bytes="1M")
    ),
    passing=lambda: Example(settings=address_setting("orders.#", max_size_bytes="10M", page_size_bytes="1M")),
)
