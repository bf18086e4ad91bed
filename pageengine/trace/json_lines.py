"""The lines of a trace as JSON Lines (docs/spec/trace-format.md 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pageengine.trace.decoding import IRREGULAR, BadValue, decode_line, json_value
from pageengine.trace.streams import Ending, numbered_lines

_BLANK = b" \t\r"


def json_lines(
    path: Path, cut: Callable[[str], None], advance: Callable[[int], None] | None
) -> Iterator[tuple[int, Any]]:
    """Yield the non-blank lines in order: number (from 1), and an Operation, a JSON value or a ``BadValue``.

    ``cut`` is called with a warning if the file or its compressed stream ends early, before the first incomplete line.
    A complete line is never taken for an incomplete one. Raises ``StreamError`` for damaged compression, ``OSError``.
    """
    ending = Ending()
    number = 0
    broken: tuple[int, BadValue] | None = None
    for number, line in enumerate(numbered_lines(path, ending, advance=advance), 1):
        if broken is not None:
            yield broken
            broken = None
        try:
            value: Any = decode_line(line)
        except IRREGULAR:
            if not line.strip(_BLANK):
                continue
            try:
                value = json_value(line)
            except BadValue as err:
                # malformed if another line follows; the last line of the file may be cut off instead
                broken = number, err
                continue
        yield number, value
    if broken is not None and ending.newline:
        yield broken
    elif broken is not None:
        number -= 1
    if ending.cut and number:
        cut(f"{path}: the compressed stream is cut off after line {number}; everything before it was read")
    elif ending.cut:
        cut(f"{path}: the compressed stream is cut off in line 1")
    elif broken is not None and not ending.newline:
        cut(f"{path}: line {number + 1} is cut off" + ("; everything before it was read" if number else ""))
