"""Checks that all operations of a trace need, whatever file they come from (docs/spec/trace-format.md 1.2 and 1.4).

``Interpreter`` handles one operation after the other: numbers them, carries the clock on, refuses what contradicts
the lines before, counts unknown keys.
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
    """Error for a trace that cannot be read on: file, line or row, reason."""


@dataclass(frozen=True, slots=True)
class MalformedLine:
    """Line (from 1; in Parquet a row from 1) that is no operation, and why."""

    i: int
    t: int
    line: int
    reason: str


Item = Operation | MalformedLine


class SeqSet:
    """Set of the numbers used so far; a run of consecutive ones is kept as its two ends."""

    __slots__ = ("_end", "_others", "_start")

    def __init__(self) -> None:
        self._start = self._end = 0
        self._others: set[int] = set()

    def add(self, seq: int) -> bool:
        """Add a number; return False if it was in the set already."""
        # the common case, the next number, only moves the end; numbers ahead wait in ``_others`` to be joined
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
    """State of reading one trace. ``ignored``: how often each unknown key occurred, by name."""

    ignored: dict[str, int] = field(default_factory=dict)
    i: int = 0
    t: int = 0
    _started: bool = False
    _seqs: SeqSet = field(default_factory=SeqSet)

    def header(self, value: Any, default_name: str) -> TraceHeader:
        """Return the header in line 1, parsed as JSON; raise ``BadValue``."""
        header, unknown = header_of(value, default_name)
        self._ignore(unknown)
        return header

    def operation(self, value: Any) -> Operation:
        """Check and number the next operation, already decoded or a JSON value.

        Raises ``BadValue``; ``skip`` passes over the line.
        """
        unknown: Sequence[str] = ()
        if type(value) is not Send and not isinstance(value, Operation):
            value, unknown = operation_of(value)
        operation: Operation = value
        if operation.t < self.t:
            if operation.t == LOWEST:
                operation.t = self.t
            elif self._started:
                raise BadValue(f"'t' goes backwards: {operation.t} after {self.t}")
        if type(operation) is Send:
            if operation.size > _LONGEST_TEXT and operation.type is MessageType.TEXT and operation.text is None:
                raise BadValue(f"'size' must be at most {_LONGEST_TEXT} for text, whose letters are two bytes each")
            if not self._seqs.add(operation.seq):
                raise BadValue(f"'seq' {operation.seq} was used before")
        if unknown:
            self._ignore(unknown)
        self.t, self._started = operation.t, True
        operation.i = self.i
        self.i += 1
        return operation

    def skip(self) -> None:
        """Count the line that ``operation`` refused."""
        self.i += 1

    def _ignore(self, names: Sequence[str]) -> None:
        for name in names:
            self.ignored[name] = self.ignored.get(name, 0) + 1
