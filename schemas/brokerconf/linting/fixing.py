"""The sure repairs of findings carried out on the text of a file; every other byte stays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from brokerconf.instance.recognition import ConfigurationForm, form_of
from pagefmt.findings import Finding


class RepairedText(NamedTuple):
    """A file before and after, as text, with the findings that are repaired; ``raw`` are the bytes after."""

    form: ConfigurationForm
    before: str
    after: str
    raw: bytes
    repaired: tuple[Finding, ...]


def repaired(name: str, raw: bytes, findings: Iterable[Finding]) -> RepairedText | None:
    """The file with the fixes of the findings that stand in it; None where nothing is to be done.

    A fix whose text does not stand at its place is left out, and so is one that another overlaps.
    """
    form = form_of(name, raw)
    encoding = "latin-1" if form is ConfigurationForm.PROPERTIES else "utf-8"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        return None
    lines = [0, *(found.end() for found in re.finditer("\n", text))]
    edits: dict[tuple[int, str, str], Finding] = {}
    for finding in findings:
        fix = finding.fix
        if fix is None or not 0 < fix.place.line <= len(lines):
            continue
        at = lines[fix.place.line - 1] + fix.place.column - 1
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
