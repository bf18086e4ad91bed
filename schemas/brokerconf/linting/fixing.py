"""Application of sure repairs to the text of a file; every other byte stays as it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from brokerconf.instance.recognition import ConfigurationForm, form_of
from brokerconf.linting.baseline import fingerprint
from brokerconf.linting.lint_report import FileReport
from brokerconf.reading.sources import plain_source
from pagefmt.findings import Finding, Severity

# Each fix that does not hold together with the others is tried alone; more than these are left alone.
_TRIED = 64


class RepairedText(NamedTuple):
    """File before and after repair, as text, with the repaired findings; ``raw`` are the bytes after."""

    form: ConfigurationForm
    before: str
    after: str
    raw: bytes
    repaired: tuple[Finding, ...]


def repaired(name: str, raw: bytes, findings: Iterable[Finding]) -> RepairedText | None:
    """Return the file with the fixes of its findings applied; None if no fix applies.

    A fix whose old text is not at its position is left out, and so is one that overlaps an earlier one.
    """
    form = form_of(name, raw)
    encoding = "latin-1" if form is ConfigurationForm.PROPERTIES else "utf-8"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        return None
    source = plain_source(name, text)
    edits: dict[tuple[int, str, str], Finding] = {}
    for finding in findings:
        fix = finding.fix
        line = source.line(fix.place.line) if fix else None
        if fix is None or line is None:
            continue
        at = line[0] + fix.place.column - 1
        # a value's place is where its quotation marks begin
        at += text[at : at + 1] in ("'", '"') and not text.startswith(fix.old, at)
        if fix.old and text.startswith(fix.old, at):
            edits.setdefault((at, fix.old, fix.new), finding)
    parts, done, end = [], [], 0
    for (at, old, new), finding in sorted(edits.items()):
        if at >= end:
            parts += [text[end:at], new]
            done.append(finding)
            end = at + len(old)
    after = "".join((*parts, text[end:]))
    return RepairedText(form, text, after, after.encode(encoding), tuple(done)) if done else None


def proven(
    name: str, raw: bytes, findings: Sequence[Finding], lint: Callable[[bytes], FileReport]
) -> RepairedText | None:
    """Return the repaired file, proven by another lint; None if no fix holds.

    The repair holds if the second lint reports none of the repaired findings and no new error. ``lint`` checks by all
    rules. If all fixes together do not hold, they are tried one after another, and those that hold are kept.
    """
    candidate = repaired(name, raw, findings)
    if candidate is None:
        return None
    before = lint(raw).findings
    if _holds(candidate, before, lint):
        return candidate
    kept: list[Finding] = []
    for finding in candidate.repaired[:_TRIED]:
        tried = repaired(name, raw, [*kept, finding])
        if tried is not None and _holds(tried, before, lint):
            kept.append(finding)
    return repaired(name, raw, kept)


def _holds(candidate: RepairedText, before: Sequence[Finding], lint: Callable[[bytes], FileReport]) -> bool:
    after = lint(candidate.raw).findings
    gone = _counted(candidate.repaired)
    there_still = (_counted(after) & gone) - (_counted(before) - gone)
    return not there_still and not _counted(_errors(after)) - _counted(_errors(before))


def _errors(findings: Iterable[Finding]) -> list[Finding]:
    return [finding for finding in findings if finding.severity is Severity.ERROR]


def _counted(findings: Iterable[Finding]) -> Counter[str]:
    return Counter(fingerprint(finding, finding.place.file) for finding in findings)
