"""A trace as Parquet: one row per operation (docs/spec/trace-format.md 1.3).

    i int64 · t int64 · op string · session · consumer · address · queue string · seq int64 · type string · size int64
    durable boolean · priority int32 · expire_ms int64 · body binary · props map<string, string> · xid · args string

``body`` is the text of a text message as UTF-8, else the decoded ``body_b64``; the rarer combinations, and every key
without a column, stand in ``args`` as JSON. The header is the metadata ``trace_header``.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pageengine.trace.decoding import BadValue
from pageengine.trace.items import HEADER_NAME, TraceError

PLAIN = ("session", "consumer", "address", "queue", "seq", "type", "size", "durable", "priority", "expire_ms", "xid")
SCHEMA = pa.schema(
    [
        ("i", pa.int64()),
        ("t", pa.int64()),
        ("op", pa.dictionary(pa.int32(), pa.string())),
        ("session", pa.string()),
        ("consumer", pa.string()),
        ("address", pa.string()),
        ("queue", pa.string()),
        ("seq", pa.int64()),
        ("type", pa.string()),
        ("size", pa.int64()),
        ("durable", pa.bool_()),
        ("priority", pa.int32()),
        ("expire_ms", pa.int64()),
        ("body", pa.binary()),
        ("props", pa.map_(pa.string(), pa.string())),
        ("xid", pa.string()),
        ("args", pa.string()),
    ]
)
_UNFIT = "a column does not have the type that a trace requires"
BATCH = 1 << 14
ROW_GROUP = 1 << 17


def parquet_rows(path: Path, advance: Callable[[int], None] | None) -> tuple[Any, Iterator[tuple[int, Any]]]:
    """Return the header object and the rows' contents; raise ``TraceError``, ``BadValue``."""
    try:
        file = pq.ParquetFile(path)
        metadata = file.schema_arrow.metadata or file.metadata.metadata or {}
    except (pa.ArrowException, OSError, ValueError) as err:
        raise TraceError(f"{path}: not readable as Parquet: {_first_line(err)}") from err
    text = metadata.get(HEADER_NAME.encode())
    if text is None:
        raise TraceError(f"{path}: the key-value metadata {HEADER_NAME!r} is missing; nothing was replayed")
    wanted = [name for name in file.schema_arrow.names if name in SCHEMA.names and name != "i"]
    return _loads("trace_header", text), _rows(path, file, wanted, advance)


def _rows(
    path: Path, file: pq.ParquetFile, wanted: list[str], advance: Callable[[int], None] | None
) -> Iterator[tuple[int, Any]]:
    number = 0
    try:
        for batch in file.iter_batches(BATCH, columns=wanted):
            batch.validate(full=True)
            for row in batch.to_pylist():
                number += 1
                yield number, _value(row)
            if advance is not None:
                advance(batch.num_rows)
    except (pa.ArrowException, OSError, ValueError) as err:
        raise TraceError(f"{path}: not readable as Parquet after row {number}: {_first_line(err)}") from err
    except (TypeError, ArithmeticError) as err:
        raise TraceError(f"{path}: after row {number}: {_UNFIT}") from err


def _value(row: dict[str, Any]) -> dict[str, Any] | BadValue:
    try:
        return row_to_object(row)
    except BadValue as err:
        return err
    except (TypeError, ValueError):
        return BadValue(_UNFIT)


def _first_line(err: Exception) -> str:
    return (str(err).splitlines() or [type(err).__name__])[0]


def _loads(name: str, text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as err:
        raise BadValue(f"{name!r} is not JSON: {err}") from None


def row_to_object(row: dict[str, Any]) -> dict[str, Any]:
    """Return the operation object of a row, leaving out null columns; raise ``BadValue``."""
    line = {name: value for name, value in row.items() if value is not None}
    args = line.pop("args", None)
    body = line.pop("body", None)
    props = line.pop("props", None)
    if args is not None:
        more = _loads("args", args)
        if type(more) is not dict:
            raise BadValue("'args' must hold an object")
        line = {**more, **line}
    if props is not None:
        line["props"] = {
            name: _loads(f"property {name!r}", "null" if value is None else value) for name, value in props
        }
    if body is not None:
        if line.get("type") == "text":
            line["text"] = _utf8(body)
        else:
            line["body_b64"] = base64.b64encode(body).decode("ascii")
    return line


def _utf8(body: bytes) -> str:
    try:
        return body.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise BadValue("'body' of a text message is not UTF-8") from None


def object_to_row(i: int, line: dict[str, Any]) -> dict[str, Any]:
    """Return the row of an operation object (the inverse of ``row_to_object``)."""
    remaining = dict(line)
    row: dict[str, Any] = {"i": i, "t": remaining.pop("t", None), "op": remaining.pop("op")}
    for name in PLAIN:
        row[name] = remaining.pop(name, None) if _fits(remaining.get(name)) else None
    if row["type"] == "text" and "text" in remaining:
        row["body"] = remaining.pop("text").encode("utf-8", "surrogatepass")
    elif row["type"] != "text" and "body_b64" in remaining:
        row["body"] = base64.b64decode(remaining.pop("body_b64"))
    if "props" in remaining and all(_fits(name) for name in remaining["props"]):
        row["props"] = [(name, json.dumps(value)) for name, value in remaining.pop("props").items()]
    row["args"] = json.dumps(remaining, separators=(",", ":")) if remaining else None
    return row


def _fits(value: object) -> bool:
    """Return whether a column can hold the value: a plain one, and no text with lone surrogates.

    Values that do not fit go into ``args``.
    """
    if isinstance(value, str):
        return not any("\ud800" <= letter <= "\udfff" for letter in value)
    return not isinstance(value, list | tuple | dict)


def write_parquet(path: Path, header: dict[str, Any], lines: Iterable[dict[str, Any]]) -> int:
    """Write operation objects as Parquet, a row group at a time; returns their number."""
    schema = SCHEMA.with_metadata({HEADER_NAME: json.dumps(header)})
    count = 0
    rows: list[dict[str, Any]] = []
    with pq.ParquetWriter(path, schema, compression="zstd") as out:
        for line in lines:
            rows.append(object_to_row(count, line))
            count += 1
            if len(rows) == ROW_GROUP:
                out.write_table(pa.Table.from_pylist(rows, schema=schema))
                rows.clear()
        if rows or not count:
            out.write_table(pa.Table.from_pylist(rows, schema=schema))
    return count
