"""Parts of a YAML file that are never shown: values of Secrets, passwords, and secrets of embedded files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from brokerconf.reading.secrets import Span, hidden_in_markup, hidden_in_properties, is_secret
from brokerconf.reading.sources import SourceFile
from brokerconf.reading.yaml_nodes import ScalarText, YamlNode

# What kubectl keeps of the object as it was last applied, a Secret's values included.
_LAST_APPLIED = "last-applied-configuration"
_SECRET_DATA = ("data", "stringData")
_TORN_LINE = re.compile(r"""(?m)^(?P<indent>[ \t]*)(?:-[ \t]+)*(?P<key>[^\n:]*+)(?::(?P<rest>[^\n]*))?$""")
_TORN_VALUE = re.compile(
    r"""(?<![\w.-])(?P<key>[\w.-]{1,60}+)["']?[ \t]*:[ \t]*+(?P<rest>"(?:[^"\\]|\\.)*+|'[^']*+|[^\s,}\]{][^,}\]\n]*+)"""
)


def hidden_in_yaml(source: SourceFile, roots: tuple[YamlNode, ...] | None) -> list[Span]:
    """Return the spans of secrets in a YAML file, in order.

    ``roots`` is None for a file that cannot be parsed: then everything that may be a secret is included.
    """
    text = source.original
    spans = hidden_in_properties(text)
    if roots is None:
        spans += _torn(text)
        if re.search(r"\bSecret\b", text):
            spans += [match.span() for match in re.finditer(r"(?m)(?<=:)[ \t]*\S.*$|^[^:\n]*\S[^:\n]*$", text)]
        return _in_order(spans)
    seen: set[int] = set()
    for root in roots:
        spans += _Walk(source, seen).below(root)
    return _in_order(spans)


def _torn(text: str) -> Iterator[Span]:
    """Yield lines below a key that names a secret, and every possible value of an environment variable."""
    deeper: int | None = None
    for line in _TORN_LINE.finditer(text):
        indent = len(line["indent"])
        if deeper is not None and (indent > deeper or not line["key"]):
            yield line.span()
        else:
            deeper = indent if is_secret(line["key"]) and line["rest"] is not None else None
    pairs = _TORN_VALUE.finditer(text)
    yield from (pair.span("rest") for pair in pairs if pair["key"] == "value" or is_secret(pair["key"]))


class _Walk:
    def __init__(self, source: SourceFile, seen: set[int]) -> None:
        self.source, self.seen = source, seen

    def below(self, node: YamlNode) -> Iterator[Span]:
        if id(node) in self.seen:
            return
        self.seen.add(id(node))
        for item in node.items:
            yield from self.below(item)
        named = is_secret(node.text_at("name"))
        is_secret_object = node.text_at("kind") == "Secret"
        for key, value in node.entries:
            hidden = is_secret_object and key.text in _SECRET_DATA
            if hidden or key.text.endswith(_LAST_APPLIED) or is_secret(key.text) or (named and key.text == "value"):
                yield from _scalars(value)
            else:
                yield from self.below(value)
        if node.text:
            yield from self._inside(node)

    def _inside(self, node: YamlNode) -> Iterator[Span]:
        """Yield the secrets inside a scalar, which may contain a whole file."""
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
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        elif start < end:
            merged.append((start, end))
    return merged
