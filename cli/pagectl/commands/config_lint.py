"""``pagectl config lint``: is this configuration well-formed, valid, readable to the broker, and what was meant?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pagectl.options.formats import LintFormat
from pagectl.options.groups import ConfigFileOptions
from pagectl.options.linting import (
    BaselineOptions,
    FailOnOption,
    LintFilesArgument,
    LintFormatOption,
    RepairOptions,
    RuleOptions,
    SchemaOptions,
    ShowFilesOption,
)
from pagectl.options.shared import DataOption
from pagectl.running.collector import never_collected
from pagectl.running.exits import CallError, Exit

if TYPE_CHECKING:
    from pagectl.opening.linting import LintRequest

EXAMPLES = (
    ("Everything that is wrong with one file", "config lint broker.xml"),
    ("All configurations of a repository, checked for the planned release", "config lint . --edition artemis-2.56"),
    ("In a pipeline that also fails on warnings", "config lint broker.xml --fail-on warning --format gitlab"),
    ("Preview the repairs that are certain", "config lint broker.xml --fix --diff"),
)


def command(
    files: LintFilesArgument = None,
    schemas: SchemaOptions = SchemaOptions(),
    format: LintFormatOption = None,
    fail_on: FailOnOption = None,
    rules: RuleOptions = RuleOptions(),
    data: DataOption = None,
    typed: ConfigFileOptions = ConfigFileOptions(),
    baselines: BaselineOptions = BaselineOptions(),
    repair: RepairOptions = RepairOptions(),
    show_files: ShowFilesOption = False,
) -> int:
    """Lint broker configurations: schema, values, and rules about what the settings do."""
    with never_collected():
        from pagectl.opening import linting

        request = linting.lint_request(typed, schemas, rules, fail_on, data)
        if baselines.write_baseline and baselines.baseline is None:
            raise CallError("--write-baseline needs --baseline FILE, the file to write")
        named = files or linting.default_files()
        if (repair.fix or repair.diff) and "-" in named:
            raise CallError("--fix and --diff need a file, and '-' is standard input; name a file")
        return _lint(request, named, format, baselines, repair, show_files)


def _lint(
    request: LintRequest,
    named: list[str],
    format: LintFormat | None,
    baselines: BaselineOptions,
    repair: RepairOptions,
    show_files: bool,
) -> int:
    from pagectl.opening import discovery, linting
    from pagectl.outputs.lint_output import write_diff, write_findings

    if repair.fix or repair.diff:
        from pagectl.opening import repairs

        before = repairs.fingerprints(named) if repair.fix else {}
    files, failed = discovery.named_files(named, show_files=show_files)
    reports, unread = linting.lint_all(files, request, named)
    if repair.fix or repair.diff:
        mended = list(repairs.repairs(reports, named, request))
        if repair.diff:
            write_diff([(str(mend.path), mend.text) for mend in mended], reports)
            faulty = bool(mended) or request.fails(reports)
            return Exit.FAILED if failed or unread else Exit.FOUND if faulty else Exit.OK
        if mended:
            failed |= not repairs.write_repairs(mended, before)
            reports, unread = linting.lint_all(files, request, named)
    failed |= unread
    if baselines.baseline is not None:
        from pagectl.opening.known_findings import without_known, write_known

        if baselines.write_baseline:
            return Exit.FAILED if failed else write_known(baselines.baseline, reports)
        reports = without_known(baselines.baseline, reports, request.selection)
    write_findings(reports, format)
    return Exit.FAILED if failed else Exit.FOUND if request.fails(reports) else Exit.OK
