"""What the operations of a trace have in common, whatever file they come from (docs/spec/trace-format.md 1.2 and 1.4).

``Interpreter`` takes one operation after the other: numbers them, carries the clock on, refuses what does not follow
from the lines before, counts unknown keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pageengine.errors import PageEngineError
from pageengine.trace.decoding import BadValue, header_of, operation_of
from pageengine.trace.operations import LOWEST, MessageType, Operation, Send, TraceHeader

HEADER_NAME = "trace_header"
_LONGEST_TEXT = (2**31 - 1 - 5) // 2


class TraceError(PageEngineError):
    """A trace that cannot be read on: file, line or row, reason."""


@dataclass(frozen=True, slots=True)
class MalformedLine:
    """A line (from 1; in Parquet a row from 1) that is no operation, and why."""

    i: int
    t: int
    line: int
    reason: str


Item = Operation | MalformedLine


class SeqSet:
    """The numbers used so far; a run of consecutive ones is kept as its two ends."""

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
    """State of reading one trace. ``ignored``: how often each unknown key was met, by name."""

    ignored: dict[str, int] = field(default_factory=dict)
    i: int = 0
    t: int = 0
    _started: bool = False
    _seqs: SeqSet = field(default_factory=SeqSet)

    def header(self, value: Any, default_name: str) -> TraceHeader:
        """Line 1, as JSON. Raises BadValue."""
        header, unknown = header_of(value, default_name)
        self._ignore(unknown)
        return header

    def operation(self, value: Any) -> Operation:
        """The next operation, of one as it was decoded or of a JSON value. Raises BadValue; ``skip`` passes over it."""
        unknown: Sequence[str] = ()
        if type(value) is not Send and not isinstance(value, Operation):
            value, unknown = operation_of(value)
        found: Operation = value
        if found.t < self.t:
            if found.t == LOWEST:
                found.t = self.t
            elif self._started:
                raise BadValue(f"'t' goes backwards: {found.t} after {self.t}")
        if type(found) is Send:
            if found.size > _LONGEST_TEXT and found.type is MessageType.TEXT and found.text is None:
                raise BadValue(f"'size' must be at most {_LONGEST_TEXT} for text, whose letters are two bytes each")
            if not self._seqs.add(found.seq):
                raise BadValue(f"'seq' {found.seq} was used before")
        if unknown:
            self._ignore(unknown)
        self.t, self._started = found.t, True
        found.i = self.i
        self.i += 1
        return found

    def skip(self) -> None:
        """Count the line that ``operation`` refused."""
        self.i += 1

    def _ignore(self, names: Sequence[str]) -> None:
        for name in names:
            self.ignored[name] = self.ignored.get(name, 0) + 1
