"""Addresses with dots in ``broker.properties``, not quoted (docs/spec/settings.md 1 and 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from brokerconf.settings.settings_model import Scope, in_scope
from pagefmt.editions import Edition
from pagefmt.findings import Fix, Severity

COLLECTION = "addressSettings."


def _check(facts: ConfigFacts) -> Hits:
    for entry in facts.properties:
        if not entry.key.startswith(COLLECTION) or '"' in entry.key:
            continue
        rest = entry.key.removeprefix(COLLECTION)
        match, _, bean = rest.rpartition(".")
        if "." in match:
            message = f"{entry.key} sets something of match '{match.partition('.')[0]}', not of '{match}'"
            quoted = f'{COLLECTION}"{match}".{bean}'
            known = any(setting.bean == bean for setting in in_scope(Scope.ADDRESS).values())
            fix = Fix(entry.position, entry.key, quoted) if known else None
            yield Hit(entry.position, message, f"write {quoted}", fix=fix)


RULE = Rule(
    id="properties-unquoted-dots",
    severity=Severity.ERROR,
    title="an address with dots in a key of broker.properties, without quotes",
    why="each dot begins another step: the setting goes to the first word, and the rest is an error that only the "
    "broker's status attribute shows",
    help='put the address into double quotes: addressSettings."a.b".maxSizeBytes',
    check=_check,
    since=Edition.ARTEMIS_2_4,
    failing=Example(properties="addressSettings.orders.eu.maxSizeBytes=10485760\n"),
    passing=Example(properties='addressSettings."orders.eu".maxSizeBytes=10485760\n'),
)
