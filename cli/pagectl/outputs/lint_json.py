"""The findings as one JSON document (design/commands.md, ``config lint``)."""

from __future__ import annotations

from collections.abc import Sequence

from brokerconf.linting.lint import FileReport

from pagectl.outputs.lint_report import summary
from pagectl.terminal.streams import json_text
from pagefmt.findings import Finding


def lint_json(files: Sequence[FileReport]) -> str:
    """The JSON document of all files, with a newline at its end."""
    document = {"files": [_file(report) for report in files], "summary": summary(files)}
    return json_text(document, indent=2) + "\n"


def _file(report: FileReport) -> dict[str, object]:
    return {
        "file": report.file,
        "edition": report.edition,
        "xsd": {"valid": report.valid, "schema": report.schema},
        "findings": [finding_json(finding) for finding in report.findings],
    }


def finding_json(finding: Finding) -> dict[str, object]:
    """Return a finding as a JSON object; ``file`` is the file that it is in, which may be an included one."""
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "file": finding.place.file,
        "line": finding.place.line,
        "column": finding.place.column,
        "path": finding.path,
        "message": finding.message,
        "why": finding.why,
        "help": finding.help,
    }
