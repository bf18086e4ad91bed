"""Text that is being edited, with conversion between offsets and an editor's positions (line, UTF-16 code unit)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import NamedTuple

from pagefmt.findings import Position

_LINE_END = re.compile(r"\r\n?|\n")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


class Caret(NamedTuple):
    """Position as editors count it: both from 0, ``character`` in UTF-16 code units."""

    line: int
    character: int


class EditedText:
    """One state of a document; an edit makes the next."""

    def __init__(self, text: str) -> None:
        # what is no character in any file becomes one, so that every offset stays
        self.text = text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")

    @cached_property
    def _lines(self) -> list[int]:
        """Return the offsets of line starts."""
        return [0, *(match.end() for match in _LINE_END.finditer(self.text))]

    @cached_property
    def _newlines(self) -> list[int]:
        """Return the offsets of line starts as findings count lines: a lone carriage return ends none."""
        if "\r" not in self.text or "\r" not in self.text.replace("\r\n", ""):
            return self._lines
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    @cached_property
    def _astral(self) -> list[int]:
        """Return the offsets of characters that take two UTF-16 code units."""
        return [] if self.text.isascii() else [match.start() for match in _ASTRAL.finditer(self.text)]

    def caret(self, offset: int) -> Caret:
        """Return the line and UTF-16 character of an offset."""
        line = bisect_right(self._lines, offset) - 1
        start = self._lines[line]
        wide = bisect_left(self._astral, offset) - bisect_left(self._astral, start) if self._astral else 0
        return Caret(line, offset - start + wide)

    def offset(self, line: int, character: int) -> int:
        """Return the offset of a line and UTF-16 character, both from 0.

        A character after the end of the line counts as its end, a line after the last one as the end of the text, and a
        position between the halves of a surrogate pair as the one after it.
        """
        if line >= len(self._lines):
            return len(self.text)
        start = self._lines[max(line, 0)]
        end = self._lines[line + 1] if line + 1 < len(self._lines) else len(self.text)
        end = start + len(self.text[start:end].rstrip("\r\n")) if line + 1 < len(self._lines) else end
        offset = start + max(character, 0)
        for wide in self._astral[bisect_left(self._astral, start) : bisect_left(self._astral, end)]:
            if wide >= offset:
                break
            offset -= 1
            # a position between the halves of a surrogate pair counts as the one after it
            offset = max(offset, wide + 1) if offset <= wide else offset
        return min(offset, end)

    def of_finding(self, position: Position) -> int:
        """Return the offset of a finding's position, or 0 if the position is the whole file."""
        if position.line < 1:
            return 0
        start = self._newlines[min(position.line, len(self._newlines)) - 1]
        return min(start + max(position.column, 1) - 1, len(self.text))

    def edited(self, start: Caret, end: Caret, new: str) -> EditedText:
        """Return the text after an edit, keeping its line starts if the edit changes none."""
        first, last = sorted((self.offset(*start), self.offset(*end)))
        result = EditedText(self.text[:first] + new + self.text[last:])
        by = len(result.text) - len(self.text)
        if "_lines" in self.__dict__ and not _LINE_END.search(self.text[max(first - 1, 0) : last + 1] + new):
            # the line starts are the same; those after the edit are moved
            at = bisect_right(self._lines, first)
            result.__dict__["_lines"] = self._lines[:at] + [offset + by for offset in self._lines[at:]]
        return result
