"""Markup as it is while being written: tags without end, elements that are not closed, stray characters.

A scan never fails. For well-formed XML it agrees with a parser.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

_SECTIONS = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">"))
_MARKUP = re.compile(
    r"""<(?:!--.*?(?:-->|\Z)|!\[CDATA\[.*?(?:\]\]>|\Z)|\?.*?(?:\?>|\Z)|!(?:[^<>]*>)?"""
    r"""|(?P<close>/?)(?P<name>[^\s<>/="'&!?]*)(?:[^<>"'/]|/(?!>)|"[^"<]*"|'[^'<]*')*+"""
    # a quote that nothing closes goes to the end of its line
    r"""(?:(?P<end>/?>)|(?:"[^"<\n]*|'[^'<\n]*)?))""",
    re.DOTALL,
)
_SOUND = re.compile(r"""\s[^\s=/<>"']+\s*=\s*(?:"[^"<]*"|'[^'<]*')""")
_ATTRIBUTE = re.compile(r"""([^\s=/<>"']+)(?:\s*=\s*(?:("[^"<]*"?|'[^'<]*'?))?)?""")
_REFERENCE = re.compile(r"&(?!(?:[A-Za-z_][\w.-]*|#[0-9]+|#x[0-9A-Fa-f]+);)")


class Tag(NamedTuple):
    """Tag, complete or begun, with its offsets in the text.

    ``end`` is ``>``, ``/>``, or empty if the tag has no end.
    """

    name: str
    start: int
    stop: int
    closes: bool
    end: str

    @property
    def local(self) -> str:
        """Return the name without its namespace prefix."""
        return self.name.rpartition(":")[2]


class Attribute(NamedTuple):
    """Attribute in a tag: the offsets of its name and of its value inside the quotes; -1 without a value."""

    name: str
    start: int
    value: str
    value_start: int
    value_stop: int


def tags(text: str) -> Iterator[Tag]:
    """Yield every tag outside comments and CDATA sections, in order."""
    for match in _MARKUP.finditer(text):
        name = match["name"]
        if name is not None:
            yield Tag(name, match.start(), match.end(), match["close"] == "/", match["end"] or "")


def attributes(text: str, tag: Tag) -> list[Attribute]:
    """Return the attributes of a tag, also those without a value or a closing quote."""
    result = []
    for match in _ATTRIBUTE.finditer(text, tag.start + 1 + len(tag.name), tag.stop - len(tag.end)):
        value = match[2] or ""
        start = match.start(2) + 1 if value else -1
        closed = len(value) > 1 and value[-1] == value[0]
        inside = value[1:-1] if closed else value[1:]
        result.append(Attribute(match[1], match.start(1), inside, start, start + len(inside)))
    return result


class OpenElement(NamedTuple):
    """Element that is open at some place: its start tag, and the names of its children so far.

    More than two of the same in a row are recorded as two, because more do not change what may follow.
    """

    tag: Tag
    children: tuple[str, ...] = ()

    def with_child(self, name: str) -> OpenElement:
        """Return the element with one more child name, of which at most two in a row are recorded."""
        return self if self.children[-2:] == (name, name) else self._replace(children=(*self.children, name))


@dataclass(slots=True)
class Checkpoints:
    """Elements that are open at some offsets of a text, in order, so that a scan need not begin at its start."""

    known: list[tuple[int, tuple[OpenElement, ...]]] = field(default_factory=list)

    def before(self, offset: int) -> tuple[int, list[OpenElement]]:
        """Return the last checkpoint before an offset: its offset, and a copy of its open elements."""
        at = bisect_left(self.known, offset, key=lambda checkpoint: checkpoint[0]) - 1
        return (self.known[at][0], list(self.known[at][1])) if at >= 0 else (0, [])

    def add(self, offset: int, around: list[OpenElement]) -> None:
        """Record a checkpoint if the last one is far enough before it."""
        if offset - (self.known[-1][0] if self.known else 0) > _FAR:
            self.known.append((offset, tuple(around)))

    def until(self, offset: int) -> Checkpoints:
        """Return the checkpoints that remain valid for a text that is unchanged up to an offset."""
        return Checkpoints(self.known[: bisect_left(self.known, offset, key=lambda checkpoint: checkpoint[0])])


_FAR = 10_000
# no document that is read has elements inside of so many others
_DEEPEST = 300


class CursorPlace(Enum):
    """Kind of what is written at a cursor."""

    ELEMENT = "the name of an element"
    END = "the name in an end tag"
    ATTRIBUTE = "the name of an attribute"
    ATTRIBUTE_VALUE = "the value of an attribute"
    TEXT = "text between tags"
    NOTHING = "a comment, or another section without help"


@dataclass(slots=True)
class MarkupContext:
    """Surroundings of a place in the text.

    ``start`` and ``stop`` enclose the word there; ``tag`` is the tag around it.
    """

    place: CursorPlace
    around: list[OpenElement]
    start: int
    stop: int
    tag: Tag | None = None
    attribute: str = ""

    @property
    def path(self) -> list[str]:
        """Return the local names of the open elements, the outermost first."""
        return [element.tag.local for element in self.around]


def cursor_at(text: str, offset: int, checkpoints: Checkpoints | None = None) -> MarkupContext:
    """Return the markup context at an offset.

    ``checkpoints`` are those of this text: scanning starts at the last one before the offset, and new ones are added.
    """
    checkpoints = checkpoints or Checkpoints()
    last_stop, around = checkpoints.before(offset)
    for match in _MARKUP.finditer(text, last_stop):
        start, stop = match.span()
        if start >= offset:
            break
        name = match["name"]
        whole = match["end"] is not None
        if stop > offset or (not whole and name is not None and not text[stop:offset].strip() and stop >= offset):
            return _inside(text, match, offset, around)
        if name is None:
            if stop == offset and not text.endswith(_section_end(text, start), start, stop):
                return MarkupContext(CursorPlace.NOTHING, around, offset, offset)
        elif match["close"]:
            _close(around, name)
        elif name:
            if around:
                around[-1] = around[-1].with_child(name.rpartition(":")[2])
            if match["end"] != "/>" and len(around) < _DEEPEST:
                around.append(OpenElement(Tag(name, start, stop, False, match["end"] or "")))
        last_stop = stop
        checkpoints.add(stop, around)
    start = max(last_stop, offset - len(re.split(r"[\s<>]", text[last_stop:offset])[-1]))
    stop = offset + len(re.match(r"[^\s<>]*", text[offset : offset + 4096])[0])  # type: ignore[index]
    return MarkupContext(CursorPlace.TEXT, around, start, stop)


def _section_end(text: str, start: int) -> str:
    return next(end for begin, end in _SECTIONS if text.startswith(begin, start))


def _close(around: list[OpenElement], name: str) -> None:
    """Close the element of an end tag and all left open inside it; an end tag that fits none closes nothing."""
    for n in range(len(around) - 1, -1, -1):
        if around[n].tag.name == name:
            del around[n:]
            return


def _inside(text: str, match: re.Match[str], offset: int, around: list[OpenElement]) -> MarkupContext:
    """Return the context of a cursor inside a tag, comment or section."""
    name = match["name"]
    if name is None:
        return MarkupContext(CursorPlace.NOTHING, around, offset, offset)
    start, stop = match.span("name")
    tag = Tag(name, match.start(), match.end(), match["close"] == "/", match["end"] or "")
    if offset <= stop:
        place = CursorPlace.END if tag.closes else CursorPlace.ELEMENT
        return MarkupContext(place, around, start, stop, tag)
    if tag.closes:
        return MarkupContext(CursorPlace.NOTHING, around, offset, offset, tag)
    for attribute in attributes(text, tag):
        if attribute.value_start >= 0 and attribute.value_start <= offset <= attribute.value_stop:
            return MarkupContext(
                CursorPlace.ATTRIBUTE_VALUE, around, attribute.value_start, attribute.value_stop, tag, attribute.name
            )
        if attribute.start <= offset <= attribute.start + len(attribute.name):
            return MarkupContext(
                CursorPlace.ATTRIBUTE,
                around,
                attribute.start,
                attribute.start + len(attribute.name),
                tag,
                attribute.name,
            )
    place = CursorPlace.ATTRIBUTE if text[offset - 1].isspace() else CursorPlace.NOTHING
    return MarkupContext(place, around, offset, offset, tag)


def siblings_after(text: str, offset: int) -> list[str]:
    """Return the names of the elements that follow in the same element."""
    depth, names = 0, []
    for tag in tags(text[offset:]):
        if tag.closes:
            depth -= 1
        elif tag.name:
            if depth == 0:
                names.append(tag.local)
            depth += tag.end == ">"
        if depth < 0:
            break
    return names


def end_tag_of(text: str, tag: Tag) -> Tag | None:
    """Return the end tag of an element, or None if the element is empty or not closed."""
    depth = 0
    for end_tag in tags(text[tag.stop :]) if tag.end == ">" else ():
        depth += -1 if end_tag.closes else end_tag.end == ">"
        if depth < 0:
            end_tag = end_tag._replace(start=end_tag.start + tag.stop, stop=end_tag.stop + tag.stop)
            return end_tag if end_tag.name == tag.name else None
    return None


class MendedText(NamedTuple):
    """Text made well-formed by blanks and added end tags; everything else keeps its order.

    ``added`` has, for each added text in order, its offset and the total length added up to and including it.
    """

    text: str
    added: tuple[tuple[int, int], ...]

    def back(self, offset: int) -> int:
        """Map an offset of the mended text to the text as written."""
        at = bisect_right(self.added, offset, key=lambda addition: addition[0]) - 1
        return offset if at < 0 else max(offset - self.added[at][1], 0)


def mended(text: str, containers: Collection[str]) -> MendedText:
    """Return the text made as well-formed as blanks and end tags can make it.

    Blanked are tags without an end, end tags that fit nothing, what is no attribute, and ``&`` that begins no
    reference. An element without an end tag is closed at the end of its parent if its name is in ``containers``, else
    before the next tag.
    """
    for begin, end in _SECTIONS[:3]:
        at = text.rfind(begin)
        if at >= 0 and text.find(end, at) < 0:
            text = text[:at] + " " * len(begin) + text[at + len(begin) :]
    edits = [(reference.start(), reference.end(), "") for reference in _REFERENCE.finditer(text)]
    around: list[Tag] = []
    rootless = True
    for tag in tags(text):
        if not tag.end and tag.name and not tag.closes and text[tag.stop - 1].isspace():
            # the last blank in front of the next tag has room for what is missing
            edits.append((tag.stop - 1, tag.stop, ">"))
            tag = tag._replace(end=">")
        if not tag.end or not tag.name or (tag.closes and tag.end == "/>"):
            edits.append((tag.start, tag.stop, ""))
        elif tag.closes:
            at = next((n for n in range(len(around) - 1, -1, -1) if around[n].name == tag.name), -1)
            if at < 0:
                edits.append((tag.start, tag.stop, ""))
            else:
                edits += _closed(text, around[at + 1 :], tag.start, containers)
                del around[at:]
        elif (around or rootless) and len(around) < _DEEPEST:
            rootless = False
            edits += [(start, stop, "") for start, stop in _unsound(text, tag)]
            if tag.end == ">":
                around.append(tag)
        else:
            edits.append((tag.start, tag.stop, ""))
    edits += _closed(text, around, len(text), containers)
    return _edited(text, edits)


def _closed(text: str, unclosed: list[Tag], stop: int, containers: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Yield insertions of the end tags that elements lack, the innermost first."""
    for tag in reversed(unclosed):
        following = text.find("<", tag.stop) if tag.local not in containers else stop
        at = len(text) if following < 0 else following
        yield at, at, f"</{tag.name}>"


def _edited(text: str, edits: list[tuple[int, int, str]]) -> MendedText:
    """Apply edits to a text; a part with an empty replacement is blanked, keeping its line ends."""
    pieces: list[str] = []
    added: list[tuple[int, int]] = []
    done = length = more = 0
    for start, stop, new in sorted(edits, key=lambda edit: edit[:2]):
        if start < done:
            continue
        new = new or re.sub(r"[^\r\n]", " ", text[start:stop])
        pieces += [text[done:start], new]
        length += start - done + len(new)
        if start == stop:
            more += len(new)
            added.append((length - len(new), more))
        done = stop
    return MendedText("".join([*pieces, text[done:]]), tuple(added))


def _unsound(text: str, tag: Tag) -> Iterator[tuple[int, int]]:
    """Yield the spans in a start tag that are no attribute, or an attribute that occurs twice."""
    at = tag.start + 1 + len(tag.name)
    stop = tag.stop - len(tag.end)
    names: set[str] = set()
    for match in _SOUND.finditer(text, at, stop) if at < stop else ():
        name = match[0].partition("=")[0].strip()
        start = match.start() if name not in names else match.end()
        if text[at:start].strip():
            yield at, start
        names.add(name)
        at = match.end()
    if text[at:stop].strip():
        yield at, stop
