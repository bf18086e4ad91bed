"""Lint of one document: schema, checks of values and rules, without the findings that its comments silence."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from brokerconf.checks.accepted_silently import silence_findings
from brokerconf.checks.value_checks import value_findings
from brokerconf.evidence.facts import ConfigFacts
from brokerconf.instance.detection import DetectedEdition, as_fits
from brokerconf.linting.catalogue import CHECKS, known_ids
from brokerconf.linting.checking import check, sorted_findings
from brokerconf.linting.lint_report import NOT_READ, FileReport, LintContext, RuleSelection
from brokerconf.reading.application_server import leave_server
from brokerconf.reading.document import ConfigNode, Document
from brokerconf.reading.reading import read_bytes
from brokerconf.reading.secrets import masked
from brokerconf.reading.sources import SourceFile
from brokerconf.rules import rules
from brokerconf.schema.schema_findings import schema_findings
from brokerconf.schema.validation import SchemaVerdict, judge
from pagefmt.editions import Edition
from pagefmt.findings import Finding, Position

if TYPE_CHECKING:
    from brokerconf.evidence.rule import Rule

# Rules that judge what the other finding says better.
_SAME_PLACE = ("bad-value", "invalid-value", "unknown-element")


def without_secrets(report: FileReport) -> FileReport:
    """Return the report with secrets hidden in whatever its findings quote."""
    return report._replace(findings=tuple(map(_without_secrets, report.findings)))


def _without_secrets(finding: Finding) -> Finding:
    return finding._replace(message=masked(finding.message), path=masked(finding.path), help=masked(finding.help))


def judged(
    raw: bytes,
    name: str,
    context: LintContext,
    place: Callable[[int], Position] | None = None,
    *,
    fragments: bool | None = None,
    held: Callable[[str], SourceFile | None] | None = None,
) -> DetectedEdition:
    """Read a document as the requested edition, or as the newest that it fits; raise ``ReadingError``.

    ``place`` maps an offset to a position if these bytes are only a part of the file ``name``. ``fragments``: read
    parts without their surroundings (None: only if the bytes are a whole file). ``held`` is that of ``IncludeContext``.
    """
    folder = Path(os.path.realpath(context.cwd or Path(name).parent))

    def read(edition: Edition | None) -> Document:
        document = read_bytes(
            raw,
            name,
            folder=folder,
            edition=edition,
            properties=context.properties,
            environment=context.environment,
            place=place,
            fragments=place is None if fragments is None else fragments,
            held=held,
        )
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
    """Return what schema, reader and rules find in a document, without what its comments silence."""
    chosen = [rule for rule in rules() if selection.takes(rule.id)]
    findings = _all_findings(document, verdict, context, chosen, checks=_takes_checks(selection))
    if any("pagectl:" in comment.text for comment in document.comments):
        from brokerconf.checks.ignore_comments import silences_of

        silences = silences_of(document, known_ids())
        findings = [*silences.not_silenced(findings), *silences.faults]
    return [selection.graded(finding) for finding in findings if selection.takes(finding.rule)]


def start_faults(document: Document, context: LintContext) -> list[Finding]:
    """Return the findings with which no broker of the document's edition starts; no comment silences them.

    Of a document over another one that is not known, only the properties are judged.
    """
    chosen = [rule for rule in rules() if _tells_start(rule)]
    findings = _all_findings(document, judge(document), context, chosen, checks=True)
    stopping = (finding for finding in findings if finding.stops_start)
    if document.laid_over:
        stopping = (finding for finding in stopping if finding.rule.startswith("properties-"))
    return [
        finding._replace(message="something in a Secret is refused", path="", help="")
        if document.hides(finding.place)
        else _without_secrets(finding)
        for finding in sorted_findings(stopping)
    ]


def _tells_start(rule: Rule) -> bool:
    return rule.stops_start or rule.explains_schema or rule.id in ("properties-bad-value", "properties-whole-entry")


def _takes_checks(selection: RuleSelection) -> bool:
    """Return whether a selection takes anything that checks of values and of what is accepted silently report.

    ``NOT_READ`` is left out because every selection takes it, and those checks report none of it.
    """
    return any(selection.takes(id) for id in CHECKS if id not in NOT_READ)


def _all_findings(
    document: Document, verdict: SchemaVerdict, context: LintContext, chosen: list[Rule], *, checks: bool
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
        of_rules += [result for result in check(facts, chosen) if result.path not in absent]
        values = value_findings(document, facts.effective) if checks else []
        of_values += [result for result in values if result.path not in document.added]
    explained = {rule.id for rule in rules() if rule.explains_schema}
    explained_paths = {finding.path for finding in of_rules if finding.rule in explained}
    of_schema = [
        candidate
        for candidate in of_schema
        if not (candidate.rule in _SAME_PLACE and candidate.path in explained_paths)
    ]
    explained_paths |= {finding.path for finding in of_schema}
    of_values = [
        candidate
        for candidate in of_values
        if not (candidate.rule in _SAME_PLACE and candidate.path in explained_paths)
    ]
    of_silence = silence_findings(document, cwd_given=context.cwd is not None) if checks else []
    return [*of_schema, *of_values, *of_silence, *of_rules]
