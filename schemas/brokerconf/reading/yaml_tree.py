"""YAML as a tree with positions, read as Kubernetes reads it.

The tree is built here from the parser's events: the parser's own composer recurses for every level and ends the process
on a deeply nested document. Depth, size, and the expansion of aliases are bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from brokerconf.reading.parsing import ReadingError
from brokerconf.reading.secrets import Span
from brokerconf.reading.sources import SourceFile
from brokerconf.reading.substitution import ReplacedText
from brokerconf.reading.yaml_nodes import YamlNode
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


class YamlSource(SourceFile):
    """YAML file, which also knows its secrets."""

    def __init__(self, path: str, text: str) -> None:
        super().__init__(path, text, ReplacedText(text), markup=False)
        # None: it could not be read
        self.roots: tuple[YamlNode, ...] | None = None

    def secrets(self) -> list[Span]:
        """Return the spans of values of Secrets and of names for one, also in files embedded in it."""
        from brokerconf.reading.yaml_secrets import hidden_in_yaml

        if self.roots is None:
            with suppress(ReadingError):
                self.roots = read_yaml(self.original.encode("utf-8", "replace"), self.path).roots
        return hidden_in_yaml(self, self.roots)


@dataclass(frozen=True, slots=True)
class YamlDocuments:
    """YAML file: its documents, and findings although they can be read."""

    source: YamlSource
    roots: tuple[YamlNode, ...]
    findings: tuple[Finding, ...]


def read_yaml(raw: bytes, name: str, *, merging: bool = True) -> YamlDocuments:
    """Read all documents of a file; raise ``ReadingError`` if it is too large or malformed.

    With ``merging``, the key ``<<`` adds the entries of its value to the mapping.
    """
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
            problem = " ".join(filter(None, (err.context, err.problem)))
            raise self.refused("yaml-syntax", mark.index if mark else 0, f"not YAML: {problem}", _CORRECT) from err
        except yaml.reader.ReaderError as err:
            raise self.refused("yaml-syntax", max(err.position, 0), f"not YAML: {err.reason}", _CORRECT) from err
        except (UnicodeError, ValueError) as err:
            raise self.refused("yaml-syntax", 0, "not YAML: characters that cannot be read", _CORRECT) from err

    def _composed(self, events: Iterator[Event]) -> Iterator[YamlNode]:
        """Yield the documents, leaving out empty ones."""
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
        """Pair keys and values; entries that ``<<`` adds come after those that are written."""
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
                self.findings.append(
                    Finding(
                        self.source.position(key.start),
                        Severity.ERROR,
                        "yaml-duplicate-key",
                        f"key '{key.text[:_LONGEST_KEY]}' appears a second time",
                        key.text[:_LONGEST_KEY],
                        "keep one of them",
                        "Kubernetes refuses the document or ignores one of the two",
                    )
                )
            seen.add(key.text)
            node.entries.append((key, value))
        for key, value in merged:
            if key.text not in seen:
                seen.add(key.text)
                node.entries.append((key, value))


_CORRECT = "correct the YAML; render a template first"
_LONGEST_KEY = 200
