"""PAGE, and no limit at which paging would begin (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.editions import Edition
from pagefmt.findings import Severity, some

NAMES = ("address-full-policy", "max-size-bytes", "max-size-messages")


def _check(facts: ConfigFacts) -> Hits:
    if not facts.global_off:
        return
    by_default = []
    for case in facts.cases:
        policy = case["address-full-policy"]
        if policy.value != "PAGE" or facts.has_memory_limit(case) or facts.is_management(case):
            continue
        where = next((case[name] for name in NAMES if case[name].given), None)
        if where is None:
            by_default.append(case)
        else:
            yield Hit(where, f"'{case.match}' never pages: no max-size-bytes, and no global limit")
    if by_default:
        names = some([f"'{case.match}'" for case in by_default])
        yield Hit(by_default[0].place, f"{names} never page: no max-size-bytes, and no global limit")


RULE = Rule(
    id="page-without-limit",
    severity=Severity.WARNING,
    title="PAGE without any limit",
    why="nothing ever starts paging: messages stay in memory until the heap is full",
    help="set max-size-bytes for the match, or a global limit",
    check=_check,
    settings=NAMES,
    failing=lambda: Example(
        edition=Edition.ARTEMIS_1_5, settings=address_setting("#", address_full_policy="PAGE", max_size_bytes="-1")
    ),
    passing=lambda: Example(
        edition=Edition.ARTEMIS_1_5,
        settings=address_setting("#", address_full_policy="PAGE", max_size_bytes="104857600"),
    ),
)
