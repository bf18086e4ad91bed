"""Part of a YAML document, and the text of a scalar with the place of each character in the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from brokerconf.reading.sources import SourceFile
from pagefmt.findings import Position

_ESCAPES = {
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "t": "\t",
    "n": "\n",
    "v": "\v",
    "f": "\f",
    "r": "\r",
    "e": "\x1b",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))")


@dataclass(slots=True, eq=False)
class YamlNode:
    """Part of a YAML document.

    ``type`` is ``object``, ``array`` or what a scalar resolves to: ``string``, ``integer``, ``number``, ``boolean``,
    ``null``. ``start`` and ``end`` are offsets in the file.
    """

    type: str
    start: int
    end: int
    text: str = ""
    style: str = ""
    entries: list[tuple[YamlNode, YamlNode]] = field(default_factory=list)
    items: list[YamlNode] = field(default_factory=list)
    # nodes below with every alias followed
    size: int = 1

    def get(self, *names: str) -> YamlNode | None:
        """Return the node under nested keys, or None if one of them is missing."""
        node: YamlNode | None = self
        for name in names:
            node = next((value for key, value in node.entries if key.text == name), None) if node else None
        return node

    def text_at(self, *names: str) -> str:
        """Return the text under nested keys, or an empty string if one of them is missing."""
        node = self.get(*names)
        return node.text if node else ""


class ScalarText:
    """Text of a scalar, with a map from its characters to the file."""

    def __init__(self, source: SourceFile, node: YamlNode) -> None:
        self.source, self.text = source, node.text
        # offsets in the text, and in the file, from which on both go the same way
        self._inside: list[int] = [0]
        self._outside: list[int] = [node.start]
        for inside, outside in _pieces(source.original, node):
            if inside > self._inside[-1]:
                self._inside.append(inside)
                self._outside.append(outside)
            else:
                self._outside[-1] = outside

    def offset(self, inside: int) -> int:
        """Return the file offset of a character of the scalar's text."""
        from bisect import bisect_right

        at = bisect_right(self._inside, inside) - 1
        return self._outside[at] + inside - self._inside[at]

    def position(self, inside: int) -> Position:
        """Return the file position of a character of the scalar's text."""
        return self.source.position(self.offset(inside))


def _pieces(text: str, node: YamlNode) -> Iterator[tuple[int, int]]:
    """Yield (offset in the value, offset in the file) for the start of each line and of each escape.

    Each line is searched for after the line before it, so repeated lines map to their own place.
    """
    inside = 0
    for line in _lines_of(text, node):
        content = "".join(piece for piece, _ in line)
        start = node.text.find(content, inside) if content.strip() else -1
        if start >= 0:
            inside = start
            for piece, outside in line:
                yield inside, outside
                inside += len(piece)


def _lines_of(text: str, node: YamlNode) -> Iterator[list[tuple[str, int]]]:
    """Yield the lines of a scalar without indentation and marks that YAML removes, each in pieces that are verbatim."""
    raw, start = text[node.start : node.end], node.start
    escape, block = _QUOTED.get(node.style), node.style in ("|", ">")
    if block:
        start += raw.find("\n") + 1
        raw = raw[raw.find("\n") + 1 :]
    elif escape is not None:
        raw, start = raw[1:-1], start + 1
    indent = _blanks(raw) - _blanks(node.text) if block else 0
    for line in re.finditer(r"[^\n]+", raw):
        at, end = line.span()
        at += indent if block else len(line.group()) - len(line.group().lstrip(" \t")) if at else 0
        end = max(at, at + len(raw[at:end].rstrip(" \t\r")))
        pieces = []
        for match in escape.finditer(raw, at, end) if escape else ():
            pieces += [(raw[at : match.start()], start + at), (_unescaped(match), start + match.start())]
            at = match.end()
        yield [*pieces, (raw[at:end].removesuffix("\\") if node.style == '"' else raw[at:end], start + at)]


def _blanks(text: str) -> int:
    """Return the indentation of the first line that is not blank."""
    match = re.search(r"(?m)^( *)[^ \r\n]", text)
    return len(match[1]) if match else 0


_QUOTED = {"'": re.compile("''"), '"': _ESCAPE}


def _unescaped(match: re.Match[str]) -> str:
    if match.re is not _ESCAPE:
        return "'"
    code = match[1] or match[2] or match[3]
    return chr(int(code, 16)) if code else _ESCAPES.get(match[4], match[4])
