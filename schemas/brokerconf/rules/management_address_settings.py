"""Limits on an address that is exempt from all limits (docs/spec/settings.md 4 and 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from brokerconf.evidence.without_effect import NOT_FOR_MANAGEMENT
from pagefmt.editions import Edition
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    for match in facts.matches:
        if not facts.reaches_only_management(match.text):
            continue
        for name, harmless in NOT_FOR_MANAGEMENT.items():
            setting = facts.own(match, name)
            if setting and setting.value not in (harmless, None):
                yield Hit(setting, f"{setting} has no effect: '{match.text}' applies only to the management address")


RULE = Rule(
    id="management-address-settings",
    severity=Severity.WARNING,
    title="limits or policies on the management address",
    why="addresses that begin with the management address are exempt from paging and from every limit",
    help="remove them",
    check=_check,
    settings=tuple(NOT_FOR_MANAGEMENT),
    since=Edition.ARTEMIS_2_10,
    failing=lambda: Example(settings=address_setting("activemq.management.#", max_size_bytes="10M")),
    passing=lambda: Example(
        settings=address_setting("activemq.management.#", max_size_bytes="-1", address_full_policy="PAGE")
    ),
)
