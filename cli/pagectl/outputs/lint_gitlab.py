"""The findings as a code quality report of GitLab: shown in a merge request, where only what is new counts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from brokerconf.linting.baseline import fingerprints
from brokerconf.linting.lint_report import FileReport

from pagectl.terminal.streams import json_text
from pagefmt.findings import Severity

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.INFO: "info"}


def lint_gitlab(files: Sequence[FileReport]) -> str:
    """Return the JSON list; paths are relative to the repository that contains the working directory."""
    findings = [finding for report in files for finding in report.findings]
    cwd = Path.cwd()
    root = next((folder for folder in (cwd, *cwd.parents) if (folder / ".git").exists()), cwd)
    paths = [Path(os.path.relpath(finding.place.file, root)).as_posix() for finding in findings]
    issues = [
        {
            "description": "; ".join(part for part in (finding.message, finding.help) if part),
            "check_name": finding.rule,
            "fingerprint": fingerprint,
            "severity": _SEVERITIES[finding.severity],
            "location": {"path": path, "lines": {"begin": max(finding.place.line, 1)}},
        }
        for finding, path, fingerprint in zip(findings, paths, fingerprints(findings, paths), strict=True)
    ]
    return json_text(issues, indent=2) + "\n"
