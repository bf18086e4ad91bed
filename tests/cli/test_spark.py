"""Spark: the data source gives the rows of the reference decoder, the stream every record once."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from golden_cases import GoldenCase, cases
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

from pagefmt.columns.table import PageSource, TableQuery, page_batches
from pagefmt.columns.table_body import TableBody
from pagefmt.outstanding.state import load_state
from pagefmt.spark.options import SourceOptions
from pagefmt.spark.source import NAME, PageFiles, PageFilesReader

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
    table = spark.read.format(NAME).option("body", "base64").load(str(case.data()))
    assert_same(table.collect(), case)


def test_source_filters_with_a_selector(spark: Any) -> None:
    case = next(case for case in FEW if str(case) == "2.56.0/multicast-acks")
    table = spark.read.format(NAME).option("where", "color = 'red' AND AMQPriority = 4").load(str(case.data()))
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
    """In the table's order, whatever the order of their names; of a stream as well."""
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
    """No more is decoded than it needs, and that is enough."""
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
    """As a task of Spark reads them, with filters pushed down."""
    reader = PageFilesReader(SourceOptions.of({"path": str(data)}))
    assert list(reader.pushFilters(list(filters))) == list(filters)
    return [row for group in reader.partitions() for batch in reader.read(group) for row in batch.to_pylist()]


def moment(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


AT = 1_700_000_020_000
PUSHED: list[tuple[Filter, Callable[[dict[str, Any]], bool]]] = [
    (EqualTo(("page",), 3), lambda row: row["page"] == 3),
    (In(("page",), (2, 5, 99)), lambda row: row["page"] in (2, 5)),
    (LessThan(("page",), 4), lambda row: row["page"] < 4),
    (EqualTo(("store_address",), "news"), lambda row: row["store_address"] == "news"),
    (EqualTo(("store_address",), "other"), lambda row: row["store_address"] == "other"),
    (StringStartsWith(("broker",), "/nowhere"), lambda _: False),
    (GreaterThan(("timestamp",), AT), lambda row: row["timestamp"] > AT),
    (LessThanOrEqual(("sent",), moment(AT)), lambda row: row["timestamp"] <= AT + 1),
    (EqualTo(("priority",), 4), lambda row: row["priority"] == 4),
    (In(("address",), ("news", None)), lambda row: row["address"] == "news"),
    (EqualTo(("priority",), 300), lambda _: False),
    (IsNotNull(("user_id",)), lambda _: True),
    (Not(EqualTo(("page",), 3)), lambda _: True),
    (EqualTo(("amqp", "header", "priority"), 3), lambda _: True),
]


@pytest.mark.parametrize(("pushed", "passes"), PUSHED, ids=[repr(each[0]) for each in PUSHED])
@pytest.mark.parametrize("name", ["2.56.0/multicast-acks", "2.56.0/core-headers", "2.56.0/mixed-protocols"])
def test_filters_leave_out_files_and_rows(name: str, pushed: Any, passes: Callable[..., bool]) -> None:
    """Of all rows those that may pass, each as it is without."""
    data = GoldenCase(*name.split("/")).data()
    every, found = rows_read(data), rows_read(data, pushed)
    mine = [{**row, "exported_at": None} for row in every if passes(row)]
    assert [{**row, "exported_at": None} for row in found] == mine


def test_filters_and_tables_in_sql(spark: Any, tmp_path: Path) -> None:
    """The setting on: the same rows. Of a table that stays Spark does not hand on the options, and that is told."""
    case = next(case for case in FEW if str(case) == "2.56.0/multicast-acks")
    (tmp_path / "fleet.csv").write_text(f"name,path\nnews,{case.data()}\ntorn,{FEW[1].data()}\n")
    using = f"fleet using `{NAME}` options (brokers '{tmp_path / 'fleet.csv'}')"
    spark.sql(f"create temporary view {using}")
    with pytest.raises(Exception, match="use CREATE TEMPORARY VIEW"):
        spark.sql(f"create table {using}")
    asked = "select broker, page, number from fleet where broker = 'news' and page < 4 and timestamp > 0 order by 2, 3"
    off = spark.sql(asked).collect()
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        assert spark.sql(asked).collect() == off != []
        assert spark.sql("select count(*) as n from fleet where broker = 'x'").collect()[0]["n"] == 0
    finally:
        spark.conf.set("spark.sql.python.filterPushdown.enabled", "false")
        spark.sql("drop view fleet")


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
    """What the broker deletes between two steps of a batch was consumed; the rest of the batch is there."""
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
