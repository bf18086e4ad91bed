"""Markup as it is while it is being written: tags that lack their end, elements that are not closed, stray characters.

A scan never fails. What it says of well-formed XML is what a parser says.
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
    """A tag, whole or begun: ``end`` is ``>``, ``/>``, or empty where it has none; offsets in the text."""

    name: str
    start: int
    stop: int
    closes: bool
    end: str

    @property
    def local(self) -> str:
        """The name without its prefix."""
        return self.name.rpartition(":")[2]


class Attribute(NamedTuple):
    """An attribute in a tag: where its name and its value (inside the quotes) stand; no value: -1."""

    name: str
    start: int
    value: str
    value_start: int
    value_stop: int


def tags(text: str) -> Iterator[Tag]:
    """Every tag outside of comments and sections, in order."""
    for found in _MARKUP.finditer(text):
        name = found["name"]
        if name is not None:
            yield Tag(name, found.start(), found.end(), found["close"] == "/", found["end"] or "")


def attributes(text: str, tag: Tag) -> list[Attribute]:
    """The attributes of a tag."""
    found = []
    for one in _ATTRIBUTE.finditer(text, tag.start + 1 + len(tag.name), tag.stop - len(tag.end)):
        value = one[2] or ""
        start = one.start(2) + 1 if value else -1
        closed = len(value) > 1 and value[-1] == value[0]
        inside = value[1:-1] if closed else value[1:]
        found.append(Attribute(one[1], one.start(1), inside, start, start + len(inside)))
    return found


class OpenElement(NamedTuple):
    """An element that is open at some place: its start tag, and the names of the elements inside so far.

    More than two of the same in a row are two: more say nothing about what may follow.
    """

    tag: Tag
    children: tuple[str, ...] = ()

    def with_child(self, name: str) -> OpenElement:
        """The same with one more element inside."""
        return self if self.children[-2:] == (name, name) else self._replace(children=(*self.children, name))


@dataclass
class Checkpoints:
    """The elements that are open at some offsets of a text, the lowest first: a scan need not begin at its start."""

    known: list[tuple[int, tuple[OpenElement, ...]]] = field(default_factory=list)

    def before(self, offset: int) -> tuple[int, list[OpenElement]]:
        """The last one that lies before an offset."""
        at = bisect_left(self.known, offset, key=lambda one: one[0]) - 1
        return (self.known[at][0], list(self.known[at][1])) if at >= 0 else (0, [])

    def add(self, offset: int, around: list[OpenElement]) -> None:
        """One more, where the last is far enough away."""
        if offset - (self.known[-1][0] if self.known else 0) > _FAR:
            self.known.append((offset, tuple(around)))

    def until(self, offset: int) -> Checkpoints:
        """Those that hold of a text that is the same up to an offset."""
        return Checkpoints(self.known[: bisect_left(self.known, offset, key=lambda one: one[0])])


_FAR = 10_000
# no document that is read has elements inside of so many others
_DEEPEST = 300


class CursorPlace(Enum):
    """What is being written at a cursor."""

    ELEMENT = "the name of an element"
    END = "the name in an end tag"
    ATTRIBUTE = "the name of an attribute"
    ATTRIBUTE_VALUE = "the value of an attribute"
    TEXT = "text between tags"
    NOTHING = "a comment, or another section without help"


@dataclass
class MarkupContext:
    """The surroundings of a place in the text. ``start`` and ``stop``: the word there; ``tag``: the one around it."""

    place: CursorPlace
    around: list[OpenElement]
    start: int
    stop: int
    tag: Tag | None = None
    attribute: str = ""

    @property
    def path(self) -> list[str]:
        """Local names of the open elements, the outermost first."""
        return [one.tag.local for one in self.around]


def cursor_at(text: str, offset: int, checkpoints: Checkpoints | None = None) -> MarkupContext:
    """What stands around an offset; ``checkpoints``: those of this text, which are added to."""
    checkpoints = checkpoints or Checkpoints()
    last_stop, around = checkpoints.before(offset)
    for found in _MARKUP.finditer(text, last_stop):
        start, stop = found.span()
        if start >= offset:
            break
        name = found["name"]
        whole = found["end"] is not None
        if stop > offset or (not whole and name is not None and not text[stop:offset].strip() and stop >= offset):
            return _inside(text, found, offset, around)
        if name is None:
            if stop == offset and not text.endswith(_section_end(text, start), start, stop):
                return MarkupContext(CursorPlace.NOTHING, around, offset, offset)
        elif found["close"]:
            _close(around, name)
        elif name:
            if around:
                around[-1] = around[-1].with_child(name.rpartition(":")[2])
            if found["end"] != "/>" and len(around) < _DEEPEST:
                around.append(OpenElement(Tag(name, start, stop, False, found["end"] or "")))
        last_stop = stop
        checkpoints.add(stop, around)
    start = max(last_stop, offset - len(re.split(r"[\s<>]", text[last_stop:offset])[-1]))
    stop = offset + len(re.match(r"[^\s<>]*", text[offset : offset + 4096])[0])  # type: ignore[index]
    return MarkupContext(CursorPlace.TEXT, around, start, stop)


def _section_end(text: str, start: int) -> str:
    return next(end for begin, end in _SECTIONS if text.startswith(begin, start))


def _close(around: list[OpenElement], name: str) -> None:
    """An end tag closes its element and all that were left open inside; one that fits none closes nothing."""
    for n in range(len(around) - 1, -1, -1):
        if around[n].tag.name == name:
            del around[n:]
            return


def _inside(text: str, found: re.Match[str], offset: int, around: list[OpenElement]) -> MarkupContext:
    """A cursor in markup."""
    name = found["name"]
    if name is None:
        return MarkupContext(CursorPlace.NOTHING, around, offset, offset)
    start, stop = found.span("name")
    tag = Tag(name, found.start(), found.end(), found["close"] == "/", found["end"] or "")
    if offset <= stop:
        place = CursorPlace.END if tag.closes else CursorPlace.ELEMENT
        return MarkupContext(place, around, start, stop, tag)
    if tag.closes:
        return MarkupContext(CursorPlace.NOTHING, around, offset, offset, tag)
    for one in attributes(text, tag):
        if one.value_start >= 0 and one.value_start <= offset <= one.value_stop:
            return MarkupContext(CursorPlace.ATTRIBUTE_VALUE, around, one.value_start, one.value_stop, tag, one.name)
        if one.start <= offset <= one.start + len(one.name):
            return MarkupContext(CursorPlace.ATTRIBUTE, around, one.start, one.start + len(one.name), tag, one.name)
    place = CursorPlace.ATTRIBUTE if text[offset - 1].isspace() else CursorPlace.NOTHING
    return MarkupContext(place, around, offset, offset, tag)


def siblings_after(text: str, offset: int) -> list[str]:
    """Names of the elements that follow in the same element."""
    depth, found = 0, []
    for tag in tags(text[offset:]):
        if tag.closes:
            depth -= 1
        elif tag.name:
            if depth == 0:
                found.append(tag.local)
            depth += tag.end == ">"
        if depth < 0:
            break
    return found


def end_tag_of(text: str, tag: Tag) -> Tag | None:
    """The end tag of an element that is closed."""
    depth = 0
    for found in tags(text[tag.stop :]) if tag.end == ">" else ():
        depth += -1 if found.closes else found.end == ">"
        if depth < 0:
            found = found._replace(start=found.start + tag.stop, stop=found.stop + tag.stop)
            return found if found.name == tag.name else None
    return None


class MendedText(NamedTuple):
    """A text made well-formed; ``added`` are the offsets in it, in order, of end tags that were put in, with the length
    of all up to there. Everything else stands where it stood."""

    text: str
    added: tuple[tuple[int, int], ...]

    def back(self, offset: int) -> int:
        """The offset in the text as it was written."""
        at = bisect_right(self.added, offset, key=lambda one: one[0]) - 1
        return offset if at < 0 else max(offset - self.added[at][1], 0)


def mended(text: str, containers: Collection[str]) -> MendedText:
    """The text as well-formed as blanks and end tags make it.

    Blanked are tags without an end, end tags that fit nothing, what is no attribute, and ``&`` that begins no
    reference. An element that lacks its end tag ends with the one around it if it is of the ``containers``, else in
    front of the next tag.
    """
    for begin, end in _SECTIONS[:3]:
        at = text.rfind(begin)
        if at >= 0 and text.find(end, at) < 0:
            text = text[:at] + " " * len(begin) + text[at + len(begin) :]
    edits = [(found.start(), found.end(), "") for found in _REFERENCE.finditer(text)]
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
    """The end tags that elements lack, the innermost first."""
    for tag in reversed(unclosed):
        following = text.find("<", tag.stop) if tag.local not in containers else stop
        at = len(text) if following < 0 else following
        yield at, at, f"</{tag.name}>"


def _edited(text: str, edits: list[tuple[int, int, str]]) -> MendedText:
    """The text after edits: blanks, but for line ends, in place of a part that nothing is said to replace."""
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
    """What is no attribute in a start tag, or one that is there already."""
    at = tag.start + 1 + len(tag.name)
    stop = tag.stop - len(tag.end)
    names: set[str] = set()
    for found in _SOUND.finditer(text, at, stop) if at < stop else ():
        name = found[0].partition("=")[0].strip()
        start = found.start() if name not in names else found.end()
        if text[at:start].strip():
            yield at, start
        names.add(name)
        at = found.end()
    if text[at:stop].strip():
        yield at, stop
