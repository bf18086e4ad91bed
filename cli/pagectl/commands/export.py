"""``pagectl export``: the messages of a page directory as Parquet, through Spark."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagectl.exits import CallError, Exit
from pagectl.location import located
from pagectl.options import BrokerXmlOption, DirArgument, TextOrJsonOption, WhereOption
from pagectl.outputs.formats import TextOrJson
from pagefmt.columns.body_form import Body

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from pagefmt.locate import Place


class Mode(StrEnum):
    ERROR = "error"
    APPEND = "append"
    OVERWRITE = "overwrite"


class Compression(StrEnum):
    ZSTD = "zstd"
    SNAPPY = "snappy"
    GZIP = "gzip"
    LZ4 = "lz4"
    NONE = "none"


# Columns that a table can be split by: one value for each message.
SPLITS = ("address", "store", "store_address", "protocol", "page", "priority", "durable", "type_name")


def command(
    to: Annotated[
        str, typer.Option("--to", metavar="OUT", help="Folder of the table: a path, or a URL that Spark writes to.")
    ],
    directory: DirArgument = None,
    master: Annotated[
        str,
        typer.Option(
            "--master", metavar="MASTER", help="Where Spark runs: local[N], spark://HOST:PORT, yarn, k8s://HOST."
        ),
    ] = "local[*]",
    body: Annotated[
        Body, typer.Option(help="What of the bodies to keep; base64 keeps the bytes, in a binary column.")
    ] = Body.SIZE,
    partition_by: Annotated[
        list[str],
        typer.Option(
            "--partition-by",
            metavar="COLUMN",
            show_default=False,
            help=f"Split the table by: {', '.join(SPLITS)}; repeatable.",
        ),
    ] = [],  # noqa: B006
    where: WhereOption = None,
    mode: Annotated[Mode, typer.Option(help="What to do where OUT exists.")] = Mode.ERROR,
    compression: Annotated[Compression, typer.Option("--compression", help="Of the files.")] = Compression.ZSTD,
    conf: Annotated[
        list[str], typer.Option(metavar="K=V", show_default=False, help="A setting for Spark; repeatable.")
    ] = [],  # noqa: B006
    broker_xml: BrokerXmlOption = None,
    form: TextOrJsonOption = TextOrJson.text,
) -> int:
    """Export a page directory to Parquet through Spark.

    Spark runs on this machine unless --master names a cluster, where every machine must see DIR under the same path and
    have pagectl installed. Damaged pages give the rows in front of the damage; where each stops is written to
    OUT/_damaged.json, and the exit status is 1.
    """
    place = located(directory, broker_xml)
    settings = _settings(conf)
    unknown = [name for name in partition_by if name not in SPLITS]
    if unknown:
        raise CallError(f"--partition-by {unknown[0]}: no such column to split by; there are {', '.join(SPLITS)}")
    if where is not None:
        from pagefmt.selector import parse

        parse(where)
    mode = _mode_for(to, mode)
    from pagefmt.spark.session import start

    spark = start(f"pagectl export {place.given}", master, settings)
    try:
        summary = _write(spark, place, to, body, partition_by, where, mode, compression)
    finally:
        spark.stop()
    _say(summary, form)
    return Exit.FOUND if summary["damaged"] else Exit.OK


def _settings(conf: list[str]) -> dict[str, str]:
    settings = {}
    for each in conf:
        key, equals, value = each.partition("=")
        if not equals or not key:
            raise CallError(f"--conf {each}: give KEY=VALUE")
        settings[key] = value
    return settings


def _mode_for(to: str, mode: Mode) -> Mode:
    """A folder that holds nothing but a stopped run's temporary files is no table: the new run takes its place."""
    from pathlib import Path

    if "://" in to and not to.startswith("file://"):
        return mode
    folder = Path(to.removeprefix("file://"))
    if mode is not Mode.ERROR or not folder.exists():
        return mode
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else {"?"}
    if names <= {"_temporary"}:
        return Mode.OVERWRITE
    whole = "a table" if "_SUCCESS" in names else "something, without the _SUCCESS of a whole table"
    raise CallError(f"{to}: there is {whole}; give --mode overwrite or --mode append, or another folder")


def _options(place: Place, body: Body, where: str | None) -> dict[str, str]:
    given: dict[str, Path | str | None] = {
        "paging": place.paging, "journal": place.journal, "bindings": place.bindings, "body": body.value,
        "where": where, "damage": "true",
    }  # fmt: skip
    return {name: str(value) for name, value in given.items() if value is not None}


def _write(
    spark: SparkSession, place: Place, to: str, body: Body, partition_by: list[str], where: str | None, mode: Mode,
    compression: Compression,
) -> dict[str, Any]:  # fmt: skip
    from pyspark.sql import Observation
    from pyspark.sql import functions as f

    from pagectl.spark_progress import spark_progress
    from pagefmt.spark.source import NAME, PageFiles

    spark.dataSource.register(PageFiles)
    table = spark.read.format(NAME).options(**_options(place, body, where)).load(str(place.given.absolute()))
    seen = Observation("export")
    observed = table.observe(
        seen, f.count(f.when(f.col("damage").isNull(), 1)).alias("rows"), f.collect_list("damage").alias("damaged")
    )
    rows = observed.where(f.col("damage").isNull()).drop("damage")
    with spark_progress(spark, "exporting"):
        writer = rows.write.mode(mode.value).option("compression", compression.value)
        (writer.partitionBy(*partition_by) if partition_by else writer).parquet(to)
    damaged = sorted((json.loads(each) for each in seen.get["damaged"]), key=lambda d: (d["store"], d["page"]))
    if damaged:
        _keep_aside(spark, to, damaged)
    return {"to": to, "rows": seen.get["rows"], "bytes": _size(spark, to), "damaged": damaged}


def _hadoop(spark: SparkSession, to: str) -> tuple[Any, Any]:
    """(file system, path) of a folder, as Spark sees it."""
    jvm, context = spark._jvm, spark.sparkContext
    assert jvm is not None
    path = jvm.org.apache.hadoop.fs.Path(to)
    return path.getFileSystem(context._jsc.hadoopConfiguration()), path


def _size(spark: SparkSession, to: str) -> int:
    system, path = _hadoop(spark, to)
    return int(system.getContentSummary(path).getLength())


def _keep_aside(spark: SparkSession, to: str, damaged: list[dict[str, Any]]) -> None:
    """Names that begin with an underscore are no part of a table."""
    system, path = _hadoop(spark, to)
    stream = system.create(spark._jvm.org.apache.hadoop.fs.Path(path, "_damaged.json"), True)  # type: ignore[union-attr]
    try:
        stream.write(bytearray(json.dumps(damaged, indent=2).encode() + b"\n"))
    finally:
        stream.close()


def _say(summary: dict[str, Any], form: TextOrJson) -> None:
    from pagectl.streams import print_json, size_text, warning

    for each in summary["damaged"]:
        warning(
            f"{each['store']}/{each['file']}: rows end in front of offset {each['offset']}, {each['bytes']} bytes are "
            f"not in the table ({each['kind']}); see: pagectl pages verify"
        )
    if form is TextOrJson.json:
        print_json(summary)
        return
    aside = f", {len(summary['damaged'])} damaged pages (OUT/_damaged.json)" if summary["damaged"] else ""
    sys.stdout.write(f"{summary['rows']} messages, {size_text(summary['bytes'])} in {summary['to']}{aside}\n")
