"""A text that is being edited: between offsets and an editor's positions, which count lines and UTF-16 code units."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import NamedTuple

from pagefmt.findings import Position

_LINE_END = re.compile(r"\r\n?|\n")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


class Caret(NamedTuple):
    """A position as editors count it: both from 0, ``character`` in UTF-16 code units."""

    line: int
    character: int


class EditedText:
    """One state of a document; an edit makes the next."""

    def __init__(self, text: str) -> None:
        # what is no character in any file becomes one, so that every offset stays
        self.text = text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")

    @cached_property
    def _lines(self) -> list[int]:
        """Where each line begins."""
        return [0, *(found.end() for found in _LINE_END.finditer(self.text))]

    @cached_property
    def _newlines(self) -> list[int]:
        """The same as findings count lines: a lone carriage return is none of their ends."""
        if "\r" not in self.text or "\r" not in self.text.replace("\r\n", ""):
            return self._lines
        return [0, *(found.end() for found in re.finditer("\n", self.text))]

    @cached_property
    def _astral(self) -> list[int]:
        """Characters that take two code units."""
        return [] if self.text.isascii() else [found.start() for found in _ASTRAL.finditer(self.text)]

    def caret(self, offset: int) -> Caret:
        """The position of an offset."""
        line = bisect_right(self._lines, offset) - 1
        start = self._lines[line]
        wide = bisect_left(self._astral, offset) - bisect_left(self._astral, start) if self._astral else 0
        return Caret(line, offset - start + wide)

    def offset(self, line: int, character: int) -> int:
        """The offset of a position; one beyond the text or its line is taken for their end."""
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
            # between the halves of a pair is behind it
            offset = max(offset, wide + 1) if offset <= wide else offset
        return min(offset, end)

    def of_finding(self, position: Position) -> int:
        """The offset of a finding's place; the start of the text where that is the whole file."""
        if position.line < 1:
            return 0
        start = self._newlines[min(position.line, len(self._newlines)) - 1]
        return min(start + max(position.column, 1) - 1, len(self.text))

    def edited(self, start: Caret, end: Caret, new: str) -> EditedText:
        """The text after an edit."""
        first, last = sorted((self.offset(*start), self.offset(*end)))
        found = EditedText(self.text[:first] + new + self.text[last:])
        by = len(found.text) - len(self.text)
        if "_lines" in self.__dict__ and not _LINE_END.search(self.text[max(first - 1, 0) : last + 1] + new):
            # the lines are the same; those behind stand elsewhere
            at = bisect_right(self._lines, first)
            found.__dict__["_lines"] = self._lines[:at] + [offset + by for offset in self._lines[at:]]
        return found
