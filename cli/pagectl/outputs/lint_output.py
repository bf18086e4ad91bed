"""The findings of a lint in any format."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, assert_never

from pagectl.options.formats import LintFormat
from pagectl.outputs.lint_text import print_findings, summary_line
from pagectl.terminal.streams import note, print_json
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from brokerconf.linting.fixing import RepairedText
    from brokerconf.linting.lint_report import FileReport


def write_findings(reports: Sequence[FileReport], format: LintFormat | None) -> None:
    """Write the findings to standard output, and their number to standard error.

    Without a format, a workflow of GitHub gets its own, and everybody else text.
    """
    in_workflow = os.environ.get("GITHUB_ACTIONS") == "true"
    chosen = format or (LintFormat.github if in_workflow else LintFormat.text)
    match chosen:
        case LintFormat.text:
            print_findings(reports)
        case LintFormat.json:
            from pagectl.reports.config_lint import ConfigLint

            print_json(ConfigLint.of(reports))
        case LintFormat.sarif:
            from brokerconf.linting.catalogue import described

            from pagectl.outputs.lint_sarif import lint_sarif

            sys.stdout.write(lint_sarif(reports, described()))
        case LintFormat.junit:
            from pagectl.outputs.lint_junit import lint_junit

            sys.stdout.write(lint_junit(reports))
        case LintFormat.github:
            from pagectl.outputs.lint_github import lint_github

            sys.stdout.write(lint_github(reports))
        case LintFormat.gitlab:
            from pagectl.outputs.lint_gitlab import lint_gitlab

            sys.stdout.write(lint_gitlab(reports))
        case _:
            assert_never(chosen)
    sys.stdout.flush()
    if reports:
        sys.stderr.write(f"{summary_line(reports)}\n")


def write_diff(mended: Sequence[tuple[str, RepairedText]], reports: Sequence[FileReport]) -> None:
    """Write what repairs change, by name of the file, or note that no finding has a certain repair."""
    from pagectl.outputs.lint_diff import lint_diff

    for name, text in mended:
        sys.stdout.writelines(lint_diff(name, text))
    sys.stdout.flush()
    findings = sum(len(report.findings) for report in reports)
    if findings and not mended:
        note(f"{count_text(findings, 'finding')} without a certain repair; without --fix and --diff they are shown")
