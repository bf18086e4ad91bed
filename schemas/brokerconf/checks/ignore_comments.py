"""Comments that suppress findings of a rule.

``<!-- pagectl: ignore RULE, RULE -->`` for the element that follows and all inside it, and for the comment's own line;
``<!-- pagectl: ignore-section RULE -->`` for the whole element that contains the comment.

In YAML and in properties ``# pagectl: ignore RULE, RULE reason`` for the entry that follows, in YAML with all inside
it; at the end of a line, which only YAML allows, for that line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from operator import itemgetter

from brokerconf.reading.document import Comment, Document
from brokerconf.reading.sources import SourceFile
from pagefmt.findings import Finding, Position, Severity, did_you_mean

UNKNOWN = "unknown-rule"
_COMMENT = re.compile(r"\s*pagectl:\s*(\S+)(.*)", re.DOTALL)
_VERBS = ("ignore", "ignore-section")
# found before any comment is read
_UNSILENCED = {
    "document-type",
    "encoding",
    "include-missing",
    "include-refused",
    "not-well-formed",
    "placeholder",
    "too-deep",
    "too-large",
    UNKNOWN,
}
_LINE_COMMENT = re.compile(r"(?m)^(.*?)[#!][ \t]*pagectl:(.*)$")
MOST_FAULTS = 1_000  # reported of the comments of a file
_LONGEST_NAME = 200  # characters of an unknown rule that are shown
_ASKED_OF_LINE = re.compile(r"ignore\s+([\w-]+(?:\s*,\s*[\w-]+)*)(?:\s.*)?")


@dataclass(frozen=True, slots=True)
class IgnoredRange:
    """Range of a file, both ends included, in which some rules are silent."""

    rules: frozenset[str]
    first: Position
    last: Position


@dataclass(frozen=True, slots=True)
class IgnoreComments:
    """Ranges that the comments of a document silence, and faults in the comments."""

    silences: tuple[IgnoredRange, ...]
    faults: tuple[Finding, ...]

    def not_silenced(self, findings: Iterable[Finding]) -> list[Finding]:
        """Return the findings that no comment silences."""
        joined = self._joined()
        return [finding for finding in findings if not _covered(finding, joined.get(finding.rule, ()))]

    def _joined(self) -> dict[str, list[tuple[Position, Position]]]:
        """Return the ranges in which each rule is silent, in order and without overlaps, for a binary search."""
        joined: dict[str, list[tuple[Position, Position]]] = {}
        for silence in sorted(self.silences, key=lambda silence: (silence.first, silence.last)):
            for rule in silence.rules:
                ranges = joined.setdefault(rule, [])
                if ranges and silence.first <= ranges[-1][1]:
                    ranges[-1] = ranges[-1][0], max(ranges[-1][1], silence.last)
                else:
                    ranges.append((silence.first, silence.last))
        return joined


def _covered(finding: Finding, ranges: Sequence[tuple[Position, Position]]) -> bool:
    at = bisect_right(ranges, finding.place, key=itemgetter(0)) - 1
    return at >= 0 and finding.place <= ranges[at][1]


def can_be_silenced(rule: str) -> bool:
    """Return whether a comment can suppress the findings of a rule."""
    return rule not in _UNSILENCED


def silences_of(document: Document, rule_ids: Collection[str]) -> IgnoreComments:
    """Return what the comments of an XML document silence; ``known`` holds the ids of all rules."""
    silences: list[IgnoredRange] = []
    faults: list[Finding] = []
    parents = cache(_parents)
    for comment in document.comments:
        directive = _COMMENT.fullmatch(comment.text)
        if directive is None:
            continue
        verb, names = directive.group(1), [name for name in re.split(r"[\s,]+", directive.group(2)) if name]
        if verb not in _VERBS or not names:
            faults.append(_fault(comment.position, f"'{' '.join(comment.text.split())[:60]}' silences nothing", _USAGE))
            continue
        faults += _unknown(comment.position, names, rule_ids, len(faults))
        first, last = _range(comment, parents, section=verb == "ignore-section")
        silences.append(IgnoredRange(frozenset(names) & set(rule_ids), first, last))
    return IgnoreComments(tuple(silences), tuple(faults))


def line_silences_of(source: SourceFile, rule_ids: Collection[str]) -> IgnoreComments:
    """Return what the comments of a file of properties or YAML silence; ``rule_ids`` holds the ids of all rules."""
    from brokerconf.reading.yaml_tree import YamlSource

    nested = isinstance(source, YamlSource)
    silences: list[IgnoredRange] = []
    faults: list[Finding] = []
    last_lines = _last_lines(source, nested)
    for match in _LINE_COMMENT.finditer(source.original):
        before, text = match[1], match[2].strip(" \t\r")
        if before.strip() and not (nested and before[-1].isspace()):
            continue
        at = source.position(match.end(1))
        directive = _ASKED_OF_LINE.fullmatch(text)
        if directive is None:
            faults.append(_fault(at, f"'pagectl: {text[:60]}' silences nothing", _USAGE_OF_LINES))
            continue
        names = re.split(r"\s*,\s*", directive[1])
        faults += _unknown(at, names, rule_ids, len(faults))
        last = at.line if before.strip() else last_lines[at.line + 1]
        rules = frozenset(names) & set(rule_ids) - _UNSILENCED
        silences.append(IgnoredRange(rules, Position(source.path, at.line), Position(source.path, last + 1)))
    return IgnoreComments(tuple(silences), tuple(faults))


def _last_lines(source: SourceFile, nested: bool) -> list[int]:
    """Return, by line number, the last line of the entry that begins in that line or after it.

    Blank lines and comments before the entry are passed over, blank lines after it belong to it. One pass from the end
    finds all of them in linear time: of each line ``texts`` has the next line with text, ``continued`` the last line
    that it goes on in, and ``stops`` the first line that is not part of its entry.
    """
    lines = [""]
    while (span := source.line(len(lines))) is not None:
        lines.append(source.original[slice(*span)])
    end = len(lines)
    depths = [len(line) - len(line.lstrip()) for line in lines]
    following, texts, stops = end, [end] * end, [end] * end
    continued, last = list(range(end)), [end - 1] * (end + 1)
    for number in range(end - 1, 0, -1):
        bare = lines[number].strip()
        texts[number] = following
        if not nested and number + 1 < end and (len(lines[number]) - len(lines[number].rstrip("\\"))) % 2:
            continued[number] = continued[number + 1]
        stop = texts[continued[number]]
        while nested and stop < end and depths[stop] > depths[number]:
            stop = stops[stop]
        stops[number] = stop
        last[number] = stop - 1 if bare and bare[0] not in "#!" else last[number + 1]
        following = number if bare else following
    return last


_USAGE_OF_LINES = "write # pagectl: ignore RULE on the line above, or in YAML at the end of the line"
_USAGE = "write <!-- pagectl: ignore RULE --> before the element, or ignore-section inside it"


def _unknown(at: Position, names: Iterable[str], rule_ids: Collection[str], before: int) -> Iterator[Finding]:
    """Yield a fault for each name that is no rule, but not more than ``MOST_FAULTS`` with those ``before``."""
    unknown = [name for name in dict.fromkeys(names) if name not in rule_ids]
    for name in unknown[: max(MOST_FAULTS - before, 0)]:
        short = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
        yield _fault(at, f"'{short}' is not a rule", did_you_mean(short, rule_ids, "see: pagectl config rules"))


def _fault(at: Position, message: str, advice: str) -> Finding:
    why = "the comment looks as if it silenced something, but it does not"
    return Finding(at, Severity.WARNING, UNKNOWN, message, help=advice, why=why)


def _range(comment: Comment, parents: Callable[[SourceFile], list[int]], *, section: bool) -> tuple[Position, Position]:
    source = comment.source
    at = source.tags.comments[comment.number]
    line_start, line_end = _line(source, at)
    parent = _enclosing(source, parents(source), at)
    if section:
        return _element(source, parent) if parent is not None else (source.position(0), _end_of(source))
    following = bisect_right(source.tags.starts, at)
    inside = following < len(source.tags.starts) and (
        parent is None or source.tags.starts[following] < source.ends[parent]
    )
    return (line_start, _element(source, following)[1]) if inside else (line_start, line_end)


def _enclosing(source: SourceFile, parents: Sequence[int], offset: int) -> int | None:
    """Return the innermost element around an offset, by its ordinal, or None outside the document element."""
    at = bisect_right(source.tags.starts, offset) - 1
    while at >= 0 and source.ends[at] < offset:
        at = parents[at]
    return at if at >= 0 else None


def _parents(source: SourceFile) -> list[int]:
    """Return, for each element, the number of the one around it; -1 for the outermost."""
    parents: list[int] = []
    for number, start in enumerate(source.tags.starts):
        parent = number - 1
        while parent >= 0 and source.ends[parent] < start:
            parent = parents[parent]
        parents.append(parent)
    return parents


def _element(source: SourceFile, ordinal: int) -> tuple[Position, Position]:
    end = max(source.ends[ordinal], source.tags.starts[ordinal])
    return source.of_element(ordinal), source.of_parsed(end)


def _line(source: SourceFile, offset: int) -> tuple[Position, Position]:
    start, end = source.line(source.of_parsed(offset).line) or (0, 0)
    return source.position(start), source.position(end)


def _end_of(source: SourceFile) -> Position:
    return source.position(len(source.original))
