"""What every output of ``config lint`` is made from, and the line of source that goes with a finding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from brokerconf.linting.lint import FileReport
from brokerconf.reading.secrets import masked_line, masked_text
from brokerconf.reading.sources import SourceFile

from pagectl.terminal.sanitise import one_line
from pagefmt.findings import Finding, Severity

WIDTH = 160
_STOPS = frozenset("<>\"' \t&;,=")


@dataclass(frozen=True, slots=True)
class Quoted:
    """A line fit to be shown, and the columns of the caret and its tail in it, from 0."""

    line: str
    caret: int
    length: int


def summary(files: Iterable[FileReport]) -> dict[str, int]:
    """How many files were read, and how many findings of each severity there are."""
    reports = list(files)
    counts = Counter(finding.severity for report in reports for finding in report.findings)
    return {"files": len(reports)} | {f"{severity.value}s": counts[severity] for severity in Severity}


class Lines:
    """The lines of the files of one report, split once a file."""

    def __init__(self, sources: Sequence[SourceFile], width: int = WIDTH) -> None:
        self._width = max(width, 20)
        self._sources = {source.path: source for source in sources}
        self._lines: dict[str, list[str]] = {}

    def of(self, finding: Finding) -> str | None:
        """The line that a finding stands on, as it was written; ``None`` where there is none."""
        if finding.place.file not in self._lines:
            source = self._sources.get(finding.place.file)
            self._lines[finding.place.file] = masked_text(source.original).split("\n") if source else []
        lines = self._lines[finding.place.file]
        return lines[finding.place.line - 1].rstrip("\r") if 0 < finding.place.line <= len(lines) else None

    def quoted(self, finding: Finding) -> Quoted | None:
        """The line without its passwords, cut to the width around the place, control characters visible."""
        width = self._width
        line = self.of(finding)
        if line is None:
            return None
        start = min(max(finding.place.column - 1, 0), len(line))
        end = token_end(line, start)
        hidden = masked_line(line)
        if hidden != line:
            start, end = _common(line, hidden, start), _common(line, hidden, end)
            line = hidden
        first = 0 if start < width * 3 // 4 else start - width // 2
        # escapes of what cannot be shown take several columns each
        shown = one_line(line[first : first + width].expandtabs(1))[: 2 * width]
        before = one_line(line[first:start].expandtabs(1))
        token = one_line(line[start : min(end, first + width)].expandtabs(1))
        mark = "…" if first else ""
        tail = "…" if first + width < len(line) else ""
        return Quoted(f"{mark}{shown}{tail}", len(mark) + columns(before), max(columns(token), 1))


def _common(line: str, hidden: str, upto: int) -> int:
    """The place in the masked line: what lies behind a hidden secret moves to the secret's start."""
    same = next((n for n in range(min(upto, len(hidden))) if line[n] != hidden[n]), min(upto, len(hidden)))
    return same if same < upto else upto


def token_end(line: str, start: int) -> int:
    """Where the tag's name, the attribute's value or the word that begins there ends."""
    at = start + 1 if line[start : start + 1] in ("<", '"', "'") else start
    while at < len(line) and line[at] not in _STOPS:
        at += 1
    closing = at < len(line) and line[at] in ">\"'" and line[start] in "<\"'"
    return at + 1 if closing else max(at, start + 1)


def columns(text: str) -> int:
    """How many columns of a terminal the text takes."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )
