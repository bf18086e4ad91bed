"""``pages decode`` to Parquet and Arrow: the rows of the table, chosen as the other formats choose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from golden_cases import cases
from pagectl.app import run

CASE = next(case for case in cases() if str(case) == "2.56.0/multicast-acks")
TORN = next(case for case in cases() if str(case) == "artemis-1.5.6/torn")


def table(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        return list(pq.read_table(path).to_pylist())
    with pa.ipc.open_file(path) as file:
        return list(file.read_all().to_pylist())


@pytest.mark.parametrize("form", ["parquet", "arrow"])
@pytest.mark.parametrize(
    "words",
    [[], ["--outstanding"], ["--queue", "red.news"], ["--queue", "part.news", "--outstanding"], ["--page", "2:3"],
     ["--where", "color = 'blue'"], ["--limit", "7"], ["--where", "seq > 40", "--queue", "red.news", "--limit", "3"]],
    ids=" ".join,
)  # fmt: skip
def test_tables_choose_as_json_lines_do(
    form: str, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / f"out.{form}"
    assert run(["pages", "decode", str(CASE.data()), "--to", str(out), *words]) == 0
    capsys.readouterr()
    assert run(["pages", "decode", str(CASE.data()), "--format", "jsonl", *words]) == 0
    expected = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = table(out)
    same = ("store", "store_address", "page", "number", "offset", "length", "tx", "queues", "acked_by", "id",
            "priority", "address", "type_name", "body_size", "timestamp", "durable", "user_id")  # fmt: skip
    assert [{key: row[key] for key in same} for row in found] == [{key: row[key] for key in same} for row in expected]


def test_damage_is_named_and_gives_status_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.parquet"
    assert run(["pages", "decode", str(TORN.data()), "--to", str(out), "--body", "base64"]) == 1
    assert "offset" in capsys.readouterr().err
    assert len(table(out)) == 24


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--format", "parquet"], "--to FILE"),
        (["--format", "parquet", "--to", "{}/x", "--body", "text,size"], "a table takes one of"),
        (["--format", "arrow", "--to", "/nowhere/x"], "/nowhere"),
        (["--format", "arrow", "--to", "/dev/null"], "not a regular file"),
    ],
)
def test_calls_that_cannot_be_carried_out(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["pages", "decode", str(CASE.data()), *(word.format(tmp_path) for word in words)]) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_nothing_is_left_of_a_table_below_the_directory(tmp_path: Path) -> None:
    data = CASE.copy(tmp_path)
    assert run(["pages", "decode", str(data), "--to", str(data / "paging" / "x.parquet")]) == 2
    assert not list(data.rglob("*parquet*"))
