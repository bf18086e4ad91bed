"""A whole lint of one file: reading, schema, the reader's checks of values, rules, comments that silence them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from brokerconf.checks.accepted_silently import silence_findings
from brokerconf.checks.value_checks import value_findings
from brokerconf.evidence.facts import ConfigFacts
from brokerconf.evidence.host import PageFolder, Volume
from brokerconf.instance.detection import DetectedEdition, as_fits
from brokerconf.instance.recognition import PROPERTY_FORMS, ConfigurationForm, form_of
from brokerconf.instance.templates import template_mark
from brokerconf.linting.checking import check, sorted_findings
from brokerconf.reading.application_server import leave_server
from brokerconf.reading.document import ConfigNode, Document
from brokerconf.reading.parsing import ReadingError
from brokerconf.reading.reading import edition_by_namespace, read_bytes
from brokerconf.reading.secrets import masked
from brokerconf.reading.sources import SourceFile, plain_source
from brokerconf.rules import rules
from brokerconf.schema.schema_findings import schema_findings
from brokerconf.schema.validation import Schemas, SchemaVerdict, judge
from brokerconf.settings.matching import MatchMemory
from pagefmt.editions import Edition
from pagefmt.findings import Finding, Position, Severity

if TYPE_CHECKING:
    from brokerconf.evidence.rule import Rule
    from brokerconf.reading.properties import Entry


TEMPLATE = "template"
# Rules that judge what the other finding says better.
_SAME_PLACE = ("bad-value", "invalid-value", "unknown-element")


@dataclass(frozen=True, slots=True)
class LintContext:
    """What is known beside the file. ``edition`` None: the newest that the file fits; ``schemas``: the operator's own.

    ``cwd``: the broker's working directory; ``properties`` and ``environment`` fill in ``${…}``; ``entries`` are those
    of ``broker.properties``, whose text is ``beside``, ``faults`` why whole files of it are left out; heap in bytes;
    ``host`` tells the volumes of the document's directories where it is linted on the broker's host; ``profile`` and
    ``server`` are those of an application server that are looked at (None: all); ``memory`` is of the last lint of the
    same configuration.
    """

    edition: Edition | None = None
    schemas: Schemas | None = None
    cwd: Path | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    entries: tuple[Entry, ...] = ()
    beside: tuple[SourceFile, ...] = ()
    faults: tuple[ReadingError, ...] = ()
    heap: int | None = None
    stores: tuple[PageFolder, ...] | None = None
    host: Callable[[Document], tuple[Volume, ...] | None] | None = None
    memory: MatchMemory | None = None
    profile: str | None = None
    server: str | None = None


NOT_READ: Final = frozenset((
    "document-type", "encoding", "include-refused", "kubernetes-no-broker", "not-well-formed", "placeholder",
    "properties-unreadable", "too-deep", "too-large", "unknown-root", "unknown-subsystem", "yaml-aliases",
    "yaml-syntax",
))  # fmt: skip
"""Rules whose findings mean that a file, or a part of it, was not read."""


@dataclass(frozen=True, slots=True)
class RuleSelection:
    """Which rules speak: ``only`` (empty: all) without ``ignored``; ``severities`` are others than the rules' own."""

    only: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    severities: Mapping[str, Severity] = field(default_factory=dict)

    def takes(self, rule: str) -> bool:
        """Return whether findings of a rule are reported; what kept others from being checked is, unless ignored."""
        return rule not in self.ignored and (not self.only or rule in self.only or rule in NOT_READ)

    def graded(self, finding: Finding) -> Finding:
        """The finding with the severity that was asked for."""
        severity = self.severities.get(finding.rule)
        return finding._replace(severity=severity) if severity else finding


class FileReport(NamedTuple):
    """One file: ``schema`` names what it was validated against ("" where nothing could be); findings in order.

    ``assumed``: why it was linted as that edition, where nobody asked for it.
    """

    file: str
    edition: str
    schema: str
    valid: bool
    findings: tuple[Finding, ...]
    sources: tuple[SourceFile, ...] = ()
    assumed: str = ""

    def passed_over(self) -> FileReport:
        """The report of a file that was not named itself: of a template only that it is one."""
        remarks = tuple(one for one in self.findings if one.rule == TEMPLATE)
        return self._replace(findings=remarks) if remarks else self


