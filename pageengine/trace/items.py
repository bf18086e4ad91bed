"""What the operations of a trace have in common, whatever file they come from (docs/spec/trace-format.md 1.2 and 1.4).

``Interpreter`` turns one JSON object after the other into operations: numbers them, carries the clock on, refuses what
is malformed, counts keys that mean nothing here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pageengine.errors import PageEngineError
from pageengine.trace.forms import FORMS, HIGHEST, BadValue, integer, kind_of, read_operation, read_settings, text
from pageengine.trace.operations import TRACE_VERSION, Operation, Send, TraceHeader
from pageengine.trace.send_form import KNOWN as SEND_KEYS
from pageengine.trace.send_form import read_send
from pageengine.trace.templates import LineTemplate
from pageengine.trace.unread import UnknownOperation

HEADER_NAME = "trace_header"
_HEADER_KEYS = {
    "name": text, "start_ns": integer, "source": text, "seq_property": text, "producer_window": integer,
    "min_large_message_size": integer, "broker": text,
}  # fmt: skip
_HEADER_NULL = ("start_ns", "broker")


class TraceError(PageEngineError):
    """A trace that cannot be read on: file, line or row, reason."""


class SeqSet:
    """The numbers used so far; a run of consecutive ones takes no room."""

    __slots__ = ("_end", "_others", "_start")

    def __init__(self) -> None:
        self._start = self._end = 0
        self._others: set[int] = set()

    def add(self, seq: int) -> bool:
        """False if the number was there already."""
        if seq == self._end:
            self._end += 1
            while self._others and self._end in self._others:
                self._others.discard(self._end)
                self._end += 1
            return True
        if self._start <= seq < self._end or seq in self._others:
            return False
        if self._start == self._end:
            self._start, self._end = seq, seq + 1
        else:
            self._others.add(seq)
        return True


@dataclass(slots=True)
class Interpreter:
    """State of reading one trace. ``ignored``: key name to the number of times it was met and meant nothing."""

    ignored: dict[str, int] = field(default_factory=dict)
    i: int = 0
    t: int = 0
    _started: bool = False
    _seqs: SeqSet = field(default_factory=SeqSet)

    def header(self, line: Any, default_name: str) -> TraceHeader:
        """Line 1. Raises BadValue."""
        if type(line) is not dict or "trace" not in line:
            raise BadValue("the header is missing (an object with the key 'trace')")
        version = integer("trace", line["trace"])
        if not 1 <= version <= TRACE_VERSION:
            raise BadValue(f"format version {version} is not understood (this program reads up to {TRACE_VERSION})")
        values: dict[str, Any] = {}
        for name, value in line.items():
            check = _HEADER_KEYS.get(name)
            if check is None:
                self._ignore(name, name not in ("trace", "note"))
            elif value is not None or name not in _HEADER_NULL:
                values[name] = check(name, value)
        values.setdefault("name", default_name)
        return TraceHeader(trace=version, **values)

    def operation(self, line: Any) -> Operation | UnknownOperation:
        """The next operation. Raises BadValue; ``skip`` then passes over it."""
        if type(line) is not dict:
            raise BadValue(f"an operation must be an object, not {kind_of(line)}")
        op = line.get("op")
        if type(op) is not str:
            raise BadValue("'op' is missing" if "op" not in line else f"'op' must be text, not {kind_of(op)}")
        t = line.get("t", self.t)
        if type(t) is not int or t >> 63 not in (0, -1):
            integer("t", t)
        if t < self.t and self._started:
            raise BadValue(f"'t' goes backwards: {t} after {self.t}")
        found = self._known(op, t, line)
        self.t, self._started = t, True
        self.i += 1
        return found

    def templated(self, template: LineTemplate, digits: tuple[bytes, ...]) -> Operation | None:
        """The next operation, of a line that a template fits; None if it must be read with care."""
        first = template.operation
        t = int(digits[template.t_at]) if template.t_at >= 0 else self.t
        seq = size = 0
        if type(first) is Send:
            seq = int(digits[template.seq_at]) if template.seq_at >= 0 else first.seq
            size = int(digits[template.size_at]) if template.size_at >= 0 else first.size
        elif template.seq_at >= 0:
            seq = int(digits[template.seq_at])
        if (t < self.t and self._started) or t > HIGHEST or seq > HIGHEST or size > HIGHEST:
            return None
        if type(first) is Send and not self._seqs.add(seq):
            return None
        made = template.made(self.i, t, seq, size)
        self.t, self._started = t, True
        self.i += 1
        return made

    def skip(self) -> None:
        """Count the line that ``operation`` refused."""
        self.i += 1

    def _known(self, op: str, t: int, line: Mapping[str, Any]) -> Operation | UnknownOperation:
        if op == "send":
            send = read_send(self.i, t, line)
            if not self._seqs.add(send.seq):
                raise BadValue(f"'seq' {send.seq} was used before")
            if not SEND_KEYS.issuperset(line):
                self._ignore_others(line, SEND_KEYS)
            return send
        form = FORMS.get(op)
        if form is not None:
            found = read_operation(form, self.i, t, line)
            if not form.known.issuperset(line):
                self._ignore_others(line, form.known)
            return found
        return read_settings(self.i, t, line) if op == "settings" else UnknownOperation(self.i, t, op)

    def _ignore_others(self, line: Mapping[str, Any], known: frozenset[str]) -> None:
        for name in line:
            self._ignore(name, name not in known)

    def _ignore(self, name: str, unknown: bool) -> None:
        if unknown:
            self.ignored[name] = self.ignored.get(name, 0) + 1
