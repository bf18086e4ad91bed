"""Pages on the disk of a broker that keeps nothing (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    persistence = facts.broker["persistence-enabled"]
    if persistence.value is not False:
        return
    paging = [case for case in facts.cases if case["address-full-policy"].value == "PAGE"]
    if paging or not (facts.open or any(facts.spelling.catches_all(case.match) for case in facts.cases)):
        who = f"match '{paging[0].match}'" if paging else "every address without a match"
        yield Hit(persistence, f"persistence-enabled is false, but {who} has PAGE")


RULE = Rule(
    id="persistence-off-paging-on",
    severity=Severity.WARNING,
    title="persistence-enabled false with PAGE",
    why="page files are written anyway, and are not cleared as expected at the next start (AMQ224092)",
    help="use BLOCK, FAIL or DROP in match '#', or turn persistence on",
    check=_check,
    settings=("persistence-enabled", "address-full-policy"),
    failing=Example(core="<persistence-enabled>false</persistence-enabled>"),
    passing=Example(
        core="<persistence-enabled>false</persistence-enabled>",
        settings=address_setting("#", max_size_bytes="100M", address_full_policy="FAIL"),
    ),
)
