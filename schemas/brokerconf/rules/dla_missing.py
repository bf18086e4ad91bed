"""Messages that have nowhere to go when they die or expire (docs/spec/settings.md 7)."""

from __future__ import annotations

from brokerconf.evidence.address_facts import AddressCase
from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from pagefmt.editions import Edition
from pagefmt.findings import Severity, some

_LOST = {"dead-letter-address": "messages that cannot be delivered", "expiry-address": "expired messages"}


def _check(facts: ConfigFacts) -> Hits:
    for name, lost in _LOST.items():
        yield from _unset(facts, name, lost)
        if facts.edition >= Edition.ARTEMIS_2_4:
            yield from _undeclared(facts, name, lost)


def _unset(facts: ConfigFacts, name: str, lost: str) -> Hits:
    """Yield one finding for the file: at the first match without the setting, or at ``core`` if there is no match."""
    candidates = (case for case in facts.cases if not case.value(name) and not facts.is_management(case))
    without = list(candidates)
    if without:
        names = [f"'{case.match}'" for case in without]
        yield Hit(without[0].place, f"no {name} for {some(names)}: {lost} are dropped", about=name)
    elif not facts.cases and facts.core is not None and not facts.open:
        yield Hit(facts.core, f"no {name} for any address: {lost} are dropped", about=name)


def _undeclared(facts: ConfigFacts, name: str, lost: str) -> Hits:
    for case in facts.cases_with(name, only_if_set="auto-create-addresses"):
        address = case[name]
        target = str(address.value or "")
        if target and facts.lacks(target) and not _created(facts.at(target), case):
            yield Hit(
                address, f"{name} '{target}' of '{case.match}' is not declared, and is not created: {lost} are lost"
            )


def _created(target: AddressCase, case: AddressCase) -> bool:
    """Return whether the broker creates the address by itself.

    It does so for an ordinary address, or for a dead letter or expiry resource of the match.
    """
    resources = ("auto-create-dead-letter-resources", "auto-create-expiry-resources")
    return target["auto-create-addresses"].value is not False or any(case[name].value is True for name in resources)


RULE = Rule(
    id="dla-missing",
    severity=Severity.WARNING,
    title="no dead-letter-address or expiry-address, or one that does not exist",
    why="a message without such an address is dropped after its last delivery attempt, or when it expires",
    help="set dead-letter-address and expiry-address in match '#', and declare both addresses with a queue",
    check=_check,
    settings=("dead-letter-address", "expiry-address"),
    failing=lambda: Example(
        settings=address_setting(
            "#", dead_letter_address="DLQ", expiry_address="Expiry", auto_create_addresses="false"
        ),
        core='<addresses><address name="Expiry"><anycast><queue name="Expiry"/></anycast></address></addresses>',
    ),
    passing=lambda: Example(
        settings=address_setting(
            "#", dead_letter_address="DLQ", expiry_address="Expiry", auto_create_addresses="false"
        ),
        core="""<addresses>
  <address name="DLQ"><anycast><queue name="DLQ"/></anycast></address>
  <address name="Expiry"><anycast><queue name="Expiry"/></anycast></address>
</addresses>""",
    ),
)
