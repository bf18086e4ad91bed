"""Runs the rules over the facts of a configuration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.resolved_setting import ResolvedSetting
from brokerconf.evidence.rule import Hit, Rule
from brokerconf.reading.document import ConfigNode
from brokerconf.reading.secrets import without_glued
from brokerconf.settings.address_settings import Override
from pagefmt.findings import Finding, Position, Severity


def check(facts: ConfigFacts, rules: Iterable[Rule]) -> list[Finding]:
    """What the rules find; one finding for a rule and a place, the first."""
    found: dict[tuple[str, str, Position], Finding] = {}
    for rule in rules:
        if rule.applies(facts.edition):
            severity = rule.severity_in(facts.edition)
            facts.assumed.clear()
            for hit in rule.check(facts):
                if facts.assumed and _assumes(hit, facts):
                    continue
                node, position = _node_and_position(hit, facts)
                key = rule.id, hit.about + hit.path, position
                if key not in found:
                    found[key] = _finding(rule, hit, severity, facts, node, position)
    return list(found.values())


def _finding(
    rule: Rule, hit: Hit, severity: Severity, facts: ConfigFacts, node: ConfigNode | None, position: Position
) -> Finding:
    path = node.path if node else hit.path or facts.key_at(position)
    message, advice = hit.message, hit.help or rule.help
    if not node:
        message, advice, path = (without_glued(text, path) for text in (message, advice, path))
    stops_start = rule.stops_start or hit.stops_start
    return Finding(position, hit.severity or severity, rule.id, message, path, advice, rule.why, hit.fix, stops_start)


def _assumes(hit: Hit, facts: ConfigFacts) -> bool:
    """Return whether a hit rests on what is unknown: a default in whose place the rest of the configuration may set
    something, or a value that only the running broker knows."""
    if None in facts.assumed:
        return True
    if isinstance(hit.where, ResolvedSetting):
        return hit.where.match in facts.assumed or not hit.where.match
    return facts.match_at.get(id(hit.where)) in {None, *facts.assumed}


def _node_and_position(hit: Hit, facts: ConfigFacts) -> tuple[ConfigNode | None, Position]:
    match hit.where:
        case Position() as position:
            return None, position
        case ConfigNode() as node:
            return node, node.attribute_position(hit.attribute) if hit.attribute else node.position
        case ResolvedSetting(by=Override() as by):
            return None, by.position
        case ResolvedSetting(by=ConfigNode() as node):
            return node, node.position
        case ResolvedSetting():
            core = facts.core or facts.document.root
            return core, core.position


def sorted_findings(findings: Iterable[Finding]) -> Iterator[Finding]:
    """By place, the graver first, so that no output depends on the order of checking."""
    return iter(sorted(findings, key=lambda found: (found.place, found.severity.rank, found.rule, found.message)))
