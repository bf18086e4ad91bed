"""A file of a configuration: its text, the text after replacement, and where each start tag and comment stands in it.

Positions are worked out when they are first asked for: a clean file costs nothing for them. In a text that a parser has
found to be well-formed a ``<`` begins markup wherever it stands outside of comments, CDATA and processing instructions:
start tags in the order of the text are the elements of the tree in document order.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass

from brokerconf.reading.secrets import Span, hidden_in_markup, hidden_in_properties
from brokerconf.reading.substitution import ReplacedText
from pagefmt.findings import Position

_ATTRIBUTE = re.compile(r"""\s([^\s=/<>"']+)\s*=\s*("[^"]*"|'[^']*')""")
_SECTIONS = r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>"
_OPENING = re.compile(rf"{_SECTIONS}|<[^/!?]", re.DOTALL)
_WHOLE_TAG = re.compile(rf"""{_SECTIONS}|<(?:[^>"']++|"[^"]*+"|'[^']*+')*+>""", re.DOTALL)
_START_TAG = re.compile(r"""<[^\s/>]+(?:[^>"']|"[^"]*"|'[^']*')*>""")


@dataclass(slots=True)
class TagOffsets:
    """Offsets in the replaced text: of start tags, and of comments, each in document order."""

    starts: list[int]
    comments: list[int]


class SourceFile:
    """One file: ``path`` as it is shown, ``original`` as it was written, ``text`` as it is parsed.

    ``markup``: whether it is XML; else it is a file of properties. ``place``: where a character of the original stands,
    for a text that lies inside of another file.
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
        """The text as it is parsed, placeholders replaced."""
        return self.replaced.text

    @property
    def tags(self) -> TagOffsets:
        """Offsets of start tags and comments."""
        if self._tags is None:
            self._tags = _tags_of(self.text)
        return self._tags

    @property
    def ends(self) -> list[int]:
        """Offsets of the end tags by element, which few ask for."""
        if self._ends is None:
            self._ends = _ends_of(self.text)
        return self._ends

    @property
    def lies_inside(self) -> bool:
        """Whether it is part of another file."""
        return self._place is not None

    def secrets(self) -> list[Span]:
        """What no output shows of the original text, in order."""
        return hidden_in_markup(self.original) if self.markup else hidden_in_properties(self.original)

    @property
    def _lines(self) -> list[int]:
        """Offsets of the lines in the original text."""
        if self._starts is None:
            ends = "\n" if self.markup else "\r\n?|\n"
            self._starts = [0, *(found.end() for found in re.finditer(ends, self.original))]
        return self._starts

    def follow(self, new: str, first: int, last: int) -> None:
        """The text is now another, which differs between two offsets of the old one, in no markup and placeholder."""
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
        """Line and column of an offset in the original text."""
        if self._place is not None:
            return self._place(offset)
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
        """Where the n-th comment begins."""
        return self.of_parsed(self.tags.comments[number])

    def start_tag(self, ordinal: int) -> str:
        """The start tag of the n-th element as it is parsed."""
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

    def range_of(self, ordinal: int) -> tuple[int, int]:
        """Offsets in the original of an element's start tag and of its end tag."""
        return self.replaced.before(self.tags.starts[ordinal]), self.replaced.before(self.ends[ordinal])

    def line(self, number: int) -> tuple[int, int] | None:
        """Offsets of a line in the original text, without its end; None where there is none."""
        lines = self._lines
        if not 0 < number <= len(lines):
            return None
        start, end = lines[number - 1], lines[number] - 1 if number < len(lines) else len(self.original)
        return start, end - self.original.endswith("\r", start, end)


def plain_source(path: str, text: str, *, markup: bool = True) -> SourceFile:
    """A file in which nothing is replaced."""
    return SourceFile(path, text, ReplacedText(text), markup=markup)


def _tags_of(text: str) -> TagOffsets:
    starts: list[int] = []
    comments: list[int] = []
    for found in _OPENING.finditer(text):
        at = found.start()
        if text[at + 1] not in "!?":
            starts.append(at)
        elif text[at + 2] == "-":
            comments.append(at)
    return TagOffsets(starts, comments)


def _ends_of(text: str) -> list[int]:
    """Offsets of the end tags, by element in document order; of an empty element that of its only tag."""
    ends: list[int] = []
    open_tags: list[int] = []
    for found in _WHOLE_TAG.finditer(text):
        tag = found.group()
        if tag[1] == "/":
            ends[open_tags.pop()] = found.start()
        elif tag[1] not in "!?":
            if tag[-2] != "/":
                open_tags.append(len(ends))
            ends.append(found.start())
    return ends
