"""A match whose settings never count (docs/spec/settings.md 4 and 7)."""

from __future__ import annotations

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.rule import Example, Hit, Hits, Rule, address_setting
from brokerconf.settings.address_settings import AddressSetting
from pagefmt.findings import Severity


def _check(facts: ConfigFacts) -> Hits:
    by_text = {match.text: match for match in reversed(facts.matches)}
    for match in facts.matches:
        reason = _reason(facts, match, by_text)
        if reason:
            yield Hit(match.place, f"match '{match.text}' has no effect: {reason}", attribute="match")


def _reason(facts: ConfigFacts, match: AddressSetting, by_text: dict[str, AddressSetting]) -> str:
    """Return why a match has no effect, or an empty string.

    It is empty, names a queue, or another spelling of it (with a delimiter, or exact beside a literal one) wins.
    """
    if not match.given and match.node is not None and not match.node.children:
        return "it contains no settings"
    if "::" in match.text and not facts.spelling.is_wildcard(match.text):
        return "the queue part of an address is cut off before matching"
    stronger = by_text.get(facts.spelling.spelt_with_delimiter(match.text) or facts.spelling.unmarked(match.text) or "")
    if stronger is not None and stronger is not match and match.given.keys() <= stronger.given.keys():
        return f"'{stronger.text}' (line {stronger.line}) applies to the same addresses and takes precedence"
    return ""


RULE = Rule(
    id="shadowed-match",
    severity=Severity.INFO,
    title="a match that never takes effect",
    why="a more specific match overrides all of its settings, or it applies to no address at all",
    help="remove it, or correct the match",
    check=_check,
    failing=lambda: Example(settings=address_setting("orders::new", max_size_bytes="10M")),
    passing=lambda: Example(settings=address_setting("orders", max_size_bytes="10M")),
)
