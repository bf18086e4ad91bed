"""Edition of a configuration: what its instance runs, or else the newest that the file fits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from brokerconf.reading.document import Document, FileKind
from brokerconf.reading.parsing import ReadingError
from brokerconf.reading.reading import read
from brokerconf.reading.secrets import masked
from brokerconf.schema.validation import SchemaVerdict, judge
from pagefmt.editions import NEWEST, Edition


class DetectedEdition(NamedTuple):
    """Document read as the edition that was detected; ``reason`` says how."""

    document: Document
    verdict: SchemaVerdict
    reason: str

    @property
    def edition(self) -> Edition:
        """Return the edition that the document was read as."""
        return self.document.edition


def read_as_fits(
    path: Path,
    *,
    edition: Edition | None = None,
    cwd: Path | None = None,
    properties: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    fragments: bool = True,
) -> DetectedEdition:
    """Read a document as the given edition, that of its instance, or else the newest whose schema accepts it.

    If none does, the edition with the fewest faults counts, the newest of those. With ``fragments``, parts without
    their surroundings are read as well. Raises ``ReadingError``, ``OSError``.
    """
    reason = "as requested"
    if edition is None:
        from brokerconf.instance.installed import edition_of_instance

        edition, reason = edition_of_instance(path), "the release of its instance"

    def as_edition(wanted: Edition | None) -> Document:
        return read(path, edition=wanted, cwd=cwd, properties=properties, environment=environment, fragments=fragments)

    return as_fits(as_edition, edition, reason)


def as_fits(
    as_edition: Callable[[Edition | None], Document], edition: Edition | None, reason: str = "as requested"
) -> DetectedEdition:
    """Return what ``as_edition`` reads for the given edition, or for the newest whose schema accepts it.

    If none does, the edition with the fewest faults counts, the newest of those.
    """
    document = as_edition(edition)
    verdict = judge(document)
    if edition is not None:
        return DetectedEdition(document, verdict, reason)
    if document.subsystems:
        return DetectedEdition(document, verdict, document.subsystems[0].kind.words)
    if document.kind is not FileKind.ARTEMIS or not (verdict.document or verdict.broker):
        return DetectedEdition(document, verdict, "the newest that the file fits")
    if verdict.cut:
        return DetectedEdition(document, verdict, "it has too many errors to fit any edition")
    best = DetectedEdition(document, verdict, "no edition fits; this one gives the fewest errors")
    refused = NEWEST, _first_fault(document, verdict)
    oldest = Edition.HORNETQ_2_4 if document.taken_for else Edition.ARTEMIS_1_5
    for older in reversed([candidate for candidate in Edition if oldest <= candidate < NEWEST]):
        try:
            document = as_edition(older)
        except ReadingError as err:
            refused = older, str(err)
            continue
        verdict = judge(document)
        if not verdict.document and not verdict.broker:
            return DetectedEdition(document, verdict, _newer_refuse(*refused))
        refused = older, _first_fault(document, verdict)
        # an edition that does not follow includes has fewer faults because it sees less
        blind = len(document.sources) < len(best.document.sources)
        if _faults(verdict) < _faults(best.verdict) and not best.document.taken_for and not blind:
            best = DetectedEdition(document, verdict, best.reason)
    return best


def _newer_refuse(edition: Edition, fault: str) -> str:
    newer = f"{edition.value} refuses" if edition is NEWEST else f"{edition.value} and newer refuse"
    return f"the newest that the file fits; {newer} it: {fault}"


def _first_fault(document: Document, verdict: SchemaVerdict) -> str:
    """Return the first finding of the schema in words; inside a Secret only its line."""
    from brokerconf.schema.schema_findings import schema_findings

    findings = schema_findings(document, verdict)
    if not findings:
        return "by its schema"
    first = min(findings, key=lambda finding: (finding.severity.rank, finding.place))
    message = "something in a Secret" if document.hides(first.place) else masked(first.message)
    return f"line {first.place.line}: {message}"


def _faults(verdict: SchemaVerdict) -> int:
    return max(len(verdict.document), len(verdict.broker))
