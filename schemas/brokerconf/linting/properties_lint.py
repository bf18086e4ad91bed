"""A lint of ``broker.properties`` alone, as text, JSON or YAML: its entries over a configuration that says nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from brokerconf.instance.recognition import ConfigurationForm
from brokerconf.linting.checking import sorted_findings
from brokerconf.linting.lint import FileReport, LintContext, RuleSelection, document_findings, judged
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
    """The edition of a broker.xml of which no more is known, and what is found at its own words and at the entries.

    ``place`` turns offsets into positions; what is found ``outside`` is about the part that is not known, which
    ``under`` names.
    """
    document, verdict, _ = judged(xml.encode(), name, context, place)
    document.laid_over, document.under = True, under or document.under
    found = document_findings(document, verdict, context, selection)
    return document.edition, [one for one in found if one.place != outside and one.rule not in OF_THE_WHOLE]


def lint_properties(
    raw: bytes, name: str, form: ConfigurationForm, context: LintContext, selection: RuleSelection
) -> FileReport:
    """Everything that is found in the entries of a file; raises ``ReadingError`` where the broker drops all of it."""
    edition = context.edition or NEWEST
    file = property_file(raw, name, edition, f".{form.value}")
    if file.fault:
        raise file.fault
    values = PlaceholderValues.of(edition, context.properties, context.environment)
    entries = (*resolved(file.entries, values), *context.entries)
    context = replace(context, edition=edition, schemas=None, entries=entries, host=None)
    outside = Position("", 0, 0)
    _, found = findings_over(EMPTY_XML, name, context, selection, lambda _: outside, outside)
    if edition < Edition.ARTEMIS_2_28 and selection.takes("properties-unreadable"):
        said = "this edition does not read properties files"
        found.append(Finding(Position(name, 1, 1), Severity.ERROR, "properties-unreadable", said, help="upgrade"))
    elif form is ConfigurationForm.YAML and edition < Edition.ARTEMIS_2_56 and selection.takes("properties-unreadable"):
        said = "YAML is supported since 2.56: this edition reads it line by line, like .properties"
        place = Position(name, 1, 1)
        found.append(Finding(place, Severity.WARNING, "properties-unreadable", said, help="write .properties or .json"))
    sound = not any(one.rule.startswith("properties-") and one.severity is Severity.ERROR for one in found)
    return FileReport(name, edition.value, "", sound, tuple(sorted_findings(found)), (file.source, *context.beside))
