"""Writing an outcome: JSON Lines, compressed by name (spec/trace-format.md 2)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from pageengine.trace.streams import writing_lines

if TYPE_CHECKING:
    from pageengine.running.paged_sends import PagedSends

MARK = 7_340_110_000_000_000_000
"""Numbers that stand for others; no name of an address holds them."""
AT_ONCE = 1000
_plain = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_escaped = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class OutcomeWriter:
    """Takes the lines of an outcome as JSON objects, in order."""

    stream: IO[str]

    def line(self, value: dict[str, Any]) -> None:
        self.stream.write(line_text(value))

    def sends(self, sends: PagedSends) -> None:
        """The lines of sends that were decided together: one line, filled in with the numbers of each."""
        rows = sends.rows()
        marks = [MARK + n for n in range(rows.shape[1])]
        form = line_text(sends.line(marks)).replace("%", "%%")
        for mark in marks:
            form = form.replace(str(mark), "%d")
        for at in range(0, len(rows), AT_ONCE):
            some = rows[at : at + AT_ONCE]
            self.stream.write(form * len(some) % tuple(some.ravel().tolist()))


def line_text(value: dict[str, Any]) -> str:
    """One line with its newline. Lone surrogates, which Java strings may hold, become escapes."""
    text = _plain(value)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            text = _escaped(value)
    return text + "\n"


@contextmanager
def writing_outcome(path: Path) -> Iterator[OutcomeWriter]:
    """An outcome file being written; what was written stays when the work stops early."""
    with writing_lines(path) as stream:
        yield OutcomeWriter(stream)
