"""``pages decode`` to Parquet and Arrow: the rows of the table, chosen as the other formats choose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from golden_cases import GoldenCase, cases
from pagectl.app import run
from program import DECODE

from pagefmt.codec.pages.page import Page
from pagefmt.codec.pages.record import PageRecord
from pagefmt.describe.arrow_schema import VALUE
from pagefmt.describe.message_json import MessageOptions, record_json
from pagefmt.directory.edition_evidence import likely_writer
from pagefmt.editions import NEWEST
from pagefmt.table.table import PageSource, TableQuery, page_batches
from pagefmt.table.table_files import ARROW, table_file
from pagefmt.vectors import load_state

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
    [
        [],
        ["--outstanding"],
        ["--queue", "red.news"],
        ["--queue", "part.news", "--outstanding"],
        ["--page", "2:3"],
        ["--where", "color = 'blue'"],
        ["--limit", "7"],
        ["--where", "seq > 40", "--queue", "red.news", "--limit", "3"],
    ],
    ids=" ".join,
)
def test_tables_choose_as_json_lines_do(
    form: str, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / f"out.{form}"
    assert run([*DECODE, str(CASE.data()), "--to", str(out), *words]) == 0
    capsys.readouterr()
    assert run([*DECODE, str(CASE.data()), "--format", "jsonl", *words]) == 0
    expected = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = table(out)
    same = (
        "store",
        "store_address",
        "page",
        "number",
        "offset",
        "length",
        "tx",
        "queues",
        "acked_by",
        "id",
        "priority",
        "address",
        "type_name",
        "body_size",
        "timestamp",
        "durable",
        "user_id",
    )
    assert [{key: row[key] for key in same} for row in found] == [{key: row[key] for key in same} for row in expected]


def test_damage_is_named_and_gives_status_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.parquet"
    assert run([*DECODE, str(TORN.data()), "--to", str(out), "--body", "base64"]) == 1
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
    assert run([*DECODE, str(CASE.data()), *(word.format(tmp_path) for word in words)]) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_nothing_is_left_of_a_table_below_the_directory(tmp_path: Path) -> None:
    data = CASE.copy(tmp_path)
    assert run([*DECODE, str(data), "--to", str(data / "paging" / "x.parquet")]) == 2
    assert not list(data.rglob("*parquet*"))


SAME = (
    "tx",
    "queues",
    "large_type",
    "persister",
    "protocol",
    "id",
    "durable",
    "priority",
    "timestamp",
    "expiration",
    "type",
    "type_name",
    "large",
)
TEXTS = ("address", "user_id")


@pytest.mark.parametrize("case", cases("2.10.1", "2.17.0", "2.28.0", "2.44.0"), ids=str)
def test_tables_say_what_json_says(case: GoldenCase) -> None:
    # AMQP messages are decoded as by the writer's edition, the default for JSON.
    data = case.data()
    state = load_state(data / "paging", data / "journal", data / "bindings")
    edition = likely_writer(state.bindings, state.journal) or NEWEST
    for store in state.stores():
        for page in store.store.pages:
            source = PageSource(page.path, page.number, "s", None, None, edition=edition)
            rows = [
                row
                for batch in page_batches(source, TableQuery())
                if isinstance(batch, pa.RecordBatch)
                for row in batch.to_pylist()
            ]
            found = dict(Page(page.path.read_bytes()).records())
            for row in rows:
                record = found[row["number"]]
                if not isinstance(record, PageRecord):
                    continue
                said = record_json(page.number, row["number"], record, MessageOptions(edition=edition))
                assert {name: row[name] for name in SAME} == {name: said[name] for name in SAME}, page.path
                assert [row[name] for name in TEXTS] == [_as_utf8(said[name]) for name in TEXTS]
                kinds = {_as_utf8(name): kind for name, kind in said["property_types"].items()}
                shown = ("string", "boolean", "int", "null")
                assert {name for name, _ in row["properties"]} == {_as_utf8(name) for name in said["properties"]}
                assert kinds == {name: value["type"] for name, value in row["properties"] if value["type"] not in shown}


def _as_utf8(text: str | None) -> str | None:
    return None if text is None else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@pytest.mark.parametrize("rows", [4, 64, 5000])
def test_an_arrow_file_has_nothing_of_what_a_slice_was_cut_from(rows: int, tmp_path: Path) -> None:
    # Columns that are equal in many messages are slices of longer, cached ones.
    one = pa.array([[("name", {"type": "string", "long": None})]], pa.map_(pa.string(), VALUE))
    written = []
    for length in (3, rows):
        batch = pa.record_batch([one.take(pa.array([0] * length)).slice(0, 3)], ["properties"])
        with table_file(tmp_path / "x.arrow", ARROW, batch.schema) as out:
            out.write_batch(batch)
        written.append((tmp_path / "x.arrow").read_bytes())
    assert written[0] == written[1] and table(tmp_path / "x.arrow") == batch.to_pylist()
