"""Findings of ``config lint``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from pagectl.reports.form import Count, EditionName, Report
from pagefmt.findings import Severity

if TYPE_CHECKING:
    from brokerconf.linting.lint_report import FileReport

    from pagefmt.findings import Finding

SeverityName: TypeAlias = Literal["error", "warning", "info"]


class XsdVerdict(Report):
    """What the schema says about a file."""

    valid: bool
    schema: str
    """The schema that the file was validated against; empty if there was none."""


class ConfigFinding(Report):
    """A finding about a configuration."""

    rule: str
    severity: SeverityName
    file: str
    """The file that the finding is in, which may be an included one."""
    line: Count
    column: Count
    path: str
    """The path of the element, or the key of a property; empty for neither."""
    message: str
    why: str
    """What the broker does."""
    help: str
    """What to do."""

    @classmethod
    def of(cls, finding: Finding) -> ConfigFinding:
        """Return the report of a finding."""
        file, line, column = finding.place
        return cls(
            rule=finding.rule,
            severity=finding.severity.value,
            file=file,
            line=line,
            column=column,
            path=finding.path,
            message=finding.message,
            why=finding.why,
            help=finding.help,
        )


class LintedFile(Report):
    """A configuration and its findings."""

    file: str
    edition: EditionName
    xsd: XsdVerdict
    findings: list[ConfigFinding]

    @classmethod
    def of(cls, linted: FileReport) -> LintedFile:
        """Return the report of a linted file."""
        return cls(
            file=linted.file,
            edition=linted.edition,
            xsd=XsdVerdict(valid=linted.valid, schema=linted.schema),
            findings=list(map(ConfigFinding.of, linted.findings)),
        )


class LintSummary(Report):
    """How many files were linted, and how many findings of each severity there are."""

    files: Count
    errors: Count
    warnings: Count
    infos: Count


class ConfigLint(Report):
    """``config lint --format json``: the findings of each file."""

    files: list[LintedFile]
    summary: LintSummary

    @classmethod
    def of(cls, files: Sequence[FileReport]) -> ConfigLint:
        """Return the report of linted files."""
        counts = Counter(finding.severity for linted in files for finding in linted.findings)
        summary = LintSummary(
            files=len(files),
            errors=counts[Severity.ERROR],
            warnings=counts[Severity.WARNING],
            infos=counts[Severity.INFO],
        )
        return cls(files=list(map(LintedFile.of, files)), summary=summary)


ANSWERS = {"config-lint": ConfigLint}
