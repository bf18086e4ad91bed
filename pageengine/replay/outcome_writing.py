"""Writing an outcome: JSON Lines, compressed by name (docs/spec/trace-format.md 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pageengine.trace.streams import writing_lines
from pageengine.trace.writing import line_text


@contextmanager
def writing_outcome(path: Path) -> Iterator[Callable[[dict[str, Any]], object]]:
    """A function that writes the next line of an outcome; the file appears when the block ends without an error."""
    with writing_lines(path) as stream:
        yield lambda line: stream.write(line_text(line))
