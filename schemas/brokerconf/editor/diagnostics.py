"""Findings for a text that is being edited: those of a lint, each with its part of the text."""

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
from brokerconf.linting.document_lint import document_findings, judged
from brokerconf.linting.lint import lint, unread
from brokerconf.linting.lint_report import FileReport, LintContext, RuleSelection
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
    """Finding with its span in the text."""

    finding: Finding
    start: int
    stop: int


class CheckedText(NamedTuple):
    """Text with its findings, each at its span."""

    text: EditedText
    edition: str
    diagnostics: tuple[Diagnostic, ...]

    @classmethod
    def of(cls, text: EditedText, name: str, report: FileReport) -> CheckedText:
        """Return the text with those findings of a report that are about the file ``name``."""
        own = (finding for finding in report.findings if finding.place.file == name)
        placed = tuple(Diagnostic(finding, *extent(text, text.of_finding(finding.place))) for finding in own)
        return cls(text, report.edition, placed)


class Checker:
    """Checker of the successive states of one document."""

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
        """Return the findings in a text; if it is malformed, also those in the rest of it once mended.

        If it cannot be mended, the findings of the last check are moved to where their text is now.
        """
        checked = CheckedText.of(text, name, self._report(text.text, name, context, selection or RuleSelection()))
        if [diagnostic.finding.rule for diagnostic in checked.diagnostics] == [_UNFINISHED]:
            others = _of_the_rest(text, name, context, selection)
            moved = _at_new_offsets(self.last, text) if others is None and self.last else ()
            checked = checked._replace(diagnostics=(*checked.diagnostics, *(others or moved)))
        self.last = checked
        return checked

    def _report(self, text: str, name: str, context: LintContext, selection: RuleSelection) -> FileReport:
        if len(text) < _LARGE or form_of(name, text[:_LARGE].encode("utf-8", "replace")) is not ConfigurationForm.XML:
            return lint(_bytes(text), name, context, selection)
        patched = self._patched
        if patched is not None and self._read_for is context and self._verdict is not None:
            old = patched.document.source.original
            if patched.follow(text, *changed_part(old, text)):
                if not patched.same_verdict:
                    self._verdict = judge(patched.document, context.schemas)
                return self._of(patched.document, self._verdict, name, selection)
        raw = _bytes(text)
        kept = patched.document.edition if patched and self._read_for is context else None
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
        findings = sorted_findings(document_findings(document, verdict, context, selection))
        return FileReport(name, document.edition.value, verdict.schema, verdict.valid, tuple(findings), ())


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _of_the_rest(
    text: EditedText, name: str, context: LintContext, selection: RuleSelection | None
) -> tuple[Diagnostic, ...] | None:
    """Return the findings of the mended text that lie in sound parts; None if the text cannot be mended."""
    if len(text.text) > _LARGE:
        return None
    whole = mended(text.text, holding_elements())
    sound = EditedText(whole.text)
    diagnostics = CheckedText.of(sound, name, lint(_bytes(whole.text), name, context, selection)).diagnostics
    if any(diagnostic.finding.rule == _UNFINISHED for diagnostic in diagnostics):
        return None
    kept = (
        diagnostic._replace(start=whole.back(diagnostic.start), stop=whole.back(diagnostic.stop))
        for diagnostic in diagnostics
    )
    return tuple(
        diagnostic
        for diagnostic, was in zip(kept, diagnostics, strict=True)
        if _same(sound.text, was, text.text, diagnostic)
    )


def _same(text: str, place: Diagnostic, other: str, other_place: Diagnostic) -> bool:
    return text[place.start : place.stop] == other[other_place.start : other_place.stop]


def _at_new_offsets(before: CheckedText, text: EditedText) -> tuple[Diagnostic, ...]:
    """Return the last check's findings at their present offsets, without those in the changed part."""
    first, last = changed_part(before.text.text, text.text)
    by = len(text.text) - len(before.text.text)
    kept = [diagnostic for diagnostic in before.diagnostics if diagnostic.finding.rule != _UNFINISHED]
    return tuple(
        diagnostic
        if diagnostic.stop <= first
        else diagnostic._replace(start=diagnostic.start + by, stop=diagnostic.stop + by)
        for diagnostic in kept
        if diagnostic.stop <= first or diagnostic.start >= last
    )


def changed_part(old: str, new: str) -> tuple[int, int]:
    """Return the offsets in the old text between which the two differ."""
    most = min(len(old), len(new))
    first = _common_length(most, lambda low, high: old[low:high] == new[low:high])
    ends = len(old), len(new)
    behind = _common_length(
        most - first, lambda low, high: old[ends[0] - high : ends[0] - low] == new[ends[1] - high : ends[1] - low]
    )
    return first, len(old) - behind


def _common_length(most: int, same: Callable[[int, int], bool]) -> int:
    """Return how many characters two texts share, by binary search.

    ``same`` compares the characters between two distances from their beginning or end.
    """
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if same(low, middle):
            low = middle
        else:
            high = middle - 1
    return low


def extent(text: EditedText, offset: int) -> tuple[int, int]:
    """Return the span of the word at an offset: a tag's name, an attribute, a value; at least one character if any."""
    word = _WORD.match(text.text, offset)
    if word is None or word[0] in "\r\n":
        return max(offset - 1, 0), offset
    return offset, word.end()


def at(diagnostics: Sequence[Diagnostic], offset: int) -> list[Finding]:
    """Return the findings that cover an offset."""
    return [diagnostic.finding for diagnostic in diagnostics if diagnostic.start <= offset <= diagnostic.stop]
