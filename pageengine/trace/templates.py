"""Lines of a trace that differ in a few numbers alone: recognised as text, so that they need no JSON reader.

A template is made of a line that was read the careful way. Its text stands for itself, but for the digits of ``t``,
``seq`` and ``size``; a line that equals it in everything else is the same operation with other numbers. Where a line
is odd in any way no template fits, and it is read the careful way (``trace_lines``).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, fields
from typing import Any

from pageengine.trace.forms import FORMS
from pageengine.trace.operations import Ack, Operation, Send, SettingsChange
from pageengine.trace.send_form import KNOWN as SEND_KEYS
from pageengine.trace.unread import UnknownOperation

DIGITS = b"0123456789"
NUMBER = rb"(0|[1-9][0-9]{0,18})"
MOST_TEMPLATES = 256
MOST_SEEN = 4096
MOST_OF_A_TEXT = 8
VARYING = ("t", "seq", "size")


@dataclass(frozen=True, slots=True)
class LineTemplate:
    """The ``operation`` of a line, and the ``pattern`` of all lines that differ from it in their numbers only.

    ``rest``: the operation's fields after ``i`` and ``t``. ``t_at``, ``seq_at``, ``size_at``: index of the number among
    the groups of the pattern, -1 where the line does not have it.
    """

    operation: Operation
    pattern: re.Pattern[bytes]
    rest: tuple[Any, ...]
    t_at: int
    seq_at: int
    size_at: int

    def made(self, i: int, t: int, seq: int, size: int) -> Operation:
        """The operation of a line with these numbers; those that it does not have do not count."""
        first = self.operation
        if type(first) is Send:
            return Send(
                i, t, first.address, seq, first.session, first.type, size, first.text, first.body, first.durable,
                first.priority, first.expire_ms, first.props,
            )  # fmt: skip
        if type(first) is Ack:
            return Ack(i, t, first.consumer, first.mode, (seq,) if self.seq_at >= 0 else first.seqs)
        return type(first)(i, t, *self.rest)


def template_of(line: bytes, value: dict[str, Any], operation: Operation | UnknownOperation) -> LineTemplate | None:
    """The template of a line that holds ``value``; None where its text is not simple enough to be sure."""
    if isinstance(operation, UnknownOperation | SettingsChange) or b"\\" in line:
        return None
    sends = isinstance(operation, Send)
    known = SEND_KEYS if sends else FORMS[operation.op].known
    if not known.issuperset(value):
        return None
    spans = []
    for name in VARYING if sends else VARYING[: 1 + (isinstance(operation, Ack) and len(operation.seqs) == 1)]:
        found = re.search(rb'"%s"[ \t]*:[ \t]*%s(?=[ \t,}])' % (name.encode(), NUMBER), line)
        if found is not None and line.count(b'"%s"' % name.encode()) == 1:
            spans.append((*found.span(1), name))
    spans.sort()
    names = tuple(name for _, _, name in spans)
    edges = [0, *(edge for start, end, _ in spans for edge in (start, end)), len(line)]
    literals = tuple(line[edges[n] : edges[n + 1]] for n in range(0, len(edges), 2))
    if not names or not _means(literals, names, value):
        return None
    pattern = re.compile(NUMBER.join(map(re.escape, literals)))
    rest = tuple(getattr(operation, one.name) for one in fields(operation)[2:])
    at = {name: n for n, name in enumerate(names)}
    return LineTemplate(operation, pattern, rest, *(at.get(name, -1) for name in VARYING))


def _means(literals: tuple[bytes, ...], names: tuple[str, ...], value: dict[str, Any]) -> bool:
    """Whether other digits at these places are other values of these keys and nothing else."""
    other = {name: 1_000_003 + n for n, name in enumerate(names)}
    text = literals[0] + b"".join(str(other[name]).encode() + literals[n] for n, name in enumerate(names, 1))
    return all(name in value for name in names) and json.loads(text) == {**value, **other}


@dataclass(slots=True)
class Templates:
    """Templates by the text of a line without its digits. One is made when such a line comes for the second time."""

    _known: dict[bytes, list[LineTemplate]] = field(default_factory=dict)
    _seen: set[bytes] = field(default_factory=set)
    _count: int = 0

    def find(self, line: bytes) -> tuple[LineTemplate, tuple[bytes, ...]] | None:
        """The template of a line and the line's numbers, as digits."""
        for template in self._known.get(line.translate(None, DIGITS), ()):
            found = template.pattern.fullmatch(line)
            if found is not None:
                return template, found.groups()
        return None

    def learn(self, line: bytes, value: dict[str, Any], operation: Operation | UnknownOperation) -> None:
        """A line was read the careful way."""
        if self._count >= MOST_TEMPLATES:
            return
        key = line.translate(None, DIGITS)
        if key not in self._seen:
            if len(self._seen) >= MOST_SEEN:
                self._seen.clear()
            self._seen.add(key)
            return
        known = self._known.setdefault(key, [])
        if len(known) < MOST_OF_A_TEXT:
            self._count += 1
            template = template_of(line, value, operation)
            if template is not None:
                known.append(template)
