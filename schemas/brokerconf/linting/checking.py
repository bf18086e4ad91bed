"""Evaluation of rules on the facts of a configuration."""

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
    """Return what the rules find; of several findings by one rule at one place only the first."""
    findings: dict[tuple[str, str, Position], Finding] = {}
    for rule in rules:
        if rule.applies(facts.edition):
            severity = rule.severity_in(facts.edition)
            facts.assumed.clear()
            for hit in rule.check(facts):
                if facts.assumed and _assumes(hit, facts):
                    continue
                node, position = _node_and_position(hit, facts)
                key = rule.id, hit.about + hit.path, position
                if key not in findings:
                    findings[key] = _finding(rule, hit, severity, facts, node, position)
    return list(findings.values())


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
    """Return whether a hit rests on something unknown.

    That is a default that the rest of the configuration may override, or a value that only the running broker knows.
    """
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
    """Yield the findings by position, more severe ones first, so that output does not depend on the order of checks."""
    return iter(
        sorted(findings, key=lambda finding: (finding.place, finding.severity.rank, finding.rule, finding.message))
    )
