"""What of a YAML file is never shown: the values of Secrets, passwords, and the secrets of files that lie inside."""

from __future__ import annotations

import re
from collections.abc import Iterator

from brokerconf.reading.secrets import Span, hidden_in_markup, hidden_in_properties, is_secret
from brokerconf.reading.sources import SourceFile
from brokerconf.reading.yaml_tree import ScalarText, YamlNode

# What kubectl keeps of the object as it was last applied, a Secret's values included.
_LAST_APPLIED = "last-applied-configuration"
_SECRET_DATA = ("data", "stringData")
_TORN_LINE = re.compile(r"""(?m)^(?P<indent>[ \t]*)(?:-[ \t]+)*(?P<key>[^\n:]*+)(?::(?P<rest>[^\n]*))?$""")
_TORN_VALUE = re.compile(
    r"""(?<![\w.-])(?P<key>[\w.-]{1,60}+)["']?[ \t]*:[ \t]*+(?P<rest>"(?:[^"\\]|\\.)*+|'[^']*+|[^\s,}\]{][^,}\]\n]*+)"""
)


def hidden_in_yaml(source: SourceFile, roots: tuple[YamlNode, ...] | None) -> list[Span]:
    """Offsets in the file, in order; ``roots`` None for a file that cannot be read: then all that may be a secret."""
    text = source.original
    found = hidden_in_properties(text)
    if roots is None:
        found += _torn(text)
        if re.search(r"\bSecret\b", text):
            found += [each.span() for each in re.finditer(r"(?m)(?<=:)[ \t]*\S.*$|^[^:\n]*\S[^:\n]*$", text)]
        return _in_order(found)
    seen: set[int] = set()
    for root in roots:
        found += _Walk(source, seen).below(root)
    return _in_order(found)


def _torn(text: str) -> Iterator[Span]:
    """The lines below a key that speaks of a secret, and whatever may be the value of an environment's variable."""
    deeper: int | None = None
    for line in _TORN_LINE.finditer(text):
        indent = len(line["indent"])
        if deeper is not None and (indent > deeper or not line["key"]):
            yield line.span()
        else:
            deeper = indent if is_secret(line["key"]) and line["rest"] is not None else None
    pairs = _TORN_VALUE.finditer(text)
    yield from (found.span("rest") for found in pairs if found["key"] == "value" or is_secret(found["key"]))


class _Walk:
    def __init__(self, source: SourceFile, seen: set[int]) -> None:
        self.source, self.seen = source, seen

    def below(self, node: YamlNode) -> Iterator[Span]:
        if id(node) in self.seen:
            return
        self.seen.add(id(node))
        for item in node.items:
            yield from self.below(item)
        named = is_secret(node.said("name"))
        is_secret_object = node.said("kind") == "Secret"
        for key, value in node.entries:
            hidden = is_secret_object and key.text in _SECRET_DATA
            if hidden or key.text.endswith(_LAST_APPLIED) or is_secret(key.text) or (named and key.text == "value"):
                yield from _scalars(value)
            else:
                yield from self.below(value)
        if node.text:
            yield from self._inside(node)

    def _inside(self, node: YamlNode) -> Iterator[Span]:
        """The secrets of a text, which may be a whole file."""
        text = node.text
        spans = hidden_in_markup(text) if text.lstrip()[:1] == "<" else hidden_in_properties(text)
        if spans:
            placed = ScalarText(self.source, node)
            yield from ((placed.offset(start), placed.offset(max(start, end - 1)) + 1) for start, end in spans)


def _scalars(node: YamlNode) -> Iterator[Span]:
    for _, value in node.entries:
        yield from _scalars(value)
    for item in node.items:
        yield from _scalars(item)
    if node.type not in ("object", "array"):
        yield node.start, node.end


def _in_order(spans: list[Span]) -> list[Span]:
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        elif start < end:
            found.append((start, end))
    return found
