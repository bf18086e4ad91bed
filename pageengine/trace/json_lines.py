"""The lines of a trace as JSON Lines, parsed, or recognised by a template (docs/spec/trace-format.md 1)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pageengine.trace.forms import BadValue
from pageengine.trace.items import Interpreter
from pageengine.trace.operations import Operation
from pageengine.trace.streams import Ending, blocks_of_lines, lines_of
from pageengine.trace.templates import Templates
from pageengine.trace.unread import Item, UnknownOperation, Unread

_BLANK = b" \t\r"


def json_lines(
    path: Path, interpreter: Interpreter, cut: Callable[[str], None], advance: Callable[[int], None] | None
) -> Iterator[Unread | Item]:
    """The lines in order, the header first, without blank ones; ``cut`` is told when the file ends in mid-line.

    Raises StreamError for damaged compression, OSError.
    """
    templates = Templates()
    ending = Ending()
    number = 0
    broken: Unread | None = None
    for block in blocks_of_lines(path, ending, advance=advance):
        for line in lines_of(block):
            if broken is not None:
                yield broken
                broken = None
            number += 1
            known = templates.find(line)
            item = interpreter.templated(*known) if known is not None else None
            if item is not None:
                yield item
                continue
            unread = _parsed(line, number, templates)
            if unread is not None and type(unread.value) is BadValue:
                # malformed if another line follows; the last line of the file may be cut off instead
                broken = unread
            elif unread is not None:
                yield unread
    if ending.cut:
        cut(f"{path}: the compressed stream is cut off after line {number}; what came before was read")
    elif broken is not None and not ending.newline:
        cut(f"{path}: line {number} is cut off; everything before it was read")
    elif broken is not None:
        yield broken


def _parsed(line: bytes, number: int, templates: Templates) -> Unread | None:
    """A line as JSON; None for a blank one."""
    try:
        text = line.strip(_BLANK).decode()
        if not text:
            return None
        value, end = _decode(text)
        if end != len(text):
            raise ValueError(f"something follows the value at column {end + 1}")
    except (ValueError, RecursionError) as err:
        return Unread(number, _not_json(err))

    def learn(operation: Operation | UnknownOperation) -> None:
        templates.learn(line, value, operation)

    return Unread(number, value, learn)


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
