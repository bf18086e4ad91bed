"""Comments that suppress findings of a rule.

``<!-- pagectl: ignore RULE, RULE -->`` for the element that follows and all inside it, and for the comment's own line;
``<!-- pagectl: ignore-section RULE -->`` for the whole element that the comment stands in.

In YAML and in properties ``# pagectl: ignore RULE, RULE reason`` for the entry that follows, in YAML with all inside
it; at the end of a line, which only YAML has, for that line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from brokerconf.reading.document import Comment, Document
from brokerconf.reading.sources import SourceFile
from pagefmt.findings import Finding, Position, Severity, did_you_mean

UNKNOWN = "unknown-rule"
_COMMENT = re.compile(r"\s*pagectl:\s*(\S+)\s*(.*?)\s*", re.DOTALL)
_VERBS = ("ignore", "ignore-section")
# found before any comment is read
_UNSILENCED = {
    "document-type", "encoding", "include-missing", "include-refused", "not-well-formed", "placeholder", "too-deep",
    "too-large", UNKNOWN,
}  # fmt: skip
_LINE_COMMENT = re.compile(r"(?m)^(.*?)[#!][ \t]*pagectl:[ \t]*(.*?)[ \t\r]*$")
_ASKED_OF_LINE = re.compile(r"ignore\s+([\w-]+(?:\s*,\s*[\w-]+)*)(?:\s.*)?")


@dataclass(frozen=True, slots=True)
class IgnoredRange:
    """Rules that say nothing between two places of one file, both ends included."""

    rules: frozenset[str]
    first: Position
    last: Position

    def covers(self, finding: Finding) -> bool:
        """Whether the finding is of an ignored rule and lies inside the range."""
        return finding.rule in self.rules and self.first <= finding.place <= self.last


@dataclass(frozen=True, slots=True)
class IgnoreComments:
    """What the comments of a document ask for, and what is wrong with them."""

    silences: tuple[IgnoredRange, ...]
    faults: tuple[Finding, ...]

    def heard(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings that no comment silences."""
        return [finding for finding in findings if not any(one.covers(finding) for one in self.silences)]


def can_be_silenced(rule: str) -> bool:
    """Whether a comment can suppress the findings of a rule."""
    return rule not in _UNSILENCED


def silences_of(document: Document, known: Collection[str]) -> IgnoreComments:
    """``known``: the ids of all rules."""
    silences: list[IgnoredRange] = []
    faults: list[Finding] = []
    for comment in document.comments:
        asked = _COMMENT.fullmatch(comment.text)
        if asked is None:
            continue
        verb, names = asked.group(1), [name for name in re.split(r"[\s,]+", asked.group(2)) if name]
        if verb not in _VERBS or not names:
            faults.append(_fault(comment.position, f"'{' '.join(comment.text.split())[:60]}' silences nothing", _USAGE))
            continue
        faults += [_unknown(comment.position, name, known) for name in names if name not in known]
        first, last = _range(comment, section=verb == "ignore-section")
        silences.append(IgnoredRange(frozenset(names) & set(known), first, last))
    return IgnoreComments(tuple(silences), tuple(faults))


def line_silences_of(source: SourceFile, known: Collection[str]) -> IgnoreComments:
    """The same for the comments of a file of properties or of YAML."""
    from brokerconf.reading.yaml_tree import YamlSource

    nested = isinstance(source, YamlSource)
    silences: list[IgnoredRange] = []
    faults: list[Finding] = []
    for found in _LINE_COMMENT.finditer(source.original):
        before, text = found.groups()
        if before.strip() and not (nested and before[-1].isspace()):
            continue
        at = source.position(found.end(1))
        asked = _ASKED_OF_LINE.fullmatch(text)
        if asked is None:
            faults.append(_fault(at, f"'pagectl: {text[:60]}' silences nothing", _USAGE_OF_LINES))
            continue
        names = re.split(r"\s*,\s*", asked[1])
        faults += [_unknown(at, name, known) for name in names if name not in known]
        last = at.line if before.strip() else _last_line(source, at.line + 1, nested)
        rules = frozenset(names) & set(known) - _UNSILENCED
        silences.append(IgnoredRange(rules, Position(source.path, at.line), Position(source.path, last + 1)))
    return IgnoreComments(tuple(silences), tuple(faults))


def _last_line(source: SourceFile, first: int, nested: bool) -> int:
    """The last line of the entry that begins in, or after, the first; blank lines and comments are passed over."""
    number, indent, goes_on = first, -1, False
    while (span := source.line(number)) is not None:
        line = source.original[slice(*span)]
        bare = line.strip()
        deep = len(line) - len(line.lstrip())
        if indent >= 0 and bare and not goes_on and not (nested and deep > indent):
            break
        if indent < 0 and bare and bare[0] not in "#!":
            indent = deep
        goes_on = not nested and indent >= 0 and (len(line) - len(line.rstrip("\\"))) % 2 == 1
        number += 1
    return number - 1


_USAGE_OF_LINES = "write # pagectl: ignore RULE on the line above, or in YAML at the end of the line"
_USAGE = "write <!-- pagectl: ignore RULE --> before the element, or ignore-section inside it"


def _unknown(at: Position, name: str, known: Collection[str]) -> Finding:
    return _fault(at, f"'{name}' is not a rule", did_you_mean(name, known, "see: pagectl config rules"))


def _fault(at: Position, message: str, advice: str) -> Finding:
    why = "the comment looks as if it silenced something, but it does not"
    return Finding(at, Severity.WARNING, UNKNOWN, message, help=advice, why=why)


def _range(comment: Comment, *, section: bool) -> tuple[Position, Position]:
    source = comment.source
    at = source.tags.comments[comment.number]
    line_start, line_end = _line(source, at)
    parent = _enclosing(source, at)
    if section:
        return _element(source, parent) if parent is not None else (source.position(0), _end_of(source))
    following = bisect_right(source.tags.starts, at)
    inside = following < len(source.tags.starts) and (
        parent is None or source.tags.starts[following] < source.ends[parent]
    )
    return (line_start, _element(source, following)[1]) if inside else (line_start, line_end)


def _enclosing(source: SourceFile, offset: int) -> int | None:
    """The innermost element around an offset."""
    at = bisect_right(source.tags.starts, offset) - 1
    while at >= 0 and source.ends[at] < offset:
        at -= 1
    return at if at >= 0 else None


def _element(source: SourceFile, ordinal: int) -> tuple[Position, Position]:
    end = max(source.ends[ordinal], source.tags.starts[ordinal])
    return source.of_element(ordinal), source.of_parsed(end)


def _line(source: SourceFile, offset: int) -> tuple[Position, Position]:
    start, end = source.line(source.of_parsed(offset).line) or (0, 0)
    return source.position(start), source.position(end)


def _end_of(source: SourceFile) -> Position:
    return source.position(len(source.original))
