"""Passwords that anybody who may read the file can read (docs/spec/settings.md 1)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule
from brokerconf.reading.document import FileKind
from brokerconf.reading.secrets import is_password_in_clear
from pagefmt.editions import Edition
from pagefmt.findings import Severity

_PROPERTY = "or take it from a property: ${name}"
_VAULT = "keep it in the server's vault: ${VAULT::BLOCK::ATTRIBUTE::1}"
_STORE = (
    'keep it in a credential store: <credential-reference store="…" alias="…"/> instead of the attribute (EAP 7.1, '
    "WildFly 11 and later; before, in the vault)"
)
_HORNETQ = (
    "set mask-password to true and mask every password with "
    "'java org.hornetq.utils.DefaultSensitiveStringCodec', " + _PROPERTY
)


def _check(facts: ConfigFacts) -> Hits:
    advice = _advice(facts)
    for place in facts.secrets:
        yield Hit(place.node, f"the password in {place.name} is in clear text", advice, attribute=place.attribute)
    if any(outcome.path == ("maskPassword",) and outcome.value is True for outcome in facts.outcomes):
        return
    for outcome in facts.outcomes:
        entry = outcome.entry
        if not entry.substituted and is_password_in_clear(outcome.path[-1] if outcome.path else "", entry.value):
            at = entry.at_value or entry.position
            yield Hit(at, f"the password in {entry.key} is in clear text", path=entry.key)


def _advice(facts: ConfigFacts) -> str:
    """Return how the product hides a password; nothing if it is as the rule says."""
    of_server = {FileKind.EAP6: _VAULT, FileKind.WILDFLY: _STORE}.get(facts.document.kind, "")
    return of_server or (_HORNETQ if facts.edition is Edition.HORNETQ_2_4 else "")


RULE = Rule(
    id="password-in-clear",
    severity=Severity.WARNING,
    title="a password in clear text",
    why="configuration files end up in backups, repositories and tickets",
    help=f"mask it as ENC(…) with 'artemis mask', {_PROPERTY}",
    check=_check,
    failing=lambda: Example(core="<cluster-password>example-only</cluster-password>"),
    passing=lambda: Example(core="<cluster-password>ENC(-5a2376c61c668aaf)</cluster-password>"),
)
