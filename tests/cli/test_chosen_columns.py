"""``--columns`` and ``--partition-by`` as they are typed: what developers are sent, and what goes wrong."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from golden_cases import GoldenCase
from made_pages import message, store
from pagectl.decoding.columns import COLUMNS, _amqp_columns
from program import DECODE, call, tree

from pagefmt.table.partitions import PartitionedTable

NEWS = GoldenCase("2.56.0", "multicast-acks")
ODD = GoldenCase("2.56.0", "odd-addresses")
TORN = GoldenCase("artemis-1.5.6", "torn")


def rows(*words: str | Path) -> list[dict[str, str]]:
    answer = call(*DECODE, *words, "--format", "csv")
    return list(csv.DictReader(io.StringIO(answer.out)))


def test_the_messages_of_one_queue_and_hour_as_csv_for_the_developers() -> None:
    """Assert that cells contain no epoch times, queue numbers or JSON."""
    found = rows(
        NEWS.data(),
        "--queue",
        "red.news",
        "--since",
        "2023-11-14T22:00Z",
        "--until",
        "2023-11-14T23:00Z",
        "--body",
        "text",
    )
    assert len(found) == 29
    for row in found:
        assert row["sent"].startswith("2023-11-14T22:1") and row["sent"].endswith("Z")
        assert "red.news" in row["queue_names"].split(", ") and row["body_text"]
        assert row["properties"].startswith("_AMQ_ROUTING_TYPE=0; color=red; seq=")
        assert not any(cell and cell[0] in "[{" for name, cell in row.items() if name != "queues_state")
    one = rows(NEWS.data(), "--columns", "sent,properties.color,properties.seq,outstanding_names", "--limit", "1")
    assert one == [
        {
            "sent": "2023-11-14T22:13:21.000Z",
            "properties.color": "green",
            "properties.seq": "1",
            "outstanding_names": "none.news",
        }
    ]


def test_what_is_not_known_is_no_empty_list(tmp_path: Path) -> None:
    data = NEWS.copy(tmp_path)
    for path in (data / "journal").iterdir():
        path.unlink()
    (data / "journal").rmdir()
    assert {row["outstanding_names"] for row in rows(data)} == {"?"}
    call(*DECODE, data, "--to", tmp_path / "t.parquet")
    assert set(pq.read_table(tmp_path / "t.parquet").column("outstanding_names").to_pylist()) == {None}


def test_text_is_an_aligned_table() -> None:
    out = call(*DECODE, NEWS.data(), "--columns", "id,properties.color", "--limit", "2").out
    assert out == "id  properties.color\n20  green\n21  blue\n"


def test_a_table_without_choice_has_times_and_names(tmp_path: Path) -> None:
    call(*DECODE, NEWS.data(), "--to", tmp_path / "t.arrow")
    with pa.ipc.open_file(tmp_path / "t.arrow") as file:
        table = file.read_all()
    assert table.schema.names[-4:] == ["sent", "expires", "queue_names", "outstanding_names"]
    assert table.schema.field("page").type == table.schema.field("timestamp").type == pa.int64()
    assert table.column("queue_names")[0].as_py() == ["none.news", "part.news", "all.news"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--columns", "adress_"), "did you mean 'address'?"),
        (("--columns", ""), "no column ''"),
        (("--columns", "id,,page"), "no column ''"),
        (("--columns", "properties."), "no column 'properties.'"),
        (("--columns", "properti.color"), "did you mean 'properties'?"),
        (("--columns", "amqp.propertis.subject"), "did you mean 'amqp.properties.subject'?"),
        (("--columns", "amqp.header.prioriti"), "did you mean 'amqp.header.priority'?"),
        (("--columns", "amqp.body.x"), "no column 'amqp.body.x'"),
        (("--columns", "adress_", "--to", "{}/x.parquet"), "did you mean 'address'?"),
        (("--columns", "amqp.properties.nothing", "--to", "{}/x.parquet"), "a table has no such column"),
        (("--columns", "body_hex", "--to", "{}/x.parquet"), "a table has no such column"),
        (("--partition-by", "id", "--to", "{}/x"), "no such column to partition by"),
        (("--partition-by", "address"), "needs --to"),
        (("--partition-by", "address", "--to", "{}/x.csv"), "csv files cannot be partitioned"),
        (("--partition-by", "address", "--format", "jsonl", "--to", "{}/x"), "jsonl files cannot be partitioned"),
    ],
    ids=str,
)
def test_calls_that_cannot_be_carried_out(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    answer = call(*DECODE, NEWS.data(), *(word.format(tmp_path) for word in words))
    assert answer.status == 2 and said in answer.err and answer.out == ""
    assert not list(tmp_path.iterdir())


def test_every_column_of_every_kind_of_message() -> None:
    amqp = GoldenCase("2.56.0", "amqp-sections").data()
    shapes = json.loads(call(*DECODE, amqp, "--format", "json", "--limit", "1").out)["messages"][0]["amqp"]
    assert {f"amqp.{name}" for name in shapes} <= {*_amqp_columns()}
    names = ",".join([*COLUMNS, *_amqp_columns(), "properties.seq", "amqp.message_annotations.x-opt-delivery-time"])
    for data in (NEWS.data(), ODD.data(), amqp):
        for form in ("text", "csv", "jsonl"):
            answer = call("messages", "decode", data, "--columns", names, "--format", form, "--limit", "3")
            assert answer.status == 0 and answer.out, answer.err
    told = call(
        "messages",
        "decode",
        "--in",
        "pages",
        NEWS.data(),
        "--columns",
        "id,properties.colr,properties.seq",
        "--limit",
        "1",
    ).err
    assert told == "note: no message seen has a property 'colr'; did you mean 'color'?\n"


def test_the_name_of_the_file_says_document_or_lines(tmp_path: Path) -> None:
    for noun in ("pages", "messages"):
        for form in ("json", "jsonl"):
            target = tmp_path / f"{noun}.{form}"
            assert call(noun, "decode", NEWS.data(), "--to", target, "--limit", "3").status == 0
            assert target.read_text() == call(noun, "decode", NEWS.data(), "--format", form, "--limit", "3").out
        assert len(json.loads((tmp_path / f"{noun}.json").read_text())["messages"]) == 3


def test_a_folder_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "t"
    words = (
        "messages",
        "decode",
        "--in",
        "pages",
        NEWS.data(),
        "--to",
        target,
        "--partition-by",
        "queue",
        "--partition-by",
        "day",
    )
    assert call(*words).status == 0
    before = tree(target)
    refused = call(*words)
    assert refused.status == 2 and "not an empty folder" in refused.err and tree(target) == before
    inside = call(
        "messages",
        "decode",
        "--in",
        "pages",
        NEWS.data(),
        "--to",
        NEWS.data() / "paging" / "t",
        "--partition-by",
        "page",
    )
    assert inside.status == 2 and not (NEWS.data() / "paging" / "t").exists()
    torn = call(
        "messages",
        "decode",
        "--in",
        "pages",
        TORN.data(),
        "--to",
        tmp_path / "torn",
        "--partition-by",
        "page",
        "--body",
        "base64",
    )
    assert torn.status == 1 and "24 messages in 4 files" in torn.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t", "torn"]


def test_names_of_partitions_lead_nowhere_else(tmp_path: Path) -> None:
    # Addresses may contain slashes, dots and equals signs.
    answer = call(*DECODE, ODD.data(), "--to", tmp_path / "t", "--partition-by", "store_address")
    assert answer.status == 0, answer.err
    assert (
        "1 value empty or too long for a folder name" in answer.err
        and "_shortened.json has the full value" in answer.err
    )
    assert {path.parent.parent for path in tmp_path.rglob("part-0.parquet")} == {tmp_path / "t"}
    whole = len(call(*DECODE, ODD.data(), "--format", "jsonl").lines())
    assert sum(len(pq.read_table(path, partitioning=None)) for path in tmp_path.rglob("*.parquet")) == whole
    assert {name for _, name in read_back(tmp_path / "t")} == {
        line["store_address"] for line in call(*DECODE, ODD.data(), "--format", "jsonl").lines()
    }


def read_back(folder: Path) -> set[tuple[int, str]]:
    """Read a table with DuckDB and pyarrow, which must agree; return id and full store address of each row."""
    whole = {}
    if (folder / "_shortened.json").exists():
        whole = json.loads((folder / "_shortened.json").read_text("utf-8"))
    sql = f"select id, store_address from read_parquet('{folder}/**/*.parquet', hive_partitioning = true)"
    found = duckdb.sql(sql).fetchall()
    table = ds.dataset(folder, partitioning="hive").to_table(columns=["id", "store_address"])
    assert sorted(found) == sorted(zip(*table.to_pydict().values(), strict=True))
    return {(number, whole.get(name, name)) for number, name in found}


LONG = (
    "漢" * 83,
    "漢" * 84,
    "é" * 124 + "x",
    "%" * 90,
    "a" * 241,
    "a" * 242,
    "a" * 240 + "bc",
    "~" * 80,
    "x~" + "0" * 16,
    "q",
    "",
    "__HIVE_DEFAULT_PARTITION__",
)


def test_long_addresses_are_whole_and_apart(tmp_path: Path) -> None:
    for n, name in enumerate(LONG):
        store(tmp_path / "paging", name, {1: message(n + 1, name, "x")}, f"f{n:02}")
    answer = call(*DECODE, tmp_path, "--to", tmp_path / "t", "--partition-by", "store_address")
    names = [path.name for path in (tmp_path / "t").iterdir()]
    assert answer.status == 0 and all(len(name.encode()) <= 255 for name in names), answer.err
    lines = call(*DECODE, tmp_path, "--format", "jsonl").lines()
    assert read_back(tmp_path / "t") == {(line["id"], line["store_address"]) for line in lines}
    assert len(names) == len(LONG) + 1 and "store_address=" not in names


def test_no_value_and_the_word_for_none_are_apart(tmp_path: Path) -> None:
    schema = pa.schema({"id": pa.int64(), "address": pa.string()})
    parts = PartitionedTable(tmp_path, "parquet", schema, ("address",))
    parts.write_batch(pa.record_batch([[1, 2, 3], [None, "__HIVE_DEFAULT_PARTITION__", ""]], schema=schema))
    parts.close()
    assert sorted(pq.read_table(tmp_path).column("id").to_pylist()) == [1, 2, 3]


@pytest.mark.parametrize("split", ["day", "hour"])
def test_pandas_reads_periods_with_messages_that_have_no_time(split: str, tmp_path: Path) -> None:
    # Pandas cannot read a partition of null, and a range of times must not contain these messages.
    duckdb, pandas = pytest.importorskip("duckdb"), pytest.importorskip("pandas")
    schema = pa.schema({"id": pa.int64(), "sent": pa.timestamp("ms", "UTC")})
    parts = PartitionedTable(tmp_path, "parquet", schema, (split,))
    parts.write_batch(pa.record_batch([[1, 2, 3], [None, 1_700_000_000_000, 1_700_100_000_000]], schema=schema))
    parts.close()
    found = pandas.read_parquet(tmp_path)
    assert dict(zip(found["id"], found[split].astype(str).str[:10], strict=True)) == {
        1: "-none",
        2: "2023-11-14",
        3: "2023-11-16",
    }
    assert sorted(pq.read_table(tmp_path, filters=[(split, ">=", "2023-11-15")]).column("id").to_pylist()) == [3]
    files = f"read_parquet('{tmp_path}/*/*.parquet', hive_partitioning=true)"
    assert duckdb.sql(f"SELECT id FROM {files} WHERE {split} < '2023'").fetchall() == [(1,)]


def test_only_the_queues_asked_for_are_partitions(tmp_path: Path) -> None:
    call(
        "messages",
        "decode",
        NEWS.data(),
        "--to",
        tmp_path / "t",
        "--partition-by",
        "queue",
        "--queue",
        "red.news",
        "--outstanding",
        "--limit",
        "5",
    )
    assert [path.name for path in (tmp_path / "t").iterdir()] == ["queue=red.news"]
    table = pq.read_table(tmp_path / "t" / "queue=red.news" / "part-0.parquet", partitioning=None)
    assert len(table) == 5 and "queue" not in table.schema.names