def lint(
    raw: bytes,
    name: str,
    context: LintContext,
    selection: RuleSelection | None = None,
    form: ConfigurationForm | None = None,
) -> FileReport:
    """Everything that is found in the bytes of a configuration; ``name`` is how findings call it. ``form``: None where
    that is still to be told."""
    selection = selection or RuleSelection()
    form = form or form_of(name, raw)
    report = _as_template(_report(raw, name, context, selection, form), form, selection)
    lines = [source for source in report.sources if not source.markup and "pagectl:" in source.original]
    return without_secrets(_heard(report, lines, selection) if lines else report)


def _as_template(report: FileReport, form: ConfigurationForm, selection: RuleSelection) -> FileReport:
    """Return the report with a remark if the file looks like a template that is still to be rendered."""
    source = report.sources[0] if report.sources else None
    at = template_mark(source.original, form) if source else None
    if source is None or at is None:
        return report
    remark = Finding(
        source.position(at), Severity.INFO, TEMPLATE, "the file looks like a template that is not rendered",
        help="render it first, and lint the result",
        why="values and elements that are filled in later are not known",
    )  # fmt: skip
    found = [
        one._replace(help=f"render the template first; else {one.help}") if one.rule == "not-well-formed" else one
        for one in report.findings
    ]
    found += [selection.graded(remark)] if selection.takes(TEMPLATE) else []
    return report._replace(findings=tuple(sorted_findings(found)))


def without_secrets(report: FileReport) -> FileReport:
    """Return the report with secrets hidden in whatever its findings quote."""
    return report._replace(findings=tuple(map(_without_secrets, report.findings)))


def _without_secrets(finding: Finding) -> Finding:
    return finding._replace(message=masked(finding.message), path=masked(finding.path), help=masked(finding.help))


def _heard(report: FileReport, sources: Iterable[SourceFile], selection: RuleSelection) -> FileReport:
    """The report without what comments in lines silence."""
    from brokerconf.checks.ignore_comments import line_silences_of
    from brokerconf.linting.catalogue import known_ids

    found = list(report.findings)
    for source in sources:
        silences = line_silences_of(source, known_ids())
        found = silences.heard(found)
        found += [selection.graded(fault) for fault in silences.faults if selection.takes(fault.rule)]
    return report._replace(findings=tuple(sorted_findings(found)))


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
    found = document_findings(document, verdict, context, selection)
    found += [selection.graded(err.finding()) for err in context.faults if selection.takes(err.rule)]
    return FileReport(
        name,
        document.edition.value,
        verdict.schema,
        verdict.valid,
        tuple(sorted_findings(found)),
        (*document.sources, *context.beside),
        "" if context.edition or context.schemas else reason,
    )


def unread(err: ReadingError, raw: bytes, name: str, context: LintContext, selection: RuleSelection) -> FileReport:
    """The report on bytes that cannot be read as a configuration."""
    edition = context.edition or edition_by_namespace(raw[:4096].decode("utf-8", "replace"))
    findings = [selection.graded(err.finding())] if selection.takes(err.rule) else []
    return FileReport(name, edition.value, "", False, tuple(findings), (_source_of(raw, name, form_of(name, raw)),))


def judged(
    raw: bytes,
    name: str,
    context: LintContext,
    place: Callable[[int], Position] | None = None,
    *,
    fragments: bool | None = None,
    held: Callable[[str], SourceFile | None] | None = None,
) -> DetectedEdition:
    """Read as the edition asked for, or as the newest that the file fits; raises ``ReadingError``.

    ``place``: where in the file ``name`` these bytes stand, if they are not all of it; ``fragments``: parts that stand
    alone are read (None: of whole files); ``held``: as that of ``IncludeContext``.
    """
    folder = Path(os.path.realpath(context.cwd or Path(name).parent))

    def read(edition: Edition | None) -> Document:
        document = read_bytes(
            raw, name, folder=folder, edition=edition, properties=context.properties,
            environment=context.environment, place=place,
            fragments=place is None if fragments is None else fragments, held=held,
        )  # fmt: skip
        if context.profile is not None or context.server is not None:
            leave_server(document, context.profile, context.server)
        return document

    if context.schemas is not None:
        document = read(context.edition or context.schemas.edition)
        return DetectedEdition(document, judge(document, context.schemas), "as requested")
    return as_fits(read, context.edition)


