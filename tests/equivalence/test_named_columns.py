"""``--columns``: rows that are JSON objects and rows of Arrow tables have the same in every column."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from golden_cases import GoldenCase, cases
from pagectl.decoding.columns import COLUMNS, FOR_CSV
from pagectl.options.columns import BODIES, MESSAGE_SPLITS, ORIGIN_COLUMNS, TIME_COLUMNS
from program import call

NAMES = ("amqp-jms", "amqp-sections", "core-headers", "core-types", "deleted-queue", "divert", "large-amqp", "mqtt",
         "mixed-protocols", "multicast-acks", "openwire", "stomp", "tx", "unicode", "types", "filter",
         "headers")  # fmt: skip
CASES = [case for case in cases("2.56.0", "2.10.1", "hornetq-2.4.7") if case.name in NAMES]
SINGLE = (
    "sent", "expires", "expired", "queue_names", "acked_by_names", "outstanding_names", "outstanding", "file", "id",
    "page", "number", "offset", "priority", "correlation_id", "properties.color", "properties.seq", "properties.dou",
    "properties.fl", "properties.b", "properties.mqtt.qos.level", "properties.JMSType", "amqp.properties.subject",
    "amqp.header.priority", "amqp.properties.group_sequence", "amqp.message_annotations.x-opt-note", "body_text",
)  # fmt: skip


def as_json(name: str, value: Any) -> Any:
    """Convert a table value to its form in JSON Lines."""
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.{value.microsecond // 1000:03}Z"
    return value


def text(value: Any) -> Any:
    """Return a property's value as the text that a table has."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if value is None or isinstance(value, str) else json.dumps(value)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_tables_and_lines_have_the_same(case: GoldenCase, tmp_path: Path) -> None:
    words = ("pages", "decode", case.data(), "--columns", ",".join(SINGLE))
    lines = call(*words, "--format", "jsonl").lines()
    call(*words, "--to", tmp_path / "t.parquet", "--body", "text")
    table = pq.read_table(tmp_path / "t.parquet")
    assert table.schema.names == list(SINGLE)
    assert table.schema.field("sent").type == pa.timestamp("ms", "UTC")
    rows = table.to_pylist()
    assert len(rows) == len(lines)
    for row, line in zip(rows, lines, strict=True):
        for name in SINGLE:
            if name == "body_text" and row[name] is None:
                continue  # of large messages: their files are no part of a table
            said, shown = line[name], as_json(name, row[name])
            if name.startswith("properties.") or name == "correlation_id":
                said = text(said)
                if name == "correlation_id" and shown != said:
                    said = bytes.fromhex(str(said)).decode("latin-1")
                    shown = shown.encode().decode("unicode_escape")
            assert _replaced(said) == shown, (name, line["id"])


def _replaced(value: Any) -> Any:
    """Replace lone surrogates with U+FFFD, as tables do."""
    return (
        value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace") if isinstance(value, str) else value
    )


def test_every_column_of_the_list_is_read() -> None:
    data = GoldenCase("2.56.0", "mixed-protocols").data()
    lines = call("messages", "decode", data, "--columns", ",".join(COLUMNS), "--format", "jsonl").lines()
    empty = {name for name in COLUMNS if all(line[name] is None for line in lines)}
    unset = {"damage", "large_id", "large_file", "large_size", "body_error", "body_value", "expires"}
    assert empty <= {*ORIGIN_COLUMNS, *TIME_COLUMNS, *unset}
    assert set(FOR_CSV) <= set(COLUMNS) and {f"body_{name}" for name in BODIES if name != "none"} <= set(COLUMNS)


@pytest.mark.parametrize("split", MESSAGE_SPLITS)
def test_a_split_table_has_the_same_rows(split: str, tmp_path: Path) -> None:
    data = GoldenCase("2.56.0", "mixed-protocols").data()
    answer = call("pages", "decode", data, "--to", tmp_path / "t", "--partition-by", split)
    whole = call("pages", "decode", data, "--to", tmp_path / "whole.parquet")
    assert (answer.status, whole.status) == (0, 0), answer.err
    import pyarrow.dataset as ds

    found = ds.dataset(tmp_path / "t", partitioning="hive").to_table()
    expected = pq.read_table(tmp_path / "whole.parquet")
    assert sorted(found.column("id").to_pylist()) == sorted(expected.column("id").to_pylist())
    files = sorted((tmp_path / "t").rglob("*.parquet"))
    assert f"note: {len(expected)} messages in {len(files)} file" in answer.err
    assert all(path.parent.name.startswith(f"{split}=") for path in files)
    again = call("pages", "decode", data, "--to", tmp_path / "t2", "--partition-by", split)
    assert again.status == 0
    for path in files:
        assert (tmp_path / "t2" / path.relative_to(tmp_path / "t")).read_bytes() == path.read_bytes()
