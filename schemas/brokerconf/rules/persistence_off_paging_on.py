"""Pages on the disk of a broker that keeps nothing (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.findings import Severity, some


def _check(facts: ConfigFacts) -> Hits:
    persistence = facts.broker["persistence-enabled"]
    if persistence.value is not False:
        return
    paging = [case for case in facts.cases if case["address-full-policy"].value == "PAGE"]
    if paging or not (facts.open or any(facts.spelling.catches_all(case.match) for case in facts.cases)):
        where = f"match {some([repr(case.match) for case in paging])}" if paging else "every address without a match"
        target = where if paging else f"a match '{facts.spelling.wildcards.any_words}'"
        yield Hit(
            persistence,
            f"persistence-enabled is false, but {where} has PAGE",
            f"use BLOCK, FAIL or DROP in {target}, or turn persistence on",
        )


RULE = Rule(
    id="persistence-off-paging-on",
    severity=Severity.WARNING,
    title="persistence-enabled false with PAGE",
    why="page files are written anyway, and are not cleared as expected at the next start (AMQ224092)",
    help="use BLOCK, FAIL or DROP in every match that has PAGE, or turn persistence on",
    check=_check,
    settings=("persistence-enabled", "address-full-policy"),
    failing=lambda: Example(core="<persistence-enabled>false</persistence-enabled>"),
    passing=lambda: Example(
        core="<persistence-enabled>false</persistence-enabled>",
        settings=address_setting("#", max_size_bytes="100M", address_full_policy="FAIL"),
    ),
)
