"""Runs the rules over the facts of a configuration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from brokerconf.evidence.facts import Facts
from brokerconf.evidence.rule import Hit, Rule
from brokerconf.evidence.taken import Taken
from brokerconf.reading.document import ConfigNode
from brokerconf.reading.findings import Finding, Position, Severity
from brokerconf.settings.address_settings import Override


def check(facts: Facts, rules: Iterable[Rule]) -> list[Finding]:
    """What the rules find; one finding for a rule and a place, the first."""
    found: dict[tuple[str, str, Position], Finding] = {}
    for rule in rules:
        if rule.applies(facts.edition):
            severity = rule.severity_in(facts.edition)
            for hit in rule.check(facts):
                node, position = _place(hit, facts)
                key = rule.id, hit.about, position
                if key not in found:
                    found[key] = _finding(rule, hit, severity, node, position)
    return list(found.values())


def _finding(rule: Rule, hit: Hit, severity: Severity, node: ConfigNode | None, position: Position) -> Finding:
    return Finding(
        file=position.file, line=position.line, column=position.column,
        severity=hit.severity or severity, rule=rule.id, path=node.path if node else "",
        message=hit.message, help=hit.help or rule.help, why=rule.why,
    )  # fmt: skip


def _place(hit: Hit, facts: Facts) -> tuple[ConfigNode | None, Position]:
    match hit.where:
        case Position() as position:
            return None, position
        case ConfigNode() as node:
            return node, node.attribute_position(hit.attribute) if hit.attribute else node.position
        case Taken(by=Override() as by):
            return None, by.position
        case Taken(by=ConfigNode() as node):
            return node, node.position
        case Taken():
            core = facts.core or facts.document.root
            return core, core.position


def sorted_findings(findings: Iterable[Finding]) -> Iterator[Finding]:
    """By place, the graver first: no output hangs on the order of checking."""
    return iter(sorted(findings, key=lambda f: (f.file, f.line, f.column, _RANK[f.severity.value], f.rule, f.message)))


_RANK = {"error": 0, "warning": 1, "info": 2}
