"""Findings for a text that is being edited: those of a lint, each with the part of the text that it is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from brokerconf.editor.patching import PatchedDocument
from brokerconf.editor.scanning import mended
from brokerconf.editor.text import EditedText
from brokerconf.instance.recognition import ConfigurationForm, form_of
from brokerconf.linting.checking import sorted_findings
from brokerconf.linting.lint import FileReport, LintContext, RuleSelection, document_findings, judged, lint, unread
from brokerconf.reading.document import Document
from brokerconf.reading.parsing import ReadingError
from brokerconf.schema.schema_facts import holding_elements
from brokerconf.schema.validation import SchemaVerdict, judge
from brokerconf.settings.matching import MatchMemory
from pagefmt.findings import Finding

_WORD = re.compile(r"""</?[^\s<>/"']*|[^\s<>"'=]+|.""", re.DOTALL)
_UNFINISHED = "not-well-formed"
# Larger texts are not read again for another value; and of one that is not well-formed, only what was found before is
# told until it is again.
_LARGE = 200_000


class Diagnostic(NamedTuple):
    """A finding and where it stands in the text."""

    finding: Finding
    start: int
    stop: int


class CheckedText(NamedTuple):
    """A text with what was found in it."""

    text: EditedText
    edition: str
    diagnostics: tuple[Diagnostic, ...]

    @classmethod
    def of(cls, text: EditedText, name: str, report: FileReport) -> CheckedText:
        """Those findings of a report that are about the file of that name."""
        own = (finding for finding in report.findings if finding.place.file == name)
        placed = tuple(Diagnostic(finding, *extent(text, text.of_finding(finding.place))) for finding in own)
        return cls(text, report.edition, placed)


class Checker:
    """Checks the states of one document in turn."""

    def __init__(self) -> None:
        self.last: CheckedText | None = None
        self._memory = MatchMemory()
        # the last well-formed state of a large document, for which context it was read, and the schema's verdict
        self._patched: PatchedDocument | None = None
        self._read_for: LintContext | None = None
        self._verdict: SchemaVerdict | None = None

    def check(
        self, text: EditedText, name: str, context: LintContext, selection: RuleSelection | None = None
    ) -> CheckedText:
        """The findings in a text; in one that is not well-formed also those of the rest of it.

        Where nothing can be made of the rest, the findings of the last state stand in.
        """
        found = CheckedText.of(text, name, self._report(text.text, name, context, selection or RuleSelection()))
        if [one.finding.rule for one in found.diagnostics] == [_UNFINISHED]:
            rest = _of_the_rest(text, name, context, selection)
            moved = _moved(self.last, text) if rest is None and self.last else ()
            found = found._replace(diagnostics=(*found.diagnostics, *(rest or moved)))
        self.last = found
        return found

    def _report(self, text: str, name: str, context: LintContext, selection: RuleSelection) -> FileReport:
        if len(text) < _LARGE or form_of(name, text[:_LARGE].encode("utf-8", "replace")) is not ConfigurationForm.XML:
            return lint(_bytes(text), name, context, selection)
        known = self._patched
        if known is not None and self._read_for is context and self._verdict is not None:
            old = known.document.source.original
            if known.follow(text, *changed_part(old, text)):
                if not known.same_verdict:
                    self._verdict = judge(known.document, context.schemas)
                return self._of(known.document, self._verdict, name, selection)
        raw = _bytes(text)
        kept = known.document.edition if known and self._read_for is context else None
        try:
            # the edition was found when the document was opened: to find it again takes eight readings at worst
            document, verdict, _ = judged(raw, name, replace(context, edition=context.edition or kept))
        except ReadingError as err:
            return unread(err, raw, name, context, selection)
        self._verdict = verdict
        self._patched, self._read_for = PatchedDocument(document), context
        return self._of(document, verdict, name, selection)

    def _of(self, document: Document, verdict: SchemaVerdict, name: str, selection: RuleSelection) -> FileReport:
        assert self._read_for is not None
        context = replace(self._read_for, memory=self._memory)
        found = sorted_findings(document_findings(document, verdict, context, selection))
        return FileReport(name, document.edition.value, verdict.schema, verdict.valid, tuple(found), ())


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _of_the_rest(
    text: EditedText, name: str, context: LintContext, selection: RuleSelection | None
) -> tuple[Diagnostic, ...] | None:
    """What is found where the text is sound; None where it cannot be mended."""
    if len(text.text) > _LARGE:
        return None
    whole = mended(text.text, holding_elements())
    sound = EditedText(whole.text)
    found = CheckedText.of(sound, name, lint(_bytes(whole.text), name, context, selection)).diagnostics
    if any(one.finding.rule == _UNFINISHED for one in found):
        return None
    kept = (one._replace(start=whole.back(one.start), stop=whole.back(one.stop)) for one in found)
    return tuple(one for one, was in zip(kept, found, strict=True) if _same(sound.text, was, text.text, one))


def _same(one: str, place: Diagnostic, other: str, there: Diagnostic) -> bool:
    return one[place.start : place.stop] == other[there.start : there.stop]


def _moved(before: CheckedText, text: EditedText) -> tuple[Diagnostic, ...]:
    """The findings of the last state where they stand now; those of what was changed are gone."""
    first, last = changed_part(before.text.text, text.text)
    by = len(text.text) - len(before.text.text)
    kept = [one for one in before.diagnostics if one.finding.rule != _UNFINISHED]
    return tuple(
        one if one.stop <= first else one._replace(start=one.start + by, stop=one.stop + by)
        for one in kept
        if one.stop <= first or one.start >= last
    )


def changed_part(old: str, new: str) -> tuple[int, int]:
    """Offsets in the old text between which the two differ."""
    most = min(len(old), len(new))
    first = _alike(most, lambda low, high: old[low:high] == new[low:high])
    ends = len(old), len(new)
    behind = _alike(
        most - first, lambda low, high: old[ends[0] - high : ends[0] - low] == new[ends[1] - high : ends[1] - low]
    )
    return first, len(old) - behind


def _alike(most: int, same: Callable[[int, int], bool]) -> int:
    """How far two texts are the same, by halving: ``same`` compares what lies between two distances."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if same(low, middle):
            low = middle
        else:
            high = middle - 1
    return low


def extent(text: EditedText, offset: int) -> tuple[int, int]:
    """The word at an offset: a tag's name, an attribute, a value; at least one character where there is one."""
    found = _WORD.match(text.text, offset)
    if found is None or found[0] in "\r\n":
        return max(offset - 1, 0), offset
    return offset, found.end()


def at(diagnostics: Sequence[Diagnostic], offset: int) -> list[Finding]:
    """The findings about an offset."""
    return [one.finding for one in diagnostics if one.start <= offset <= one.stop]
