"""``pagectl config lint``: is this configuration well-formed, valid, readable to the broker, and what was meant?"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, assert_never

import typer

from pagectl.options.groups import ConfigFileOptions
from pagectl.options.shared import FORMAT_HELP, DataOption
from pagectl.running.exits import CallError, Exit
from pagefmt.findings import FailOn
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from brokerconf.linting.lint import FileReport, RuleSelection

    from pagectl.opening.linting import LintRequest
    from pagectl.opening.repairs import FileRepair
    from pagefmt.bytes.file_snapshot import Fingerprint


class LintFormat(StrEnum):
    """Formats of ``config lint``."""

    text = "text"
    json = "json"
    sarif = "sarif"
    junit = "junit"
    github = "github"
    gitlab = "gitlab"


EXAMPLES = (
    ("Everything that is wrong with one file", "config lint broker.xml"),
    ("All configurations of a repository, checked for the planned release", "config lint . --edition artemis-2.56"),
    ("In a pipeline that also fails on warnings", "config lint broker.xml --fail-on warning --format gitlab"),
    ("Preview the repairs that are certain", "config lint broker.xml --fix --diff"),
)


def command(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE…",
            help="broker.xml, hornetq-configuration.xml, standalone.xml; broker.properties, JSON, YAML; "
            "Kubernetes YAML; '-'; an instance; a folder of configurations [default: $ARTEMIS_INSTANCE].",
        ),
    ] = None,
    schema: Annotated[
        Path | None,
        typer.Option("--schema", metavar="XSD", help="Validate against this schema instead."),
    ] = None,
    artemis_home: Annotated[
        Path | None,
        typer.Option("--artemis-home", metavar="DIR", help="Validate against the schema inside this installed broker."),
    ] = None,
    format: Annotated[
        LintFormat | None,
        typer.Option("--format", help=f"{FORMAT_HELP} [default: text; github inside a GitHub workflow]"),
    ] = None,
    fail_on: Annotated[
        FailOn | None,
        typer.Option("--fail-on", help="Lowest severity for which the exit status is 1 [default: error]."),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option("--ignore", metavar="RULE", help="Skip these rules; comma-separated."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only", metavar="RULE", help="Check only these rules, comma-separated, and that files can be read."
        ),
    ] = None,
    data: DataOption = None,
    typed: ConfigFileOptions = ConfigFileOptions(),
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", metavar="FILE", parser=Path, help="Leave out the known findings listed in FILE."),
    ] = None,
    write_baseline: Annotated[
        bool, typer.Option("--write-baseline", help="Write all findings to the --baseline file as known ones.")
    ] = False,
    fix: Annotated[
        bool, typer.Option("--fix", help="Apply the repairs that are certain to the named files, then report the rest.")
    ] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Show what --fix would change as a diff; change nothing.")
    ] = False,
    show_files: Annotated[
        bool, typer.Option("--show-files", help="List which files of a folder are linted or skipped, and why.")
    ] = False,
) -> int:
    """Lint broker configurations: schema, values, and rules about what the settings do."""
    with _without_collecting():
        from pagectl.opening import linting
        from pagectl.options.rules import selected_rules

        selection = selected_rules(only or [], ignore or [])
        options = typed.reading()
        around = linting.surroundings(options, schema, artemis_home, data)
        request = linting.LintRequest(around, options, selection, fail_on, edition_typed=typed.edition is not None)
        if write_baseline and baseline is None:
            raise CallError("--write-baseline needs --baseline FILE, the file to write")
        named = files or linting.default_files()
        if (fix or diff) and "-" in named:
            raise CallError("--fix and --diff need a file, and '-' is standard input; name a file")
        if fix:
            from pagectl.opening.repairs import fingerprints

            linted = fingerprints(named)
        groups, failed = _file_groups(named, show_files)
        reports, unreadable = _lint_all(groups, request, named)
        if fix or diff:
            from pagectl.opening.repairs import repairs

            found = list(repairs(reports, named, request))
            if diff:
                _show(found, sum(len(report.findings) for report in reports))
                faulty = bool(found) or any(request.fails(report) for report in reports)
                return Exit.FAILED if failed or unreadable else Exit.FOUND if faulty else Exit.OK
            failed = not _write_repairs(found, linted) or failed
            if found:
                reports, unreadable = _lint_all(groups, request, named)
        failed = failed or unreadable
        if baseline is not None and write_baseline:
            return Exit.FAILED if failed else _write_baseline(baseline, reports)
        if baseline is not None:
            reports = _unknown(baseline, reports, selection)
        chosen = format or (LintFormat.github if os.environ.get("GITHUB_ACTIONS") == "true" else LintFormat.text)
        _write(reports, chosen)
        faulty = any(request.fails(report) for report in reports)
    return Exit.FAILED if failed else Exit.FOUND if faulty else Exit.OK


def _write_repairs(found: list[FileRepair], linted: Mapping[Path, Fingerprint]) -> bool:
    """Return whether all files were repaired; one that changed after it was linted is reported and left alone."""
    from pagectl.running.exits import describe, report
    from pagefmt.bytes.file_snapshot import SourceChanged

    whole = True
    for each in found:
        try:
            each.write(linted)
        except SourceChanged as err:
            report(describe(err))
            whole = False
    return whole


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Objects of a lint live until its end: collecting garbage, at exit as well, would only take time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _file_groups(named: list[str], show_files: bool) -> tuple[list[list[str]], bool]:
    """A file or an instance is itself; a folder stands for the configurations below it. And whether any failed."""
    from pagectl.opening.discovery import is_searched, search
    from pagectl.running.exits import describe, report

    groups, failed = [], False
    for name in named:
        if name == "-" or not is_searched(Path(name)):
            groups.append([name])
            continue
        found = search(Path(name))
        errors: list[Exception] = list(found.unreadable)
        try:
            found.tell(whole=show_files)
        except CallError as err:
            errors.append(err)
        for error in errors:
            report(describe(error))
        failed = failed or bool(errors)
        groups.append([str(path) for path, _ in found.taken])
    return groups, failed


def _lint_all(groups: list[list[str]], request: LintRequest, named: list[str]) -> tuple[list[FileReport], bool]:
    """All files; one that cannot be read is reported on standard error, and the next follows.

    Templates are passed over with a remark, unless they are ``named``.
    """
    from brokerconf.errors import BrokerConfError

    from pagectl.opening.linting import without_included
    from pagectl.running.exits import describe, report

    reports: list[FileReport] = []
    failed = False
    for file in dict.fromkeys(file for files in groups for file in files):
        try:
            found = request.lint(file)
            reports.append(found if file in named and not Path(file).is_dir() else found.passed_over())
        except (OSError, CallError, BrokerConfError) as err:
            report(describe(err))
            failed = True
    return without_included(reports) if len(reports) > 1 else reports, failed


def _show(found: list[FileRepair], findings: int) -> None:
    """Print the diff, or why there is none although there are findings."""
    from pagectl.outputs.lint_diff import lint_diff
    from pagectl.terminal.streams import note

    for each in found:
        sys.stdout.writelines(lint_diff(str(each.path), each.text))
    sys.stdout.flush()
    if findings and not found:
        note(f"{count_text(findings, 'finding')} without a certain repair; without --fix and --diff they are shown")


def _write_baseline(path: Path, reports: list[FileReport]) -> int:
    """What is known about files that were not linted stays."""
    from brokerconf.linting.baseline import Baseline, read_baseline

    from pagectl.terminal.streams import note
    from pagefmt.bytes.writing import write_text

    known = read_baseline(path) if path.exists() else Baseline(path.parent)
    written = known.renewed(reports)
    write_text(path, written.text(), updated=True)
    note(f"{path}: {sum(entry.times for entry in written.entries)} known findings")
    return Exit.OK


def _unknown(path: Path, reports: list[FileReport], selection: RuleSelection) -> list[FileReport]:
    """The reports without the findings of the baseline; how many there were is told."""
    from brokerconf.linting.baseline import read_baseline
    from brokerconf.linting.catalogue import known_ids

    from pagectl.terminal.streams import note

    found = read_baseline(path).without_known(reports, {rule for rule in known_ids() if selection.takes(rule)})
    gone = f"; {found.stale} no longer occur (--write-baseline removes them)" if found.stale else ""
    note(f"{path}: {found.known} known findings left out{gone}")
    return found.reports


def _write(reports: list[FileReport], format: LintFormat) -> None:
    from pagectl.outputs.lint_text import summary_line

    match format:
        case LintFormat.text:
            from pagectl.outputs.lint_text import lint_text
            from pagectl.terminal.streams import coloured

            sys.stdout.writelines(lint_text(reports, colour=coloured(sys.stdout), width=_quoted_width()))
            _note_editions(reports)
        case LintFormat.json:
            from pagectl.reports.config_lint import ConfigLint
            from pagectl.terminal.streams import print_json

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
            assert_never(format)
    sys.stdout.flush()
    if reports:
        sys.stderr.write(f"{summary_line(reports)}\n")


def _note_editions(reports: list[FileReport]) -> None:
    """Note which editions were assumed, and why; files for which that is the same share a line."""
    from pagectl.terminal.streams import note
    from pagefmt.findings import some

    files: dict[tuple[str, str], list[str]] = {}
    for report in reports:
        if report.assumed:
            files.setdefault((report.edition, report.assumed), []).append(report.file)
    for (edition, why), names in files.items():
        note(f"{some(names)}: checked as {edition} ({why})")


def _quoted_width() -> int:
    """On a terminal a quoted line and its caret stay on one line each, behind the margin."""
    from pagectl.outputs.lint_report import WIDTH
    from pagectl.terminal.streams import is_terminal

    if not is_terminal(sys.stdout):
        return WIDTH
    import shutil

    return min(WIDTH, shutil.get_terminal_size().columns - _MARGIN)


# "  12 | " and the marks of a line that was cut.
_MARGIN = 9
