"""Writing a trace: the name decides the form (``.parquet``; else JSON Lines, ``.gz`` and ``.zst`` compressed).

The same operations give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from pageengine.trace.forms import FORMS, write_operation
from pageengine.trace.operations import Operation, Send, SettingsChange, TraceHeader
from pageengine.trace.send_form import write_send
from pageengine.trace.streams import writing_lines
from pagefmt.bytes.writing import atomic_file


def operation_object(operation: Operation) -> dict[str, Any]:
    """The JSON object of an operation, without defaults but with its time."""
    line: dict[str, Any] = {"t": operation.t, "op": operation.op}
    if isinstance(operation, Send):
        line.update(write_send(operation))
    elif isinstance(operation, SettingsChange):
        line.update({"match": operation.match, **dict(operation.values)})
    else:
        line.update(write_operation(FORMS[operation.op], operation))
    return line


def header_object(header: TraceHeader) -> dict[str, Any]:
    """The JSON object of line 1: the version first, then what is not the default."""
    line: dict[str, Any] = {"trace": header.trace, "name": header.name}
    for one in fields(TraceHeader):
        value = getattr(header, one.name)
        if one.name not in line and value != one.default:
            line[one.name] = value
    return line


def write_trace(
    path: Path, header: TraceHeader, operations: Iterable[Operation], notes: dict[int, str] | None = None
) -> int:
    """Write the whole trace, streamed; returns the number of operations. ``notes``: a remark by operation number."""
    lines = _noted(operations, notes or {})
    if path.suffix == ".parquet":
        from pageengine.trace.parquet import write_parquet

        with atomic_file(path) as fresh:
            return write_parquet(fresh, header_object(header), lines)
    count = 0
    with writing_lines(path) as out:
        out.write(_text(header_object(header)))
        for line in lines:
            out.write(_text(line))
            count += 1
    return count


def _noted(operations: Iterable[Operation], notes: dict[int, str]) -> Iterator[dict[str, Any]]:
    for operation in operations:
        line = operation_object(operation)
        if operation.i in notes:
            line["note"] = notes[operation.i]
        yield line


def _text(line: dict[str, Any]) -> str:
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(line, separators=(",", ":"))
    return text + "\n"
