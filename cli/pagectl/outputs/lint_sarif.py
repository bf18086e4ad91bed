"""The findings as SARIF 2.1.0, for code scanning. Columns count characters; same findings, same bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from urllib.parse import quote

from brokerconf.linting.catalogue import RuleDescription
from brokerconf.linting.lint import FileReport

from pagectl import __version__
from pagectl.terminal.streams import json_text
from pagefmt.findings import Finding, Severity

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def lint_sarif(files: Sequence[FileReport], rules: Mapping[str, RuleDescription]) -> str:
    """``rules``: what is known of each id."""
    findings = [finding for report in files for finding in report.findings]
    names = sorted({finding.rule for finding in findings})
    index = {name: n for n, name in enumerate(names)}
    driver = {
        "name": "pagectl",
        "version": __version__,
        "rules": [_descriptor(rules[name]) for name in names],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": {"uri": _uri(name)}} for name in _files(files)],
        "results": [_result(finding, index) for finding in findings],
    }
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _files(files: Sequence[FileReport]) -> list[str]:
    return sorted({report.file for report in files} | {f.place.file for report in files for f in report.findings})


def _descriptor(rule: RuleDescription) -> dict[str, object]:
    described: dict[str, object] = {"id": rule.id}
    texts = {"shortDescription": rule.title, "fullDescription": rule.why, "help": rule.help}
    return described | {key: {"text": text} for key, text in texts.items() if text}


def _result(finding: Finding, index: Mapping[str, int]) -> dict[str, object]:
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
        "partialFingerprints": {"pagectl/v1": _fingerprint(finding)},
    }


def _fingerprint(finding: Finding) -> str:
    """Stays the same when lines move: rule, file, element and sentence."""
    parts = "\0".join((finding.rule, finding.place.file, finding.path, finding.message))
    return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _uri(name: str) -> str:
    path = PurePath(name)
    raw = path.as_posix().encode("utf-8", "surrogateescape")
    return ("file://" if path.is_absolute() else "") + quote(raw)
