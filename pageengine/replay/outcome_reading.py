"""Reading of an outcome, the engine's or a real broker's: JSON objects line by line (docs/spec/trace-format.md 2)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pageengine.errors import PageEngineError
from pageengine.model.outcome import OUTCOME_VERSION
from pageengine.trace.streams import Ending, numbered_lines

Line = dict[str, Any]
FullState = dict[str, dict[str, Any]]


class OutcomeError(PageEngineError):
    """Error for a file that is no outcome: file, line, reason."""


@dataclass(slots=True)
class OutcomeReader:
    """Iterable of the operation lines; then ``end`` is the end line, None in an outcome that was cut off."""

    path: Path
    header: Line
    _lines: Iterator[tuple[int, Line]]
    end: Line | None = None

    def __iter__(self) -> Iterator[Line]:
        for expected, (number, line) in enumerate(self._lines):
            if line.get("end") is True:
                self.end = line
                return
            if line.get("i") != expected:
                number_in_line = line.get("i")
                raise OutcomeError(
                    f"{self.path}: line {number}: expected operation {expected}, found {number_in_line!r}"
                )
            yield line

    def with_end(self) -> Iterator[Line]:
        """Yield the operation lines, then the end line if there is one."""
        yield from self
        if self.end is not None:
            yield self.end


def open_outcome(path: Path) -> OutcomeReader:
    """Read the header. Raises OutcomeError, StreamError, OSError."""
    lines = _objects(path)
    _number, header = next(lines, (1, {}))
    if header.get("outcome") != OUTCOME_VERSION:
        raise OutcomeError(
            f"{path}: line 1: not the header of an outcome of version {OUTCOME_VERSION}; 'replay run --outcome' "
            "writes outcomes"
        )
    return OutcomeReader(path, header, lines)


def _objects(path: Path) -> Iterator[tuple[int, Line]]:
    for number, raw in enumerate(numbered_lines(path, Ending()), 1):
        if not raw.strip():
            continue
        try:
            value = json.loads(raw)
        except (ValueError, RecursionError) as err:
            raise OutcomeError(f"{path}: line {number}: not JSON: {err}") from None
        if not isinstance(value, dict) or not isinstance(value.get("state", {}), dict):
            raise OutcomeError(f"{path}: line {number}: a line of an outcome must be an object, and so must its state")
        yield number, value


@dataclass(slots=True)
class RunningState:
    """Complete state, carried on from line to line."""

    parts: FullState = field(default_factory=dict)

    def apply(self, line: Line) -> dict[str, set[str] | None]:
        """Apply the changes of a line; returns the changed fields by part (None: the part was removed)."""
        changed: dict[str, set[str] | None] = {}
        for part, fields in (line.get("state") or {}).items():
            if not isinstance(fields, dict):
                self.parts.pop(part, None)
                changed[part] = None
                continue
            kept = self.parts.setdefault(part, {})
            for name, value in fields.items():
                if value is None:
                    kept.pop(name, None)
                else:
                    kept[name] = value
            changed[part] = set(fields)
        return changed
