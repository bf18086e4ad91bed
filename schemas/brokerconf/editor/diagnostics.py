"""Findings for a text that is being edited: those of a lint, each with the part of the text that it is about."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from brokerconf.editor.scanning import mended
from brokerconf.editor.text import EditedText
from brokerconf.linting.lint import FileReport, LintContext, RuleSelection, lint
from brokerconf.schema.schema_facts import holding_elements
from pagefmt.findings import Finding

_WORD = re.compile(r"""</?[^\s<>/"']*|[^\s<>"'=]+|.""", re.DOTALL)
_UNFINISHED = "not-well-formed"
# of a larger text that is not well-formed, only what was found before is told until it is again
_MENDED_UP_TO = 200_000


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


def check(
    text: EditedText,
    name: str,
    context: LintContext,
    selection: RuleSelection | None = None,
    before: CheckedText | None = None,
) -> CheckedText:
    """The findings in a text; in one that is not well-formed also those of the rest of it.

    ``before``: the last state, whose findings stand in where nothing can be made of the text.
    """
    found = CheckedText.of(text, name, lint(_bytes(text.text), name, context, selection))
    if [one.finding.rule for one in found.diagnostics] != [_UNFINISHED]:
        return found
    rest = _of_the_rest(text, name, context, selection)
    moved = _moved(before, text) if rest is None and before else ()
    return found._replace(diagnostics=(*found.diagnostics, *(rest or moved)))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _of_the_rest(
    text: EditedText, name: str, context: LintContext, selection: RuleSelection | None
) -> tuple[Diagnostic, ...] | None:
    """What is found where the text is sound; None where it cannot be mended."""
    if len(text.text) > _MENDED_UP_TO:
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
    first = _alike(old, new, most)
    behind = _alike(old[::-1], new[::-1], most - first)
    return first, len(old) - behind


def _alike(one: str, other: str, most: int) -> int:
    """How many characters at the start are the same, by halving."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
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
