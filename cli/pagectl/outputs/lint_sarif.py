"""The findings as SARIF 2.1.0, for code scanning. Columns count characters; same findings, same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from urllib.parse import quote

from brokerconf.linting.baseline import fingerprints
from brokerconf.linting.catalogue import RuleDescription
from brokerconf.linting.lint_report import FileReport

from pagectl import __version__
from pagectl.terminal.streams import json_text
from pagefmt.findings import Finding, Severity

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def lint_sarif(files: Sequence[FileReport], rules: Mapping[str, RuleDescription]) -> str:
    """Return the findings of all files as SARIF. ``rules``: the description of each rule by id."""
    findings = [finding for report in files for finding in report.findings]
    names = sorted({finding.rule for finding in findings})
    index = {name: n for n, name in enumerate(names)}
    driver = {"name": "pagectl", "version": __version__, "rules": [_descriptor(rules[name]) for name in names]}
    marks = fingerprints(findings, [finding.place.file for finding in findings])
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": {"uri": _uri(name)}} for name in _files(files)],
        "results": [_result(finding, index, mark) for finding, mark in zip(findings, marks, strict=True)],
    }
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _files(files: Sequence[FileReport]) -> list[str]:
    return sorted({report.file for report in files} | {f.place.file for report in files for f in report.findings})


def _descriptor(rule: RuleDescription) -> dict[str, object]:
    described: dict[str, object] = {"id": rule.id}
    texts = {"shortDescription": rule.title, "fullDescription": rule.why, "help": rule.help}
    return described | {key: {"text": text} for key, text in texts.items() if text}


def _result(finding: Finding, index: Mapping[str, int], fingerprint: str) -> dict[str, object]:
    physical: dict[str, object] = {"artifactLocation": {"uri": _uri(finding.place.file)}}
    if finding.place.line > 0:
        physical["region"] = {"startLine": finding.place.line, "startColumn": max(finding.place.column, 1)}
    location: dict[str, object] = {"physicalLocation": physical}
    if finding.path:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.path, "kind": "element"}]
    return {
        "ruleId": finding.rule,
        "ruleIndex": index[finding.rule],
        "level": _LEVELS[finding.severity],
        "message": {"text": " ".join(part for part in (finding.message, finding.help) if part)},
        "locations": [location],
        "partialFingerprints": {"pagectl/v2": fingerprint},
    }


def _uri(name: str) -> str:
    path = PurePath(name)
    raw = path.as_posix().encode("utf-8", "surrogateescape")
    return ("file://" if path.is_absolute() else "") + quote(raw)
