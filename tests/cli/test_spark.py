"""Spark: the data source gives the rows of the reference decoder, the stream every record once."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from golden_cases import GoldenCase, cases
from incremental_exports import PagingBroker
from program import call
from table_rows import assert_same, rows_of

pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")

from pyspark.sql.datasource import (
    EqualTo,
    Filter,
    GreaterThan,
    In,
    IsNotNull,
    LessThan,
    LessThanOrEqual,
    Not,
    StringStartsWith,
)

from pagefmt.spark.options import SourceOptions
from pagefmt.spark.source import NAME, PageFiles, PageFilesReader
from pagefmt.table.partitions import PartitionedTable
from pagefmt.table.row_filters import ColumnTest, header_tests
from pagefmt.table.table import PageSource, TableQuery, page_batches
from pagefmt.table.table_body import TableBody
from pagefmt.vectors import load_state

NAMES = ("hornetq-2.4.7/tx", "artemis-1.5.6/torn", "2.17.0/amqp", "2.56.0/multicast-acks", "2.56.0/large-amqp")
FEW = [case for case in cases() if str(case) in NAMES]


@pytest.fixture
def spark(spark_context: Any) -> Any:
    from pyspark.sql import SparkSession

    session = SparkSession.builder.getOrCreate()
    session.dataSource.register(PageFiles)
    return session


@pytest.mark.parametrize("case", FEW, ids=str)
def test_source_gives_the_reference_rows(spark: Any, case: GoldenCase) -> None:
    table = spark.read.format(NAME).option("within", "pages").option("body", "base64").load(str(case.data()))
    assert_same(table.collect(), case)


def test_source_filters_with_a_selector(spark: Any) -> None:
    case = next(case for case in FEW if str(case) == "2.56.0/multicast-acks")
    pages = spark.read.format(NAME).option("within", "pages")
    table = pages.option("where", "color = 'red' AND AMQPriority = 4").load(str(case.data()))
    found = table.collect()
    expected = [row for row in rows_of(case, TableBody.SIZE) if row["properties"]["color"]["string"] == "red"]
    assert 0 < len(found) == len(expected)


BAD = [
    ("body", "nonsense", "nonsense.*none, size"), ("boddy", "text", "boddy.*where"), ("where", "color =", "color ="),
    ("columns", "page,body", "'body' is none; with body size there are broker,"),
]  # fmt: skip


@pytest.mark.parametrize(("option", "value", "said"), BAD, ids=[each[0] for each in BAD])
def test_bad_options_say_what_is_wrong(spark: Any, option: str, value: str, said: str) -> None:
    case = FEW[0]
    with pytest.raises(Exception, match=said):
        spark.read.format(NAME).option(option, value).load(str(case.data())).collect()


def test_source_reads_the_columns_that_are_named(spark: Any) -> None:
    case = next(case for case in FEW if str(case) == "2.17.0/amqp")
    named = spark.read.format(NAME).option("columns", "outstanding, number,page").load(str(case.data()))
    assert named.columns == ["page", "number", "outstanding"]
    expected = [{name: row[name] for name in named.columns} for row in rows_of(case)]
    found = [(row["page"], row["number"], [each["id"] for each in row["outstanding"]]) for row in named.collect()]
    assert sorted(found) == sorted((row["page"], row["number"], row["outstanding"] or []) for row in expected)
    stream = spark.readStream.format(NAME).option("columns", "id").load(str(case.data()))
    assert stream.columns == ["id"]


@pytest.mark.parametrize("case", FEW[:3], ids=str)
def test_each_column_by_itself_is_as_in_the_table(case: GoldenCase) -> None:
    data = case.data()
    for body in (TableBody.SIZE, TableBody.VALUE, TableBody.BASE64):
        every = table_of(data, TableQuery(body))
        for name in every.column_names:
            assert (
                table_of(data, TableQuery(body, columns=frozenset({name}))).column(name).equals(every.column(name))
            ), name


def table_of(data: Path, wanted: TableQuery) -> pa.Table:
    found = []
    for store in load_state(data / "paging", data / "journal", data / "bindings").stores():
        for page in store.store.pages[:3]:
            rule = store.rule(page.number)
            source = PageSource(page.path, page.number, store.store.name, store.store.address, rule)
            found += [batch for batch in page_batches(source, wanted) if isinstance(batch, pa.RecordBatch)]
    return pa.Table.from_batches(found, wanted.schema)


def rows_read(data: Path, *filters: Any) -> list[dict[str, Any]]:
    """Read the rows of a directory as a Spark task does, with filters pushed down."""
    reader = PageFilesReader(SourceOptions.of({"path": str(data), "within": "pages"}))
    assert list(reader.pushFilters(list(filters))) == list(filters)
    return [row for group in reader.partitions() for batch in reader.read(group) for row in batch.to_pylist()]


def moment(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


AT = 1_700_000_020_000
PUSHED: list[tuple[Filter, Callable[[dict[str, Any]], bool]]] = [
    (EqualTo(("page",), 3), lambda row: row["page"] == 3),
    (In(("page",), [2, 5, 99]), lambda row: row["page"] in (2, 5)),
    (EqualTo(("number",), 0), lambda row: row["number"] == 0),
    (LessThan(("offset",), 700), lambda row: row["offset"] < 700),
    (EqualTo(("outstanding",), []), lambda _: True),
    (LessThan(("page",), 4), lambda row: row["page"] < 4),
    (EqualTo(("store_address",), "news"), lambda row: row["store_address"] == "news"),
    (EqualTo(("store_address",), "other"), lambda row: row["store_address"] == "other"),
    (StringStartsWith(("broker",), "/nowhere"), lambda _: False),
    (GreaterThan(("timestamp",), AT), lambda row: row["timestamp"] > AT),
    (LessThanOrEqual(("sent",), moment(AT)), lambda row: row["timestamp"] <= AT + 1),
    (EqualTo(("priority",), 4), lambda row: row["priority"] == 4),
    (In(("address",), ["news", None]), lambda row: row["address"] == "news"),
    (In(("user_id",), [None]), lambda _: True),
    (EqualTo(("priority",), 300), lambda _: False),
    (IsNotNull(("user_id",)), lambda _: True),
    (Not(EqualTo(("page",), 3)), lambda _: True),
    (EqualTo(("amqp", "header", "priority"), 3), lambda _: True),
]


@pytest.mark.parametrize(("pushed", "passes"), PUSHED, ids=[repr(each[0]) for each in PUSHED])
@pytest.mark.parametrize(
    "name", ["2.56.0/multicast-acks", "2.56.0/core-headers", "2.56.0/mixed-protocols", "2.28.0/large-amqp"]
)
def test_filters_leave_out_files_and_rows(name: str, pushed: Any, passes: Callable[..., bool]) -> None:
    data = GoldenCase(*name.split("/")).data()
    every, found = rows_read(data), rows_read(data, pushed)
    mine = [{**row, "exported_at": None} for row in every if passes(row)]
    assert [{**row, "exported_at": None} for row in found] == mine


@pytest.mark.parametrize("at", [1_091_917_612_317, 138_821_245_375_675, -17_558_774_060_343])
def test_a_time_that_is_filtered_by_is_exact(at: int) -> None:
    # A float of seconds would be a millisecond less or more for these times.
    test = ColumnTest("sent", "==", datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at))
    mask = header_tests([test])
    assert mask is not None
    assert mask(pa.record_batch({"timestamp": pa.array([at - 1, at, at + 1])})).tolist() == [False, True, False]


def test_a_store_is_filtered_by_as_the_table_calls_it(tmp_path: Path) -> None:
    # A folder's name need not be UTF-8.
    data = GoldenCase("2.56.0", "multicast-acks").copy(tmp_path)
    (store,) = (data / "paging").iterdir()
    store.rename(os.fsdecode(os.fsencode(store.parent) + b"/st\xff"))
    every = rows_read(data)
    assert len(rows_read(data, EqualTo(("store",), every[0]["store"]))) == len(every) > 0


def test_spark_reads_a_table_that_is_split_by_anything(spark: Any, tmp_path: Path) -> None:
    schema = pa.schema({"id": pa.int64(), "address": pa.string()})
    values = ["", "__HIVE_DEFAULT_PARTITION__", "a/b=%2F", "\u6f22\u00e9", "x" * 300, None]
    parts = PartitionedTable(tmp_path, "parquet", schema, ("address",))
    parts.write_batch(pa.record_batch([[*range(len(values))], values], schema=schema))
    parts.close()
    whole = json.loads((tmp_path / "_shortened.json").read_text("utf-8"))
    read = spark.read.parquet(str(tmp_path)).selectExpr("id", "decode(encode(address, 'ISO-8859-1'), 'UTF-8') as text")
    assert {row["id"]: whole.get(row["text"], row["text"]) for row in read.collect()} == dict(enumerate(values))


def test_filters_and_tables_in_sql(spark: Any, tmp_path: Path) -> None:
    # With filter pushdown the rows must be the same. A table's options are in the catalog, and dropping it keeps the
    # data.
    case = next(case for case in FEW if str(case) == "2.56.0/multicast-acks")
    data = Path(shutil.copytree(case.data(), tmp_path / "with space" / "news"))
    (tmp_path / "fleet.csv").write_text(f"name,path\nnews,{data}\ntorn,{FEW[1].data()}\n")
    options = f"using `{NAME}` options (brokers '{tmp_path / 'fleet.csv'}')"
    spark.sql(f"create temporary view fleet {options}")
    spark.sql(f"create table kept {options}")
    spark.sql(f"create table one using `{NAME}` options (path '{data}', body 'text')")
    spark.sql("create view numbers as select page, number from one")
    asked = (
        "select broker, page, number from fleet where broker = 'news' and page in (1, 2, 3, null) and timestamp > 0 "
        "and outstanding <> array() order by 2, 3"
    )
    off = spark.sql(asked).collect()
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        assert spark.sql(asked).collect() == off != []
        assert spark.sql(asked.replace("fleet", "kept")).collect() == off
        rows = spark.read.format(NAME).option("body", "text").load(str(data)).drop("broker", "exported_at").collect()
        assert spark.table("one").drop("broker", "exported_at").collect() == rows
        assert spark.table("numbers").count() == len(rows)
        assert spark.sql("select count(*) as n from fleet where broker = 'x'").collect()[0]["n"] == 0
        for statement in ("truncate table one", "insert into one select * from one", "delete from one"):
            with pytest.raises(Exception, match=r"(?i)not.support|unsupported|not.implemented"):
                spark.sql(statement)
    finally:
        spark.conf.set("spark.sql.python.filterPushdown.enabled", "false")
        spark.sql("drop view fleet")
        spark.sql("drop view if exists numbers")
        for name in ("kept", "one"):
            spark.sql(f"drop table if exists {name}")
    there, before = ({path.relative_to(root) for path in root.rglob("*")} for root in (data, case.data()))
    assert there == before


@pytest.mark.parametrize(
    ("table", "wrong"),
    [
        ("(a string) using `{}` options (path '{}')", "without a list of columns"),
        ("using `{}` location '{}' tblproperties (body 'text')", "body is an option; name it in OPTIONS"),
        ("using `{}` options (path '{}', bodies 'text')", "option bodies: not known"),
    ],
)
def test_a_table_that_is_created_otherwise_is_refused(spark: Any, table: str, wrong: str) -> None:
    with pytest.raises(Exception, match=wrong):
        try:
            spark.sql(f"create table refused {table.format(NAME, FEW[1].data())}")
            spark.table("refused").collect()
        finally:
            spark.sql("drop table if exists refused")


def test_stream_gives_every_record_once_and_survives_restart_and_deletion(spark: Any, tmp_path: Path) -> None:
    case = next(case for case in FEW if str(case) == "2.56.0/multicast-acks")
    live = tmp_path / "paging"
    source = next((case.data() / "paging").iterdir())
    store = live / source.name
    store.mkdir(parents=True)
    shutil.copy(source / "address.txt", store)
    pages = sorted(source.glob("*.page"))
    out, checkpoint = str(tmp_path / "out"), str(tmp_path / "checkpoint")

    def catch_up() -> None:
        table = spark.readStream.format(NAME).load(str(live))
        query = table.writeStream.format("parquet").option("path", out).option("checkpointLocation", checkpoint)
        query.trigger(availableNow=True).start().awaitTermination(120)

    def numbers() -> list[tuple[int, int]]:
        return sorted((row["page"], row["number"]) for row in spark.read.parquet(out).collect())

    shutil.copy(pages[0], store)
    half = pages[1].read_bytes()
    (store / pages[1].name).write_bytes(half[: len(half) // 2])
    catch_up()
    first = numbers()
    assert first and len({page for page, _ in first}) == 2
    (store / pages[1].name).write_bytes(half)
    for page in pages[2:6]:
        shutil.copy(page, store)
    (store / pages[0].name).unlink()
    catch_up()
    for page in pages[2:5]:
        (store / page.name).unlink()
    for page in pages[6:]:
        shutil.copy(page, store)
    catch_up()
    expected = [(row["page"], row["number"]) for row in rows_of(case, TableBody.SIZE)]
    assert numbers() == sorted(expected)


def test_a_page_that_is_deleted_before_it_is_read_is_passed_over(tmp_path: Path) -> None:
    # Pages deleted between two steps of a batch are reported.
    from pagefmt.spark.stream import PageFilesStream

    case = next(case for case in FEW if str(case) == "2.56.0/multicast-acks")
    paging = case.copy(tmp_path) / "paging"
    stream = PageFilesStream(SourceOptions.of({"path": str(paging)}))
    (group,) = stream.partitions(stream.initialOffset(), stream.latestOffset())
    gone = sorted(paging.rglob("*.page"))[1]
    gone.unlink()
    rows = [row for batch in stream.read(group) for row in batch.to_pylist()]
    expected = [row["number"] for row in rows_of(case, TableBody.SIZE) if row["page"] != int(gone.name[:9])]
    assert [row["number"] for row in rows] == expected and len(expected) > 50


def test_a_batch_that_failed_is_read_again_equally(spark: Any, tmp_path: Path) -> None:
    broker = PagingBroker(tmp_path / "data")
    broker.write(50)
    seen: list[list[Any]] = []

    def take(batch: Any, _: int) -> None:
        seen.append(batch.collect())
        if len(seen) == 1:
            raise RuntimeError("the first time")

    def catch_up() -> None:
        table = spark.readStream.format(NAME).load(str(tmp_path / "data"))
        query = table.writeStream.foreachBatch(take).option("checkpointLocation", str(tmp_path / "checkpoint"))
        query.trigger(availableNow=True).start().awaitTermination(120)

    with pytest.raises(Exception, match="the first time"):
        catch_up()
    broker.write(20)
    catch_up()
    catch_up()
    assert seen[0] == seen[1] != [] and len(seen) == 3
    assert Counter((row["page"], row["id"]) for rows in seen[1:] for row in rows) == broker.every


def stream_of(data: Path, **more: str) -> Any:
    from pagefmt.spark.stream import PageFilesStream

    return PageFilesStream(SourceOptions.of({"path": str(data), "damage": "true", **more}))


def batch_of(data: Path, start: Any, end: Any, between: Callable[[], object] = lambda: None) -> list[dict[str, Any]]:
    """Read the rows between two offsets as Spark does, which passes them between processes as JSON.

    ``between`` is called after planning and before reading.
    """
    stream = stream_of(data)
    groups = stream.partitions(*json.loads(json.dumps([start, end])))
    between()
    return [row for group in groups for batch in stream.read(group) for row in batch.to_pylist()]


def messages_of(rows: list[dict[str, Any]]) -> Counter[tuple[int, int]]:
    return Counter((row["page"], row["id"]) for row in rows if row["damage"] is None)


def test_a_stream_is_exact_beside_a_broker_that_deletes(tmp_path: Path) -> None:
    data = tmp_path / "data"
    broker, chance = PagingBroker(data), random.Random(3)
    (start, found, lost) = ({}, Counter[tuple[int, int]](), set[int]())
    for night in range(40):
        if night % 10 == 9:
            broker.start_anew()
        broker.write(chance.randrange(40))
        end = json.loads(json.dumps(stream_of(data).latestOffset(start)))
        first = batch_of(data, start, end)
        assert batch_of(data, start, end) == first
        assert stream_of(data).latestOffset(end) == end and batch_of(data, end, end) == []
        there = {path.name for path in broker.folder.glob("*.page")}
        rows = batch_of(data, start, end, lambda: broker.delete(chance.randrange(4)))
        deleted = there - {path.name for path in broker.folder.glob("*.page")}
        told = {json.loads(row["damage"])["file"] for row in rows if row["damage"] is not None}
        wanted = {f"{page:09d}.page" for page, _ in messages_of(first)}
        assert told == deleted & wanted
        again = batch_of(data, start, end)
        assert [row for row in again if row["damage"] is None] == [row for row in rows if row["damage"] is None]
        assert {json.loads(row["damage"])["kind"] for row in again if row["damage"] is not None} <= {"deleted"}
        lost |= {key for key in messages_of(first) if f"{key[0]:09d}.page" in told}
        found += messages_of(rows)
        start = end
    assert found == broker.every - Counter(lost) and len(lost) > 10


def test_a_stream_goes_on_behind_a_compaction(tmp_path: Path) -> None:
    # Compaction changes the offsets in the file.
    case = next(case for case in cases() if str(case) == "2.56.0/scattered-acks")
    data = case.copy(tmp_path)
    pages = sorted((data / "paging").rglob("*.page"))
    last = pages[-1].read_bytes()
    pages[-1].write_bytes(last[: len(last) * 2 // 3])
    end = stream_of(data).latestOffset({})
    first = messages_of(batch_of(data, {}, end))
    pages[-1].write_bytes(last)
    assert call("pages", "compact", data, "--in-place", "--no-backup").status == 0
    more = batch_of(data, end, stream_of(data).latestOffset(end))
    assert {row["page"] for row in more} <= {int(pages[-1].stem)} and all(row["damage"] is None for row in more)
    every = Counter((row["page"], row["id"]) for row in rows_of(case, TableBody.SIZE))
    assert first + messages_of(more) == every or not pages[-1].exists()


def test_a_store_that_goes_away_whole_is_told(tmp_path: Path) -> None:
    broker = PagingBroker(tmp_path / "data")
    broker.write(50)
    end = stream_of(tmp_path / "data").latestOffset({})
    shutil.rmtree(broker.folder)
    told = [json.loads(row["damage"]) for row in batch_of(tmp_path / "data", {}, end)]
    assert [each["page"] for each in told] == sorted({page for page, _ in broker.every})
    assert {each["kind"] for each in told} == {"deleted"}


def test_positions_of_an_older_version_are_understood(tmp_path: Path) -> None:
    # Older versions stored only page, offset and number.
    broker = PagingBroker(tmp_path / "data")
    broker.write(50)
    end = stream_of(tmp_path / "data").latestOffset({})
    broker.write(50)
    plain = {name: {key: where[key] for key in ("page", "bytes", "number")} for name, where in end.items()}
    assert stream_of(tmp_path / "data").latestOffset(plain).keys() == end.keys()
    now = stream_of(tmp_path / "data").latestOffset(plain)
    first, second = batch_of(tmp_path / "data", {}, plain), batch_of(tmp_path / "data", plain, now)
    assert messages_of(first) + messages_of(second) == broker.every
