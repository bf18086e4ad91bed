"""Reading of a trace, one operation at a time: JSON Lines (plain, gzip, zstd) or Parquet.

Source: docs/spec/trace-format.md 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from brokerconf.reading.decoding import read_at_most

from pageengine.trace.decoding import BadValue
from pageengine.trace.items import Interpreter, Item, MalformedLine, TraceError
from pageengine.trace.json_lines import json_lines
from pageengine.trace.operations import OpenSession, Send, TraceHeader

PARQUET = b"PAR1"
FORESIGHT = 1000


@dataclass(slots=True)
class TraceReader:
    """Trace being read: iterate over it once, then look at ``warnings``.

    ``skip_bad_lines``: a malformed line is returned as a MalformedLine; without it, it is a TraceError before anything
    after it is read. ``advance`` is called with the bytes read, or the rows of a Parquet file. Raises TraceError,
    OSError.
    """

    path: Path
    header: TraceHeader
    parquet: bool
    skip_bad_lines: bool
    cut: str | None = None
    _interpreter: Interpreter = field(default_factory=Interpreter)
    _values: Iterator[tuple[int, Any]] = field(default_factory=lambda: iter(()))

    def __iter__(self) -> Iterator[Item]:
        read = self._interpreter.operation
        for number, value in self._values:
            try:
                if type(value) is BadValue:
                    raise value
                item: Item = read(value)
            except BadValue as err:
                item = self._refuse(number, str(err))
            yield item

    def foresees_clients(self) -> bool:
        """Return whether a session of another protocol than core opens before the first send.

        Reads ahead up to that send; what was read is returned again by later reads.
        """
        ahead: list[tuple[int, Any]] = []
        has_client = False
        for number, value in self._values:
            ahead.append((number, value))
            op = value.get("op") if type(value) is dict else None
            if type(value) is OpenSession or op == "open_session":
                protocol = value.get("protocol", "core") if op is not None else value.protocol.value
                has_client = protocol != "core"
            if has_client or type(value) is Send or op == "send" or len(ahead) == FORESIGHT:
                break
        self._values = chain(ahead, self._values)
        return has_client

    def _refuse(self, number: int, reason: str) -> MalformedLine:
        if not self.skip_bad_lines:
            where = f"{'row' if self.parquet else 'line'} {number}"
            advice = f"operation {self._interpreter.i} and all later ones were not applied; --skip-bad-lines skips it"
            raise TraceError(f"{self.path}: {where}: {reason} ({advice})")
        self._interpreter.skip()
        return MalformedLine(self._interpreter.i - 1, self._interpreter.t, number, reason)

    def _end(self, cut: str) -> None:
        self.cut = cut

    @property
    def warnings(self) -> list[str]:
        """Return what was ignored or missing, for a person; complete once the trace was read to its end."""
        ignored = [
            f"{self.path}: unknown key {name!r} ignored, {count} time{'s' * (count > 1)}"
            for name, count in sorted(self._interpreter.ignored.items())
        ]
        return [*ignored, self.cut] if self.cut else ignored


def open_trace(
    path: Path, *, skip_bad_lines: bool = False, advance: Callable[[int], None] | None = None
) -> TraceReader:
    """Read the header; the operations follow when the reader is iterated over. Raises TraceError, OSError."""
    parquet = path.is_file() and _starts_with(path, PARQUET)
    interpreter = Interpreter()
    reader = TraceReader(path, TraceHeader(path.name), parquet, skip_bad_lines, None, interpreter)
    try:
        if parquet:
            from pageengine.trace.parquet import parquet_rows

            line, reader._values = parquet_rows(path, advance)
        else:
            reader._values = json_lines(path, reader._end, advance)
            _number, line = next(reader._values, (1, None))
            if type(line) is BadValue:
                raise line
            if line is None and reader.cut is not None:
                raise TraceError(f"{reader.cut}, so that there is no header; nothing was replayed")
        reader.header = interpreter.header(line, path.name)
    except BadValue as err:
        raise TraceError(f"{path}: line 1: {err}; nothing was replayed") from None
    return reader


def _starts_with(path: Path, magic: bytes) -> bool:
    """Return whether a regular file begins with these bytes; not for pipes, which cannot be read twice."""
    return read_at_most(path, len(magic)).startswith(magic)
