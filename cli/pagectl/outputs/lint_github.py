"""The findings as workflow commands: GitHub shows each beside its line of the change."""

from __future__ import annotations

from collections.abc import Sequence

from brokerconf.linting.lint_report import FileReport

from pagectl.terminal.sanitise import visible
from pagefmt.findings import Finding, Severity

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def lint_github(files: Sequence[FileReport]) -> str:
    """Return the findings as workflow commands, one per line."""
    return "".join(_command(finding) for report in files for finding in report.findings)


def _command(finding: Finding) -> str:
    place = [f"file={_property(finding.place.file)}"]
    if finding.place.line > 0:
        place += [f"line={finding.place.line}", f"col={max(finding.place.column, 1)}"]
    place.append(f"title={_property(finding.rule)}")
    text = "\n".join(part for part in (finding.message, finding.why, finding.help) if part)
    return f"::{_COMMANDS[finding.severity]} {','.join(place)}::{_escaped(text)}\n"


def _escaped(text: str) -> str:
    """Return the text with newlines escaped, because one would end the command and start another."""
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