def document_findings(
    document: Document, verdict: SchemaVerdict, context: LintContext, selection: RuleSelection
) -> list[Finding]:
    """What schema, reader and rules find in a document, without what its comments silence."""
    found = _all_findings(document, verdict, context, [rule for rule in rules() if selection.takes(rule.id)])
    if any("pagectl:" in comment.text for comment in document.comments):
        from brokerconf.checks.ignore_comments import silences_of
        from brokerconf.linting.catalogue import known_ids

        silences = silences_of(document, known_ids())
        found = [*silences.heard(found), *silences.faults]
    return [selection.graded(finding) for finding in found if selection.takes(finding.rule)]


def start_faults(document: Document, context: LintContext) -> list[Finding]:
    """Return the findings with which no broker of the document's edition starts; no comment silences them.

    Of a document over another one that is not known, only the properties are judged.
    """
    found = _all_findings(document, judge(document), context, [rule for rule in rules() if _tells_start(rule)])
    stopping = (one for one in found if one.stops_start)
    if document.laid_over:
        stopping = (one for one in stopping if one.rule.startswith("properties-"))
    return [
        one._replace(message="something in a Secret is refused", path="", help="") if document.hides(one.place)
        else _without_secrets(one)
        for one in sorted_findings(stopping)
    ]  # fmt: skip


def _tells_start(rule: Rule) -> bool:
    return rule.stops_start or rule.explains_schema or rule.id in ("properties-bad-value", "properties-whole-entry")


def _all_findings(
    document: Document, verdict: SchemaVerdict, context: LintContext, chosen: list[Rule]
) -> list[Finding]:
    of_schema = schema_findings(document, verdict)
    of_values: list[Finding] = []
    of_rules: list[Finding] = []
    volumes = context.host(document) if context.host else None
    cores: list[ConfigNode | None] = [*document.cores] or [None]
    for core in cores:
        facts = ConfigFacts(
            document,
            core,
            heap=context.heap,
            properties=context.entries,
            system=context.properties,
            stores=context.stores,
            volumes=volumes,
            memory=context.memory,
        )
        # what a part lacks may stand elsewhere
        absent = document.added | ({core.path} if core is not None and document.is_part else set())
        of_rules += [found for found in check(facts, chosen) if found.path not in absent]
        of_values += [found for found in value_findings(document, facts.effective) if found.path not in document.added]
    explained = {rule.id for rule in rules() if rule.explains_schema}
    told = {finding.path for finding in of_rules if finding.rule in explained}
    of_schema = [one for one in of_schema if not (one.rule in _SAME_PLACE and one.path in told)]
    told |= {finding.path for finding in of_schema}
    of_values = [one for one in of_values if not (one.rule in _SAME_PLACE and one.path in told)]
    of_silence = silence_findings(document, cwd_given=context.cwd is not None)
    return [*of_schema, *of_values, *of_silence, *of_rules]


def _source_of(raw: bytes, name: str, form: ConfigurationForm) -> SourceFile:
    """The text of a file that could not be read as a configuration, for the line that is shown."""
    if form is ConfigurationForm.KUBERNETES:
        from brokerconf.reading.yaml_tree import YamlSource

        return YamlSource(name, raw[: 1 << 20].decode("utf-8", "replace"))
    if form in PROPERTY_FORMS:
        from brokerconf.reading.properties import source_of

        return source_of(raw[: 1 << 20], name, f".{form.value}")
    return plain_source(name, raw[: 1 << 20].decode("utf-8", "replace"))
