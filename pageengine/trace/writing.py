"""Writing of a trace: the name decides about the form (``.parquet``; else JSON Lines, ``.gz`` and ``.zst`` compressed).

The same operations give the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from pageengine.trace.message_properties import write_properties
from pageengine.trace.operations import CreateQueue, OpenConsumer, Operation, Send, SettingsChange, TraceHeader
from pageengine.trace.streams import writing_lines
from pagefmt.storage.writing import atomic_file


def operation_object(operation: Operation) -> dict[str, Any]:
    """Return the JSON object of an operation, without defaults but with its time."""
    line: dict[str, Any] = {"t": operation.t, **msgspec.to_builtins(operation)}
    line.pop("", None)
    if isinstance(operation, Send):
        line["props"] = write_properties(operation.props)
        if not operation.props:
            del line["props"]
    elif isinstance(operation, SettingsChange):
        line.update(line.pop("values", ()))
    elif isinstance(operation, CreateQueue) and operation.address == operation.queue:
        del line["address"]
    elif isinstance(operation, OpenConsumer) and operation.session == f"c-{operation.consumer}":
        del line["session"]
    return line


def write_trace(path: Path, header: TraceHeader, operations: Iterable[Operation]) -> int:
    """Write the whole trace, streamed; returns the number of operations."""
    first = {"trace": header.trace, **msgspec.to_builtins(header)}
    lines = map(operation_object, operations)
    if path.suffix == ".parquet":
        from pageengine.trace.parquet import write_parquet

        with atomic_file(path) as fresh:
            return write_parquet(fresh, first, lines)
    count = 0
    with writing_lines(path) as out:
        out.write(line_text(first))
        for line in lines:
            out.write(line_text(line))
            count += 1
    return count


def line_text(line: Any) -> str:
    """Return a line of JSON with its newline; lone surrogates, which Java strings may contain, become escapes."""
    try:
        return msgspec.json.encode(line).decode() + "\n"
    except UnicodeEncodeError:
        return json.dumps(line, separators=(",", ":")) + "\n"
