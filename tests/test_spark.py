"""Spark: the data source gives the rows of the reference decoder, the stream every record once."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from golden_cases import GoldenCase, cases
from table_rows import assert_same, rows_of

pytest.importorskip("pyspark", reason="the extra pagectl[spark] is not installed")

from pagefmt.columns.body_form import Body
from pagefmt.spark.source import NAME, PageFiles

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
    expected = [row for row in rows_of(case, Body.SIZE) if row["properties"]["color"]["string"] == "red"]
    assert 0 < len(found) == len(expected)


@pytest.mark.parametrize(("option", "value"), [("body", "nonsense"), ("boddy", "text"), ("where", "color =")])
def test_bad_options_say_what_is_wrong(spark: Any, option: str, value: str) -> None:
    case = FEW[0]
    with pytest.raises(Exception, match=value if option == "body" else option if option == "boddy" else "color"):
        spark.read.format(NAME).option(option, value).load(str(case.data())).collect()


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
    expected = [(row["page"], row["number"]) for row in rows_of(case, Body.SIZE)]
    assert numbers() == sorted(expected)


def test_a_page_that_is_deleted_before_it_is_read_is_passed_over(tmp_path: Path) -> None:
    """What the broker deletes between two steps of a batch was consumed; the rest of the batch is there."""
    from pagefmt.spark.source import Options
    from pagefmt.spark.stream import PageFilesStream

    case = next(case for case in FEW if str(case) == "2.56.0/multicast-acks")
    paging = case.copy(tmp_path) / "paging"
    stream = PageFilesStream(Options.of({"path": str(paging)}))
    (group,) = stream.partitions(stream.initialOffset(), stream.latestOffset())
    gone = sorted(paging.rglob("*.page"))[1]
    gone.unlink()
    rows = [row for batch in stream.read(group) for row in batch.to_pylist()]
    expected = [row["number"] for row in rows_of(case, Body.SIZE) if row["page"] != int(gone.name[:9])]
    assert [row["number"] for row in rows] == expected and len(expected) > 50
