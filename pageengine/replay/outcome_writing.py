"""Writing an outcome: JSON Lines, compressed by name (docs/spec/trace-format.md 2)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import msgspec

from pageengine.trace.streams import writing_lines


@dataclass(frozen=True, slots=True)
class OutcomeWriter:
    """Takes the lines of an outcome as JSON objects, in order."""

    stream: IO[str]

    def line(self, value: dict[str, Any]) -> None:
        """Write one line."""
        self.stream.write(line_text(value))


def line_text(value: dict[str, Any]) -> str:
    """One line with its newline. Lone surrogates, which Java strings may hold, become escapes."""
    try:
        return msgspec.json.encode(value).decode() + "\n"
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")) + "\n"


@contextmanager
def writing_outcome(path: Path) -> Iterator[OutcomeWriter]:
    """An outcome file, which appears when the block ends without an error."""
    with writing_lines(path) as stream:
        yield OutcomeWriter(stream)
