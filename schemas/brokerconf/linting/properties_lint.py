"""Lint of ``broker.properties`` alone, as text, JSON or YAML: its entries over an empty configuration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from brokerconf.instance.recognition import ConfigurationForm
from brokerconf.linting.checking import sorted_findings
from brokerconf.linting.document_lint import document_findings, judged
from brokerconf.linting.lint_report import FileReport, LintContext, RuleSelection
from brokerconf.reading.properties import EMPTY_XML, property_file, resolved
from brokerconf.reading.substitution import PlaceholderValues
from pagefmt.editions import NEWEST, Edition
from pagefmt.findings import Finding, Position, Severity

# What a broker.xml that is known in part alone says of the other part.
OF_THE_WHOLE = frozenset({"unknown-element", "core-not-found"})


def findings_over(
    xml: str,
    name: str,
    context: LintContext,
    selection: RuleSelection,
    place: Callable[[int], Position],
    outside: Position,
    under: str = "",
) -> tuple[Edition, list[Finding]]:
    """Return the edition of a partly known broker.xml, and the findings about its known text and about the entries.

    ``place`` turns offsets into positions; findings positioned at ``outside`` are about the unknown part and left out.
    ``under`` names that part.
    """
    document, verdict, _ = judged(xml.encode(), name, context, place)
    document.laid_over, document.under = True, under or document.under
    findings = document_findings(document, verdict, context, selection)
    return document.edition, [
        finding for finding in findings if finding.place != outside and finding.rule not in OF_THE_WHOLE
    ]


def lint_properties(
    raw: bytes, name: str, form: ConfigurationForm, context: LintContext, selection: RuleSelection
) -> FileReport:
    """Return all findings in a properties file; raise ``ReadingError`` if the broker ignores the file."""
    edition = context.edition or NEWEST
    file = property_file(raw, name, edition, f".{form.value}")
    if file.fault:
        raise file.fault
    values = PlaceholderValues.of(edition, context.properties, context.environment)
    entries = (*resolved(file.entries, values), *context.entries)
    context = replace(context, edition=edition, schemas=None, entries=entries, host=None)
    outside = Position("", 0, 0)
    _, findings = findings_over(EMPTY_XML, name, context, selection, lambda _: outside, outside)
    if edition < Edition.ARTEMIS_2_28 and selection.takes("properties-unreadable"):
        message = "this edition does not read properties files"
        findings.append(Finding(Position(name, 1, 1), Severity.ERROR, "properties-unreadable", message, help="upgrade"))
    elif form is ConfigurationForm.YAML and edition < Edition.ARTEMIS_2_56 and selection.takes("properties-unreadable"):
        message = "YAML is supported since 2.56: this edition reads it line by line, like .properties"
        place = Position(name, 1, 1)
        findings.append(
            Finding(place, Severity.WARNING, "properties-unreadable", message, help="write .properties or .json")
        )
    sound = not any(
        finding.rule.startswith("properties-") and finding.severity is Severity.ERROR for finding in findings
    )
    return FileReport(name, edition.value, "", sound, tuple(sorted_findings(findings)), (file.source, *context.beside))
