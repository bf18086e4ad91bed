"""A file of a configuration: its text, the text after replacement, and where each start tag and comment stands in it.

Positions are worked out when they are first asked for: a clean file costs nothing for them. A second, light parser
(expat) notes the offset of each start tag in document order, which is the order of the elements in the tree.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from xml.parsers import expat

from brokerconf.findings import Position
from brokerconf.substitution import Replaced

_ATTRIBUTE = re.compile(r"""\s([^\s=/<>"']+)\s*=\s*("[^"]*"|'[^']*')""")
_START_TAG = re.compile(r"""<[^\s/>]+(?:[^>"']|"[^"]*"|'[^']*')*>""")


@dataclass(slots=True)
class Tags:
    """Offsets in the replaced text: of start tags, and of comments, each in document order."""

    starts: list[int]
    comments: list[int]


class SourceFile:
    """One file: ``path`` as it is shown, ``original`` as it was written, ``text`` as it is parsed."""

    def __init__(self, path: str, original: str, replaced: Replaced) -> None:
        self.path = path
        self.original = original
        self.replaced = replaced
        self._tags: Tags | None = None
        self._ends: list[int] | None = None
        self._lines: list[int] | None = None

    @property
    def text(self) -> str:
        return self.replaced.text

    @property
    def tags(self) -> Tags:
        if self._tags is None:
            self._tags = _tags_of(self.text)
        return self._tags

    @property
    def ends(self) -> list[int]:
        """Offsets of the end tags by element, which few ask for."""
        if self._ends is None:
            self._ends = _ends_of(self.text)
        return self._ends

    def position(self, offset: int) -> Position:
        """Line and column of an offset in the original text."""
        if self._lines is None:
            self._lines = [0, *(found.end() for found in re.finditer("\n", self.original))]
        line = bisect_right(self._lines, offset)
        return Position(self.path, line, offset - self._lines[line - 1] + 1)

    def of_parsed(self, offset: int) -> Position:
        """Line and column, in the original, of an offset in the replaced text."""
        return self.position(self.replaced.before(offset))

    def of_parsed_line(self, line: int, column: int) -> Position:
        """The same for a line and column that a parser of the replaced text gave."""
        start = 0
        for _ in range(line - 1):
            start = self.text.find("\n", start) + 1
        return self.of_parsed(min(start + max(column, 1) - 1, len(self.text)))

    def of_element(self, ordinal: int) -> Position:
        """Where the start tag of the n-th element stands."""
        return self.of_parsed(self.tags.starts[ordinal])

    def of_attribute(self, ordinal: int, name: str) -> Position:
        """Where an attribute's name stands; the start tag itself where it is not written there."""
        start = self.tags.starts[ordinal]
        for found in _ATTRIBUTE.finditer(self.start_tag(ordinal)):
            if found.group(1) == name:
                return self.of_parsed(start + found.start(1))
        return self.of_parsed(start)

    def of_content(self, ordinal: int) -> Position:
        """Where the content of the element begins, blanks passed over."""
        start = self.tags.starts[ordinal] + len(self.start_tag(ordinal))
        end = max(start, self.ends[ordinal])
        inner = self.text[start:end]
        return self.of_parsed(start + len(inner) - len(inner.lstrip()))

    def of_comment(self, number: int) -> Position:
        return self.of_parsed(self.tags.comments[number])

    def start_tag(self, ordinal: int) -> str:
        found = _START_TAG.match(self.text, self.tags.starts[ordinal])
        return found.group() if found else ""

    def content(self, ordinal: int) -> str:
        """What stands between the tags after replacement, markup included."""
        start = self.tags.starts[ordinal] + len(self.start_tag(ordinal))
        return self.text[start : max(start, self.ends[ordinal])]

    def written(self, ordinal: int) -> str:
        """What stands between the tags of the element in the file, before any replacement."""
        start = self.tags.starts[ordinal] + len(self.start_tag(ordinal))
        return self.original[self.replaced.before(start) : self.replaced.before(max(start, self.ends[ordinal]))]

    def line_text(self, line: int) -> str:
        """A line of the file as it was written, without its end."""
        lines = self.original.split("\n", line)
        return lines[line - 1].rstrip("\r") if 0 < line <= len(lines) else ""


def _tags_of(text: str) -> Tags:
    starts: list[int] = []
    comments: list[int] = []
    raw = text.encode("utf-8", "surrogatepass")
    parser = expat.ParserCreate(encoding="utf-8")

    def start(_name: str, _attributes: object) -> None:
        starts.append(parser.CurrentByteIndex)

    def comment(_text: str) -> None:
        comments.append(parser.CurrentByteIndex)

    parser.StartElementHandler = start
    parser.CommentHandler = comment
    parser.Parse(raw, True)
    if len(raw) == len(text):
        return Tags(starts, comments)
    return Tags(_in_characters(starts, raw), _in_characters(comments, raw))


def _ends_of(text: str) -> list[int]:
    """Offsets of the end tags, by element in document order."""
    ends: list[int] = []
    open_tags: list[int] = []
    raw = text.encode("utf-8", "surrogatepass")
    parser = expat.ParserCreate(encoding="utf-8")

    def start(_name: str, _attributes: object) -> None:
        open_tags.append(len(ends))
        ends.append(-1)

    def end(_name: str) -> None:
        ends[open_tags.pop()] = parser.CurrentByteIndex

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.Parse(raw, True)
    return ends if len(raw) == len(text) else _in_characters(ends, raw)


def _in_characters(offsets: list[int], raw: bytes) -> list[int]:
    """Byte offsets made offsets of characters."""
    characters, last, count = {-1: -1}, 0, 0
    for offset in sorted({*offsets} - {-1}):
        count += len(raw[last:offset].decode("utf-8", "surrogatepass"))
        characters[offset], last = count, offset
    return [characters[offset] for offset in offsets]
