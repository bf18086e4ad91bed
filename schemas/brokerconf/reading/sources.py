"""File of a configuration: its text, the text after replacement, and the offset of each start tag and comment.

Positions are computed when they are first needed: a clean file costs nothing for them. In a text that a parser has
found to be well-formed, a ``<`` outside comments, CDATA and processing instructions always begins markup: start tags in
the order of the text are the elements of the tree in document order.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass

from brokerconf.reading.secrets import Span, hidden_in_markup, hidden_in_properties
from brokerconf.reading.substitution import ReplacedText
from pagefmt.findings import Position

# expressions as text: a file without findings needs none of them
_ATTRIBUTE = r"""\s([^\s=/<>"']+)\s*=\s*("[^"]*"|'[^']*')"""
_SECTIONS = r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>"
_OPENING = rf"(?s){_SECTIONS}|<[^/!?]"
_WHOLE_TAG = rf"""(?s){_SECTIONS}|<(?:[^>"']++|"[^"]*+"|'[^']*+')*+>"""
_START_TAG = r"""<[^\s/>]+(?:[^>"']|"[^"]*"|'[^']*')*>"""


@dataclass(slots=True)
class TagOffsets:
    """Offsets in the replaced text: of start tags, and of comments, each in document order."""

    starts: list[int]
    comments: list[int]


class SourceFile:
    """File: ``path`` as it is shown, ``original`` as it was written, ``text`` as it is parsed.

    ``markup``: whether it is XML; else it is a properties file. ``place`` maps an offset of the original to a position,
    for a text inside another file.
    """

    def __init__(
        self,
        path: str,
        original: str,
        replaced: ReplacedText,
        *,
        markup: bool = True,
        place: Callable[[int], Position] | None = None,
    ) -> None:
        self.path = path
        self._place = place
        self.markup = markup
        self.original = original
        self.replaced = replaced
        self._tags: TagOffsets | None = None
        self._ends: list[int] | None = None
        self._starts: list[int] | None = None

    @property
    def text(self) -> str:
        """Return the text as it is parsed, with placeholders replaced."""
        return self.replaced.text

    @property
    def tags(self) -> TagOffsets:
        """Return the offsets of start tags and comments."""
        if self._tags is None:
            self._tags = _tags_of(self.text)
        return self._tags

    @property
    def ends(self) -> list[int]:
        """Return the offsets of the end tags by element; computed on demand, because few callers need them."""
        if self._ends is None:
            self._ends = _ends_of(self.text)
        return self._ends

    @property
    def lies_inside(self) -> bool:
        """Return whether this source is embedded in another file."""
        return self._place is not None

    def secrets(self) -> list[Span]:
        """Return the spans of the original text that no output shows, in order."""
        return hidden_in_markup(self.original) if self.markup else hidden_in_properties(self.original)

    @property
    def _lines(self) -> list[int]:
        """Return the offsets of line starts in the original text."""
        if self._starts is None:
            ends = "\n" if self.markup else "\r\n?|\n"
            self._starts = [0, *(match.end() for match in re.finditer(ends, self.original))]
        return self._starts

    def follow(self, new: str, first: int, last: int) -> None:
        """Take over an edited text that differs only between two offsets of the old one.

        The edit must not touch markup or placeholders. All recorded offsets after it are shifted, not computed again.
        """
        by = len(new) - len(self.original)
        if self._starts is not None:
            same = not re.search("[\r\n]", self.original[first:last] + new[first : last + by])
            at = bisect_right(self._starts, first)
            self._starts = self._starts[:at] + [start + by for start in self._starts[at:]] if same else None
        # what stands right behind the edit moves with it; the ends of elements are in no order
        for offsets in (self.tags.starts, self.tags.comments):
            at = bisect_left(offsets, first)
            offsets[at:] = [offset + by for offset in offsets[at:]]
        if self._ends is not None:
            self._ends = [offset + by if offset >= first else offset for offset in self._ends]
        self.original, self.replaced = new, ReplacedText(new)

    def position(self, offset: int) -> Position:
        """Return line and column of an offset in the original text."""
        if self._place is not None:
            return self._place(offset)
        line = bisect_right(self._lines, offset)
        return Position(self.path, line, offset - self._lines[line - 1] + 1)

    def of_parsed(self, offset: int) -> Position:
        """Return line and column, in the original, of an offset in the replaced text."""
        return self.position(self.replaced.before(offset))

    def of_parsed_line(self, line: int, column: int) -> Position:
        """Return the position in the file for a line and column that a parser of the replaced text reported."""
        start = 0
        for _ in range(line - 1):
            start = self.text.find("\n", start) + 1
        return self.of_parsed(min(start + max(column, 1) - 1, len(self.text)))

    def of_element(self, ordinal: int) -> Position:
        """Return the position of the start tag of the n-th element."""
        return self.of_parsed(self.tags.starts[ordinal])

    def of_attribute(self, ordinal: int, name: str) -> Position:
        """Return the position of an attribute's name, or of the start tag if the attribute is not written there."""
        start = self.tags.starts[ordinal]
        for match in re.finditer(_ATTRIBUTE, self.start_tag(ordinal)):
            if match.group(1) == name:
                return self.of_parsed(start + match.start(1))
        return self.of_parsed(start)

    def of_content(self, ordinal: int) -> Position:
        """Return the position where the element's content begins, after leading blanks."""
        start = self.tags.starts[ordinal] + len(self.start_tag(ordinal))
        end = max(start, self.ends[ordinal])
        inner = self.text[start:end]
        return self.of_parsed(start + len(inner) - len(inner.lstrip()))

    def of_comment(self, number: int) -> Position:
        """Return the position where the n-th comment begins."""
        return self.of_parsed(self.tags.comments[number])

    def start_tag(self, ordinal: int) -> str:
        """Return the start tag of the n-th element as parsed, or an empty string."""
        match = re.compile(_START_TAG).match(self.text, self.tags.starts[ordinal])
        return match.group() if match else ""

    def content(self, ordinal: int) -> str:
        """Return the text between the element's tags after replacement, markup included."""
        start = self.tags.starts[ordinal] + len(self.start_tag(ordinal))
        return self.text[start : max(start, self.ends[ordinal])]

    def written(self, ordinal: int) -> str:
        """Return the text between the element's tags in the file, before replacement."""
        start = self.tags.starts[ordinal] + len(self.start_tag(ordinal))
        return self.original[self.replaced.before(start) : self.replaced.before(max(start, self.ends[ordinal]))]

    def range_of(self, ordinal: int) -> tuple[int, int]:
        """Return the offsets in the original of an element's start tag and of its end tag."""
        return self.replaced.before(self.tags.starts[ordinal]), self.replaced.before(self.ends[ordinal])

    def line(self, number: int) -> tuple[int, int] | None:
        """Return the offsets of a line in the original text, without its end, or None if there is no such line."""
        lines = self._lines
        if not 0 < number <= len(lines):
            return None
        start, end = lines[number - 1], lines[number] - 1 if number < len(lines) else len(self.original)
        return start, end - self.original.endswith("\r", start, end)


def plain_source(path: str, text: str, *, markup: bool = True) -> SourceFile:
    """Return the source of a text in which nothing is replaced."""
    return SourceFile(path, text, ReplacedText(text), markup=markup)


def _tags_of(text: str) -> TagOffsets:
    starts: list[int] = []
    comments: list[int] = []
    for match in re.finditer(_OPENING, text):
        at = match.start()
        if text[at + 1] not in "!?":
            starts.append(at)
        elif text[at + 2] == "-":
            comments.append(at)
    return TagOffsets(starts, comments)


def _ends_of(text: str) -> list[int]:
    """Return the offsets of the end tags by element in document order; for an empty element that of its only tag."""
    ends: list[int] = []
    open_tags: list[int] = []
    for match in re.finditer(_WHOLE_TAG, text):
        tag = match.group()
        if tag[1] == "/":
            ends[open_tags.pop()] = match.start()
        elif tag[1] not in "!?":
            if tag[-2] != "/":
                open_tags.append(len(ends))
            ends.append(match.start())
    return ends
