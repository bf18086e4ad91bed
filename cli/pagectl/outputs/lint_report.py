"""What every output of ``config lint`` is made from, and the line of source that goes with a finding."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from operator import itemgetter
from typing import NamedTuple

from brokerconf.reading.secrets import HIDDEN, Span, without
from brokerconf.reading.sources import SourceFile

from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import cell_width
from pagefmt.findings import Finding

WIDTH = 160
_LONGEST_TOKEN = 1_000
_STOPS = frozenset("<>\"' \t&;,=")


class Quoted(NamedTuple):
    """A line fit to be shown, and the columns of the caret and its tail in it, from 0."""

    line: str
    caret: int
    length: int


class _MaskedLine:
    """A line with ``****`` in place of each secret; ``secrets``: columns in the line as it was written."""

    def __init__(self, written: str, secrets: list[Span]) -> None:
        self.shown = without(written, secrets)
        self._secrets = secrets
        lengths = accumulate((len(HIDDEN) - (end - start) for start, end in secrets), initial=0)
        self._shifts = list(lengths)

    def column(self, written: int) -> int:
        """Return the column in the masked line for a column of the line; inside a secret, the secret's first column."""
        before = bisect_right(self._secrets, (written, len(self.shown) + written))
        if before and written < self._secrets[before - 1][1]:
            return self._secrets[before - 1][0] + self._shifts[before - 1]
        return min(written + self._shifts[before], len(self.shown))


class Lines:
    """The lines of the files of one report without their secrets; each file and line is gone through once."""

    def __init__(self, sources: Sequence[SourceFile], width: int = WIDTH) -> None:
        self._width = max(width, 20)
        self._sources = {source.path: source for source in sources}
        self._secrets: dict[str, list[Span]] = {}
        self._lines: dict[tuple[str, int], _MaskedLine | None] = {}

    def _line(self, file: str, number: int) -> _MaskedLine | None:
        source = self._sources.get(file)
        span = source.line(number) if source else None
        if source is None or span is None:
            return None
        if file not in self._secrets:
            self._secrets[file] = source.secrets()
        begin, stop = span
        hidden = self._secrets[file]
        if not hidden:
            return _MaskedLine(source.original[begin:stop], [])
        first, behind = bisect_right(hidden, begin, key=itemgetter(1)), bisect_left(hidden, stop, key=itemgetter(0))
        secrets = [(max(start, begin) - begin, min(end, stop) - begin) for start, end in hidden[first:behind]]
        return _MaskedLine(source.original[begin:stop], secrets)

    def quoted(self, finding: Finding) -> Quoted | None:
        """Return the line of a finding, None if it cannot be read.

        Passwords are masked, control characters visible, and the line is cut to the width around the finding's column.
        """
        width, (file, number, column) = self._width, finding.place
        if (file, number) not in self._lines:
            self._lines[file, number] = self._line(file, number)
        masked = self._lines[file, number]
        if masked is None:
            return None
        line = masked.shown
        start = masked.column(max(column - 1, 0))
        end = token_end(line, start)
        first = 0 if start < width * 3 // 4 else start - width // 2
        # escapes of what cannot be shown take several columns each
        shown = one_line(line[first : first + width].expandtabs(1))[: 2 * width]
        before = one_line(line[first:start].expandtabs(1))
        token = one_line(line[start : min(end, first + width)].expandtabs(1))
        mark = "…" if first else ""
        tail = "…" if first + width < len(line) else ""
        return Quoted(f"{mark}{shown}{tail}", len(mark) + cell_width(before), max(cell_width(token), 1))


def token_end(line: str, start: int) -> int:
    """Return the end of the tag name, attribute value or word that begins at ``start``."""
    at = start + 1 if line[start : start + 1] in ("<", '"', "'") else start
    behind = min(len(line), start + _LONGEST_TOKEN)
    while at < behind and line[at] not in _STOPS:
        at += 1
    closing = at < behind and line[at] in ">\"'" and line[start] in "<\"'"
    return at + 1 if closing else max(at, start + 1)
