"""Repairs that an editor offers for a finding: what was probably meant, or a comment that silences the rule."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from brokerconf.checks.ignore_comments import can_be_silenced
from brokerconf.editor.diagnostics import Diagnostic
from brokerconf.editor.scanning import Tag, attributes, end_tag_of, tags
from brokerconf.editor.text import EditedText
from brokerconf.instance.recognition import ConfigurationForm

_MEANT = re.compile(
    r"did you mean (?:<(?P<tag>[^>]+)>|'(?P<name>[^']+)'(?: by '(?P<written>[^']+)')?|(?P<word>[^\s?]+))\?"
)


class TextEdit(NamedTuple):
    """Replacement of the text between two offsets."""

    start: int
    stop: int
    new: str


class QuickFix(NamedTuple):
    """Repair that an editor offers; ``sure``: the finding itself names the correct text."""

    title: str
    edits: tuple[TextEdit, ...]
    sure: bool


def fixes_for(text: str, diagnostic: Diagnostic, form: ConfigurationForm) -> list[QuickFix]:
    """Return the repairs for a finding, the best first, and last the comment that silences it."""
    finding = diagnostic.finding
    fixes = []
    meant = _MEANT.search(finding.help)
    if meant is not None:
        new = meant["tag"] or meant["name"] or meant["word"]
        if form is ConfigurationForm.XML:
            edits = tuple(_replacing(text, diagnostic, meant["written"] or "", new))
        else:
            edits = tuple(_renaming(text, diagnostic, new))
        if edits:
            fixes.append(QuickFix(f"Replace with {new}", edits, True))
    fix = finding.fix
    if fix is not None and not fixes:
        at = EditedText(text).of_finding(fix.place)
        if text.startswith(fix.old, at):
            title = f"Replace with {fix.new}" if fix.new else "Remove it"
            fixes.append(QuickFix(title, (TextEdit(at, at + len(fix.old), fix.new),), True))
    if can_be_silenced(finding.rule) and finding.place.line:
        before = _commented_at(text, diagnostic, form)
        if before is not None:
            new = _comment(text, before, finding.rule, form)
            fixes.append(QuickFix(f"Ignore {finding.rule} here", (TextEdit(before, before, new),), False))
    return fixes


def _renaming(text: str, diagnostic: Diagnostic, new: str) -> Iterator[TextEdit]:
    """Yield the edit that replaces the name in a key at which the finding is."""
    name = re.compile(r'[^\s."=:]+').match(text, diagnostic.start)
    if name is not None and diagnostic.finding.rule == "properties-unknown-key":
        yield TextEdit(name.start(), name.end(), new)


def _replacing(text: str, diagnostic: Diagnostic, written: str, new: str) -> Iterator[TextEdit]:
    start = text.rfind("<", 0, diagnostic.start + 1)
    tag = next(tags(text[start:]), None) if start >= 0 else None
    if tag is None:
        return
    tag = Tag(tag.name, start, start + tag.stop, tag.closes, tag.end)
    inside = {attribute.name: attribute for attribute in attributes(text, tag)}
    match diagnostic.finding.rule:
        case "unknown-element":
            prefix = tag.name.rpartition(":")[0]
            renamed = f"{prefix}:{new}" if prefix else new
            yield TextEdit(tag.start + 1, tag.start + 1 + len(tag.name), renamed)
            end = end_tag_of(text, tag)
            if end is not None:
                yield TextEdit(end.start + 2, end.start + 2 + len(end.name), renamed)
        case "unknown-attribute" | "missing-attribute":
            name = written or text[diagnostic.start : diagnostic.stop]
            if name in inside:
                yield TextEdit(inside[name].start, inside[name].start + len(name), new)
        case "unknown-rule":
            name = diagnostic.finding.message.split("'")[1] if "'" in diagnostic.finding.message else ""
            at = text.find(name, diagnostic.start)
            if name and at >= 0:
                yield TextEdit(at, at + len(name), new)
        case _:
            yield from _value(text, diagnostic, tag, new)


def _value(text: str, diagnostic: Diagnostic, tag: Tag, new: str) -> Iterator[TextEdit]:
    """Yield the edit that replaces the value the finding is about: of an attribute, or between the tags."""
    for attribute in attributes(text, tag):
        if attribute.start == diagnostic.start and attribute.value_start >= 0:
            yield TextEdit(attribute.value_start, attribute.value_stop, new)
            return
    end = text.find("<", tag.stop)
    content = text[tag.stop : end] if end >= 0 else ""
    if value := content.strip():
        start = tag.stop + len(content) - len(content.lstrip())
        yield TextEdit(start, start + len(value), new)


def _commented_at(text: str, diagnostic: Diagnostic, form: ConfigurationForm) -> int | None:
    """Return the offset before which a comment silences the finding.

    Returns None if no comment can be there: in JSON, or in XML inside YAML.
    """
    if form is ConfigurationForm.XML:
        return max(text.rfind("<", 0, diagnostic.start + 1), 0)
    if form is ConfigurationForm.JSON or text.lstrip()[:1] == "{" or diagnostic.finding.path.startswith("/"):
        return None
    start = text.rfind("\n", 0, diagnostic.start) + 1
    if form is ConfigurationForm.PROPERTIES:
        while start and _goes_on(text[(above := text.rfind("\n", 0, start - 1) + 1) : start]):
            start = above
    indent = (_LINE if form is ConfigurationForm.PROPERTIES else _ENTRY).match(text, start)
    return indent.end() if indent else None


def _goes_on(line: str) -> bool:
    """Return whether a line of properties continues on the next one."""
    bare = line.rstrip("\r\n")
    return (len(bare) - len(bare.rstrip("\\"))) % 2 == 1


# in front of what stands on a line; of an entry of YAML, not of the middle of a text
_LINE = re.compile(r"[ \t\f]*")
_ENTRY = re.compile(r"[ \t]*(?=- |[^\s#][^\n]*?[:=])")


def _comment(text: str, at: int, rule: str, form: ConfigurationForm) -> str:
    """Return the comment that silences a rule, on a line of its own with the indentation of what follows it."""
    line = text.rfind("\n", 0, at) + 1
    before = text[line:at]
    end = "\r\n" if text[line - 2 : line] == "\r\n" else "\n"
    directive = f"pagectl: ignore {rule}"
    if form is not ConfigurationForm.XML:
        return f"# {directive}{end}{before}"
    return f"<!-- {directive} -->{end}{before}" if not before.strip() else f"<!-- {directive} -->"
