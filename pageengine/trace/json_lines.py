"""The lines of a trace as JSON Lines: each one read with care, or recognised (spec/trace-format.md 1)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pageengine.trace.forms import BadValue
from pageengine.trace.items import Interpreter, Item, UnknownOperation
from pageengine.trace.operations import Operation, Send
from pageengine.trace.send_run import SendRun
from pageengine.trace.streams import Ending, blocks_of_lines, lines_of
from pageengine.trace.templates import LineTemplate, Templates

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BLANK = b" \t\r"
STREAK = 8
"""So many lines of one template in a row, and those that follow are looked at all at once."""
FIRST_LOOK = 64
LONGEST_STREAK = 1024


@dataclass(frozen=True, slots=True)
class Unread:
    """What stands on a line (from 1): a JSON value or a BadValue. ``learn`` takes its operation."""

    number: int
    value: Any
    learn: Callable[[Operation | UnknownOperation], None] | None = None


Found = Unread | Item | SendRun


def json_lines(
    path: Path, interpreter: Interpreter, cut: Callable[[str], None], advance: Callable[[int], None] | None
) -> Iterator[Found]:
    """What the lines hold, in order, the header first. Blank lines are left out; ``cut`` is told of a cut-off end."""
    lines = _Lines(interpreter)
    ending = Ending()
    for block in blocks_of_lines(path, ending, advance=advance):
        yield from lines.of(block)
    number, last = lines.number, lines.held
    if ending.cut:
        cut(f"{path}: the compressed stream is cut off after line {number}; what came before was read")
    elif last is not None and not ending.newline:
        cut(f"{path}: line {number} is cut off; everything before it was read")
    if last is not None and ending.newline and not ending.cut:
        yield last


@dataclass(slots=True)
class _Lines:
    interpreter: Interpreter
    templates: Templates = field(default_factory=Templates)
    number: int = 0
    streak: int = 0
    wanted: int = STREAK
    latest: LineTemplate | None = None
    held: Unread | None = None
    """The line that was last, where it is no JSON: what comes behind it decides whether it is malformed or cut off."""

    def of(self, block: bytes) -> Iterator[Found]:
        """What each line of a block holds."""
        lines = lines_of(block)
        at = 0
        starts: NDArray[np.int64] | None = None
        while at < len(lines):
            if self.held is not None:
                yield self.held
                self.held = None
            line = lines[at]
            self.number += 1
            at += 1
            found = self._recognised(line)
            if found is None:
                self.streak = 0
                unread = self._careful(line)
                if unread is not None:
                    yield unread
                continue
            yield found
            if self.streak >= self.wanted and at < len(lines):
                if starts is None:
                    starts = _starts(block)
                run = self._run(block, starts, at)
                if run is not None:
                    self.number += len(run)
                    at += len(run)
                    yield run

    def _recognised(self, line: bytes) -> Item | None:
        known = self.templates.find(line)
        if known is None:
            return None
        template, numbers = known
        self.streak = self.streak + 1 if template is self.latest else 1
        self.latest = template
        return self.interpreter.templated(template, numbers)

    def _careful(self, line: bytes) -> Unread | None:
        try:
            text = line.strip(_BLANK).decode()
            if not text:
                return None
            value, end = _decode(text)
            if end != len(text):
                raise ValueError(f"something follows the value at column {end + 1}")
        except (ValueError, RecursionError) as err:
            self.held = Unread(self.number, _not_json(err))
            return None

        def learn(item: Operation | UnknownOperation) -> None:
            self.templates.learn(line, value, item)

        return Unread(self.number, value, learn)

    def _run(self, block: bytes, starts: NDArray[np.int64], at: int) -> SendRun | None:
        """The lines from ``at`` on that are sends of the latest template."""
        import numpy as np

        template = self.latest
        assert template is not None
        if type(template.operation) is not Send or "seq" not in template.names:
            return None
        characters = np.frombuffer(block, np.uint8)
        whole = len(starts) - 1
        look = min(at + FIRST_LOOK, whole)
        count, columns = template.columns(characters, starts[at:look], starts[at + 1 : look + 1] - 1)
        if count == FIRST_LOOK:
            count, columns = template.columns(characters, starts[at:whole], starts[at + 1 :] - 1)
        self.wanted = STREAK if count >= STREAK else min(2 * self.wanted, LONGEST_STREAK)
        self.streak = 0
        return self.interpreter.run(template.operation, columns, count) if count else None


def _starts(block: bytes) -> NDArray[np.int64]:
    """Where lines that end with a newline begin, and where the next one would."""
    import numpy as np

    return np.concatenate(([0], np.flatnonzero(np.frombuffer(block, np.uint8) == ord("\n")) + 1))


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


_decode = json.JSONDecoder(parse_constant=_refuse).raw_decode


def _not_json(err: Exception) -> BadValue:
    if isinstance(err, json.JSONDecodeError):
        return BadValue(f"not JSON: {err.msg} at column {err.colno}")
    if isinstance(err, UnicodeDecodeError):
        return BadValue(f"not UTF-8 at byte {err.start} of the line")
    if isinstance(err, RecursionError):
        return BadValue("not readable: nested too deeply")
    return BadValue(f"not JSON: {err}")
