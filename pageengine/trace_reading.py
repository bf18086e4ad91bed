"""Reading a trace: JSON Lines (plain, gzip, zstd) or Parquet, one operation at a time (spec/trace-format.md 1)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pageengine.line_streams import Ending, numbered_lines
from pageengine.operation_forms import BadValue
from pageengine.operations import TraceHeader
from pageengine.trace_lines import Interpreter, Item, MalformedLine, TraceError

PARQUET = b"PAR1"
_BLANK = b" \t\r"


@dataclass(slots=True)
class TraceReader:
    """A trace being read: iterate over it once, then look at ``warnings``.

    ``skip_bad_lines``: a malformed line comes out as a MalformedLine; without it, it is a TraceError before anything
    behind it is read. ``advance`` is told the bytes read, or the rows of a Parquet file. Errors: TraceError, OSError.
    """

    path: Path
    header: TraceHeader
    parquet: bool
    skip_bad_lines: bool
    cut: str | None = None
    _interpreter: Interpreter = field(default_factory=Interpreter)
    _values: Iterator[tuple[int, Any]] = field(default_factory=lambda: iter(()))

    def __iter__(self) -> Iterator[Item]:
        interpreter = self._interpreter
        read = interpreter.operation
        for number, value in self._values:
            try:
                if type(value) is BadValue:
                    raise value
                yield read(value)
            except BadValue as err:
                yield self._refuse(number, str(err))

    def _refuse(self, number: int, reason: str) -> MalformedLine:
        if not self.skip_bad_lines:
            where = f"{'row' if self.parquet else 'line'} {number}"
            advice = (
                f"operation {self._interpreter.i} and what follows were not applied; --skip-bad-lines passes over it"
            )
            raise TraceError(f"{self.path}: {where}: {reason} ({advice})")
        self._interpreter.skip()
        return MalformedLine(self._interpreter.i - 1, self._interpreter.t, number, reason)

    @property
    def warnings(self) -> list[str]:
        """What was ignored or missing, for a person; complete once the trace was read to its end."""
        found = [
            f"{self.path}: unknown key {name!r} ignored, {count} time{'s' * (count > 1)}"
            for name, count in sorted(self._interpreter.ignored.items())
        ]
        return [*found, self.cut] if self.cut else found


def open_trace(
    path: Path, *, skip_bad_lines: bool = False, advance: Callable[[int], None] | None = None
) -> TraceReader:
    """Read the header; the operations follow when the reader is iterated over. Errors: TraceError, OSError."""
    parquet = path.is_file() and _starts_with(path, PARQUET)
    interpreter = Interpreter()
    reader = TraceReader(path, TraceHeader(path.name), parquet, skip_bad_lines, None, interpreter)
    try:
        if parquet:
            from pageengine.trace_parquet import parquet_rows

            line, reader._values = parquet_rows(path, advance)
        else:
            reader._values = _json_values(reader, advance)
            _number, line = next(reader._values, (1, None))
            if type(line) is BadValue:
                raise line
        reader.header = interpreter.header(line, path.name)
    except BadValue as err:
        raise TraceError(f"{path}: line 1: {err}; nothing was replayed") from None
    return reader


def _starts_with(path: Path, magic: bytes) -> bool:
    """A pipe is not asked: what is read from it is gone."""
    with path.open("rb") as file:
        return file.read(len(magic)) == magic


def _json_values(reader: TraceReader, advance: Callable[[int], None] | None) -> Iterator[tuple[int, Any]]:
    """Line numbers from 1 and what stands on the lines; a BadValue where that is no JSON. Blank lines are left out."""
    ending = Ending()
    decode = _decoder().raw_decode
    number = 0
    last: tuple[int, BadValue] | None = None
    for raw in numbered_lines(reader.path, ending, advance=advance):
        number += 1
        if last is not None:
            yield last
            last = None
        try:
            line = raw.strip(_BLANK).decode()
            if not line:
                continue
            value, end = decode(line)
            if end != len(line):
                raise ValueError(f"something follows the value at column {end + 1}")
        except (ValueError, RecursionError) as err:
            last = number, _not_json(err)
            continue
        yield number, value
    if ending.cut:
        reader.cut = f"{reader.path}: the compressed stream is cut off after line {number}; what came before was read"
    if last is None:
        return
    if not ending.newline or ending.cut:
        if reader.cut is None:
            reader.cut = f"{reader.path}: line {number} is cut off; everything before it was read"
    else:
        yield last


def _not_json(err: Exception) -> BadValue:
    if isinstance(err, json.JSONDecodeError):
        return BadValue(f"not JSON: {err.msg} at column {err.colno}")
    if isinstance(err, UnicodeDecodeError):
        return BadValue(f"not UTF-8 at byte {err.start} of the line")
    if isinstance(err, RecursionError):
        return BadValue("not readable: nested too deeply")
    return BadValue(f"not JSON: {err}")


def _decoder() -> json.JSONDecoder:
    def refuse(name: str) -> Any:
        raise ValueError(f"{name} is no JSON number")

    return json.JSONDecoder(parse_constant=refuse)
