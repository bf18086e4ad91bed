"""Lint of one file: reading, schema, the reader's checks of values, rules, comments that silence them."""

from __future__ import annotations

from collections.abc import Iterable

from brokerconf.instance.recognition import PROPERTY_FORMS, ConfigurationForm, form_of
from brokerconf.instance.templates import template_mark
from brokerconf.linting.checking import sorted_findings
from brokerconf.linting.document_lint import document_findings, judged, without_secrets
from brokerconf.linting.lint_report import TEMPLATE, FileReport, LintContext, RuleSelection
from brokerconf.reading.parsing import ReadingError
from brokerconf.reading.reading import edition_by_namespace
from brokerconf.reading.sources import SourceFile, plain_source
from pagefmt.findings import Finding, Severity


def lint(
    raw: bytes,
    name: str,
    context: LintContext,
    selection: RuleSelection | None = None,
    form: ConfigurationForm | None = None,
) -> FileReport:
    """Return all findings in the bytes of a configuration.

    ``name`` is the file's name in findings. If ``form`` is None, it is recognised from name and content.
    """
    selection = selection or RuleSelection()
    form = form or form_of(name, raw)
    report = _as_template(_report(raw, name, context, selection, form), form, selection)
    lines = [source for source in report.sources if not source.markup and "pagectl:" in source.original]
    return without_secrets(_without_silenced(report, lines, selection) if lines else report)


def _as_template(report: FileReport, form: ConfigurationForm, selection: RuleSelection) -> FileReport:
    """Return the report with a remark if the file looks like a template that is still to be rendered."""
    source = report.sources[0] if report.sources else None
    at = template_mark(source.original, form) if source else None
    if source is None or at is None:
        return report
    remark = Finding(
        source.position(at),
        Severity.INFO,
        TEMPLATE,
        "the file looks like a template that is not rendered",
        help="render it first, and lint the result",
        why="values and elements that are filled in later are not known",
    )
    findings = [
        finding._replace(help=f"render the template first; else {finding.help}")
        if finding.rule == "not-well-formed"
        else finding
        for finding in report.findings
    ]
    findings += [selection.graded(remark)] if selection.takes(TEMPLATE) else []
    return report._replace(findings=tuple(sorted_findings(findings)))


def _without_silenced(report: FileReport, sources: Iterable[SourceFile], selection: RuleSelection) -> FileReport:
    """Return the report without the findings that comments in lines of properties or YAML silence."""
    from brokerconf.checks.ignore_comments import line_silences_of
    from brokerconf.linting.catalogue import known_ids

    findings = list(report.findings)
    for source in sources:
        silences = line_silences_of(source, known_ids())
        findings = silences.not_silenced(findings)
        findings += [selection.graded(fault) for fault in silences.faults if selection.takes(fault.rule)]
    return report._replace(findings=tuple(sorted_findings(findings)))


def _report(
    raw: bytes, name: str, context: LintContext, selection: RuleSelection, form: ConfigurationForm
) -> FileReport:
    try:
        if form is ConfigurationForm.KUBERNETES:
            from brokerconf.linting.kubernetes_lint import lint_kubernetes

            return lint_kubernetes(raw, name, context, selection)
        if form in PROPERTY_FORMS:
            from brokerconf.linting.properties_lint import lint_properties

            return lint_properties(raw, name, form, context, selection)
        document, verdict, reason = judged(raw, name, context)
    except ReadingError as err:
        return unread(err, raw, name, context, selection)
    findings = document_findings(document, verdict, context, selection)
    findings += [selection.graded(err.finding()) for err in context.faults if selection.takes(err.rule)]
    return FileReport(
        name,
        document.edition.value,
        verdict.schema,
        verdict.valid,
        tuple(sorted_findings(findings)),
        (*document.sources, *context.beside),
        "" if context.edition or context.schemas else reason,
    )


def unread(err: ReadingError, raw: bytes, name: str, context: LintContext, selection: RuleSelection) -> FileReport:
    """Return the report on bytes that cannot be read as a configuration."""
    edition = context.edition or edition_by_namespace(raw[:4096].decode("utf-8", "replace"))
    findings = [selection.graded(err.finding())] if selection.takes(err.rule) else []
    return FileReport(name, edition.value, "", False, tuple(findings), (_source_of(raw, name, form_of(name, raw)),))


def _source_of(raw: bytes, name: str, form: ConfigurationForm) -> SourceFile:
    """Return the source of an unreadable file, from which a finding's line is shown; at most its first MiB."""
    if form is ConfigurationForm.KUBERNETES:
        from brokerconf.reading.yaml_tree import YamlSource

        return YamlSource(name, raw[: 1 << 20].decode("utf-8", "replace"))
    if form in PROPERTY_FORMS:
        from brokerconf.reading.properties import source_of

        return source_of(raw[: 1 << 20], name, f".{form.value}")
    return plain_source(name, raw[: 1 << 20].decode("utf-8", "replace"))
