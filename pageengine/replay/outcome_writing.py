"""Writing of an outcome: JSON Lines, compressed by name (docs/spec/trace-format.md 2)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from msgspec import to_builtins

from pageengine.running.engine import Engine
from pageengine.trace.streams import writing_lines
from pageengine.trace.writing import line_text

_NO_FILES = '"page_files":{'


class OutcomeWriter:
    """Writer of an outcome's lines to a text file."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def line(self, line: dict[str, Any]) -> None:
        """Write one line, any but the last."""
        self._stream.write(line_text(line))

    def end(self, engine: Engine) -> None:
        """Write the last line, page file by page file: with a million messages it is longer than memory should hold."""
        before, opening, after = line_text(engine.finish(pages=False).as_json()).partition(_NO_FILES)
        self._stream.write(before + opening)
        for n, (address, pages) in enumerate(engine.page_files()):
            self._stream.write(f"{',' if n else ''}{line_text(address)[:-1]}:[")
            for at, page in enumerate(pages):
                self._stream.write(("," if at else "") + line_text(to_builtins(page))[:-1])
            self._stream.write("]")
        self._stream.write(after)


@contextmanager
def writing_outcome(path: Path) -> Iterator[OutcomeWriter]:
    """Open a file for the lines of an outcome; it appears when the block ends without an error."""
    with writing_lines(path) as stream:
        yield OutcomeWriter(stream)
