"""YAML as a tree whose parts know where they stand, read as Kubernetes reads it.

The parser's events are put together here: its own composer calls itself for every level and ends the process on a
document that is nested deep enough. Depth, size, and what aliases would make of a small document are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from brokerconf.reading.parsing import ReadingError
from brokerconf.reading.secrets import Span
from brokerconf.reading.sources import SourceFile
from brokerconf.reading.substitution import ReplacedText
from pagefmt.findings import Finding, Position, Severity

if TYPE_CHECKING:
    from yaml.events import Event

LARGEST_YAML = 16 << 20
DEEPEST = 100
MOST_NODES = 2_000_000
_PLAIN = (
    ("null", re.compile(r"~|null|Null|NULL|")),
    ("boolean", re.compile(r"(?i)(?:true|false|yes|no|on|off)")),
    ("integer", re.compile(r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0o?[0-7_]+|[0-9][0-9_]*)")),
    (
        "number",
        re.compile(
            r"(?i)[-+]?(?:[0-9][0-9_]*+(?:\.[0-9][0-9_]*+)?|\.[0-9][0-9_]*+)\.?(?:e[-+]?[0-9]+)?|[-+]?\.inf|\.nan"
        ),
    ),
)
_TAGS = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "null": "null"}
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))")


@dataclass(slots=True, eq=False)
class YamlNode:
    """A part of a document. ``type``: ``object``, ``array``, or what a scalar is for the reader: ``string``,
    ``integer``, ``number``, ``boolean``, ``null``. ``start`` and ``end`` are offsets in the file."""

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
        """What stands under these keys, one inside of the other; None where one is missing."""
        found: YamlNode | None = self
        for name in names:
            found = next((value for key, value in found.entries if key.text == name), None) if found else None
        return found

    def said(self, *names: str) -> str:
        """The text under these keys, or nothing."""
        found = self.get(*names)
        return found.text if found else ""


class YamlSource(SourceFile):
    """A YAML file, which also knows what in it is secret."""

    def __init__(self, path: str, text: str) -> None:
        super().__init__(path, text, ReplacedText(text), markup=False)
        # None: it could not be read
        self.roots: tuple[YamlNode, ...] | None = None

    def secrets(self) -> list[Span]:
        """Values of Secrets and of names that speak of one, also in the files that lie inside of it."""
        from brokerconf.reading.yaml_secrets import hidden_in_yaml

        if self.roots is None:
            with suppress(ReadingError):
                self.roots = read_yaml(self.original.encode("utf-8", "replace"), self.path).roots
        return hidden_in_yaml(self, self.roots)


@dataclass(frozen=True, slots=True)
class YamlDocuments:
    """A file: its documents, and what is wrong with them although they can be read."""

    source: YamlSource
    roots: tuple[YamlNode, ...]
    findings: tuple[Finding, ...]


def read_yaml(raw: bytes, name: str, *, merging: bool = True) -> YamlDocuments:
    """All documents of a file; raises ``ReadingError``. ``merging``: the key ``<<`` takes over what its value has."""
    start = Position(name, 1, 1)
    if len(raw) > LARGEST_YAML:
        raise ReadingError("too-large", start, f"larger than {LARGEST_YAML >> 20} MiB", "split the file", _UNREAD)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as err:
        raise ReadingError("encoding", start, f"not UTF-8 at byte {err.start}", "save it as UTF-8", _UNREAD) from err
    source = YamlSource(name, text)
    composer = _Composer(source, merging)
    source.roots = tuple(composer.documents())
    return YamlDocuments(source, source.roots, tuple(composer.findings))


_UNREAD = "Kubernetes does not read this file"


class _Composer:
    def __init__(self, source: SourceFile, merging: bool) -> None:
        self.source, self.merging = source, merging
        self.findings: list[Finding] = []
        self.anchors: dict[str, YamlNode | None] = {}

    def refused(self, rule: str, at: int, message: str, help: str) -> ReadingError:
        return ReadingError(rule, self.source.position(at), message, help, _UNREAD)

    def documents(self) -> Iterator[YamlNode]:
        import yaml

        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            yield from self._composed(yaml.parse(self.source.text, Loader=loader))
        except yaml.MarkedYAMLError as err:
            mark = err.problem_mark or err.context_mark
            said = " ".join(filter(None, (err.context, err.problem)))
            raise self.refused("yaml-syntax", mark.index if mark else 0, f"not YAML: {said}", _CORRECT) from err
        except yaml.reader.ReaderError as err:
            raise self.refused("yaml-syntax", max(err.position, 0), f"not YAML: {err.reason}", _CORRECT) from err
        except (UnicodeError, ValueError) as err:
            raise self.refused("yaml-syntax", 0, "not YAML: characters that cannot be read", _CORRECT) from err

    def _composed(self, events: Iterator[Event]) -> Iterator[YamlNode]:
        """Documents that are empty are left out."""
        from yaml import events as kinds

        open_nodes: list[tuple[YamlNode, str | None]] = []
        for event in events:
            start, end = (mark.index if mark else 0 for mark in (event.start_mark, event.end_mark))
            match event:
                case kinds.MappingStartEvent() | kinds.SequenceStartEvent():
                    if len(open_nodes) >= DEEPEST:
                        raise self.refused("too-deep", start, f"nested more than {DEEPEST} deep", "flatten it")
                    kind = "object" if isinstance(event, kinds.MappingStartEvent) else "array"
                    node = YamlNode(kind, start, end)
                    open_nodes.append((node, event.anchor))
                    if event.anchor:
                        self.anchors[event.anchor] = None
                    continue
                case kinds.MappingEndEvent() | kinds.SequenceEndEvent():
                    node, anchor = open_nodes.pop()
                    node.end = end
                    if node.type == "object":
                        self._close(node)
                case kinds.ScalarEvent():
                    node, anchor = self._scalar(event), event.anchor
                case kinds.AliasEvent():
                    node, anchor = self._alias(event), None
                case kinds.DocumentStartEvent():
                    self.anchors = {}
                    continue
                case _:
                    continue
            if anchor:
                self.anchors[anchor] = node
            if open_nodes:
                self._add(open_nodes[-1][0], node)
            elif node.type != "null":
                yield node

    def _alias(self, event: Any) -> YamlNode:
        at = event.start_mark.index
        if event.anchor not in self.anchors:
            raise self.refused("yaml-syntax", at, "not YAML: an alias of an anchor that does not exist", _CORRECT)
        node = self.anchors[event.anchor]
        if node is None:
            raise self.refused("yaml-aliases", at, "an alias inside its own anchor", _CORRECT)
        return node

    def _scalar(self, event: Any) -> YamlNode:
        kind = "string"
        if event.tag and event.tag != "!":
            kind = _TAGS.get(event.tag.rpartition(":")[2], "string")
        elif event.implicit[0]:
            kind = next((name for name, pattern in _PLAIN if pattern.fullmatch(event.value)), "string")
        return YamlNode(kind, event.start_mark.index, event.end_mark.index, event.value, event.style or "")

    def _add(self, parent: YamlNode, node: YamlNode) -> None:
        parent.size += node.size
        if parent.size > MOST_NODES:
            at = parent.start
            raise self.refused("yaml-aliases", at, "aliases that expand to too many nodes", "write it out")
        parent.items.append(node)

    def _close(self, node: YamlNode) -> None:
        """Pairs keys and values; what ``<<`` takes over stands behind what is written."""
        pairs = list(zip(node.items[::2], node.items[1::2], strict=True))
        node.items = []
        merged: list[tuple[YamlNode, YamlNode]] = []
        seen: set[str] = set()
        for key, value in pairs:
            if key.type in ("object", "array"):
                raise self.refused("yaml-syntax", key.start, "a key that is not a name", _CORRECT)
            if self.merging and key.text == "<<" and not key.style:
                for other in value.items or [value]:
                    merged += other.entries
                continue
            if key.text in seen:
                self.findings.append(Finding(
                    self.source.position(key.start), Severity.ERROR, "yaml-duplicate-key",
                    f"key '{key.text[:_LONGEST_KEY]}' appears a second time", key.text[:_LONGEST_KEY],
                    "keep one of them",
                    "Kubernetes refuses the document or ignores one of the two",
                ))  # fmt: skip
            seen.add(key.text)
            node.entries.append((key, value))
        for key, value in merged:
            if key.text not in seen:
                seen.add(key.text)
                node.entries.append((key, value))


_CORRECT = "correct the YAML; render a template first"
_LONGEST_KEY = 200


class ScalarText:
    """The text of a scalar, each character of which is somewhere in the file."""

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
        """The offset in the file of a character of the text."""
        from bisect import bisect_right

        at = bisect_right(self._inside, inside) - 1
        return self._outside[at] + inside - self._inside[at]

    def position(self, inside: int) -> Position:
        """The line and column of it in the file."""
        return self.source.position(self.offset(inside))


def _pieces(text: str, node: YamlNode) -> Iterator[tuple[int, int]]:
    """(offset in the value, offset in the file) from each line and each escape on; lines are found in their order."""
    inside = 0
    for line in _lines_of(text, node):
        content = "".join(piece for piece, _ in line)
        found = node.text.find(content, inside) if content.strip() else -1
        if found >= 0:
            inside = found
            for piece, outside in line:
                yield inside, outside
                inside += len(piece)


def _lines_of(text: str, node: YamlNode) -> Iterator[list[tuple[str, int]]]:
    """The lines of a scalar without what YAML takes away, each in pieces that stand in the file as they are."""
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
        for found in escape.finditer(raw, at, end) if escape else ():
            pieces += [(raw[at : found.start()], start + at), (_unescaped(found), start + found.start())]
            at = found.end()
        yield [*pieces, (raw[at:end].removesuffix("\\") if node.style == '"' else raw[at:end], start + at)]


def _blanks(text: str) -> int:
    """How far the first line that is not blank is indented."""
    found = re.search(r"(?m)^( *)[^ \r\n]", text)
    return len(found[1]) if found else 0


_QUOTED = {"'": re.compile("''"), '"': _ESCAPE}


def _unescaped(found: re.Match[str]) -> str:
    if found.re is not _ESCAPE:
        return "'"
    code = found[1] or found[2] or found[3]
    return chr(int(code, 16)) if code else _ESCAPES.get(found[4], found[4])
