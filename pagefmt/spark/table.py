"""The two ways to write a table with Spark.

``write_by_tasks``, where the table's folder is one that all tasks see as a folder: each task writes its Parquet file
below ``_temporary``; when all are done the files move up, then ``_SUCCESS`` says that the table is whole.
Rows that pass through Spark's virtual machine instead cost two to three times the processor time (bench/export.py).
``write_by_spark``, for storage that only Spark speaks to, and for tables that are split by columns.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pagefmt.bytes.writing import PARTIAL_SUFFIX
from pagefmt.columns.files import PARQUET, table_file
from pagefmt.columns.table import TableDamage
from pagefmt.errors import PageFmtError
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.outstanding.state import PagingState
from pagefmt.spark.groups import PageGroup, SourceOptions, acknowledgements_of, batches_of, damage_of, groups_of
from pagefmt.spark.session import cause
from pagefmt.spark.source import NAME, PageFiles
from pagefmt.spark.table_folder import DAMAGED, TEMPORARY, put

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

Watched = Callable[[], AbstractContextManager[None]]
"""A context around the job in which the caller shows progress."""


class ExportFailed(PageFmtError):
    """A task failed; there is no table."""


@dataclass(frozen=True, slots=True)
class WrittenTable:
    """What is in the table. ``bytes``: of its files. ``damaged``: where the rows of a page end before it does."""

    rows: int
    bytes: int
    damaged: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class PartFile:
    """One task's file."""

    file: str
    rows: int
    damaged: list[dict[str, Any]]


def write_by_tasks(
    context: SparkContext, options: SourceOptions, state: PagingState, folder: Path, compression: str,
    watched: Watched, *, replace: bool,
) -> WrittenTable:  # fmt: skip
    """``state``: of the directory that the options name. ``folder``: of ``table_at``. ``replace``: a table in it goes
    away when the new one is ready.

    Raises ``ExportFailed``.
    """
    journal = context.broadcast(acknowledgements_of(state))
    groups = groups_of(options.location(), state)
    run = folder.absolute() / TEMPORARY / uuid.uuid4().hex[:12]
    run.mkdir(parents=True)

    def write(group: PageGroup) -> PartFile:
        return write_part(group, options, journal.value, run, compression)

    with watched():
        try:
            parts: list[PartFile] = context.parallelize(groups, len(groups)).map(write).collect()
        except Exception as err:
            to = str(folder).removesuffix(PARTIAL_SUFFIX)
            raise ExportFailed(f"{options.path} to {to}: {cause(err)}; no table was written") from err
    damaged = _sorted(each for part in parts for each in part.damaged)
    aside = folder / DAMAGED
    known = [] if replace or not aside.exists() else json.loads(aside.read_text("utf-8"))
    names = {part.file: f"part-{number:05d}-{run.name}.parquet" for number, part in enumerate(parts)}
    size = sum((run / name).stat().st_size for name in names)
    put(folder, run, names, _text(_sorted([*known, *damaged])) if known or damaged else None, replace=replace)
    return WrittenTable(sum(part.rows for part in parts), size, damaged)


def write_part(
    group: PageGroup, options: SourceOptions, journal: MessageJournal | None, folder: Path, compression: str
) -> PartFile:
    """Runs in the task: the rows of its pages in a file of its own, also while a second attempt runs."""
    wanted = options.query()
    file = folder / f"part-{uuid.uuid4().hex}.parquet"
    rows, damaged = 0, []
    with table_file(file, PARQUET, wanted.schema, compression) as out:
        for page in group.pages:
            for batch in batches_of(page, wanted, journal):
                if isinstance(batch, TableDamage):
                    damaged.append(damage_of(page, batch))
                else:
                    out.write_batch(batch)
                    rows += batch.num_rows
    return PartFile(file.name, rows, damaged)


def _sorted(damaged: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(damaged, key=lambda each: (each["store"], each["page"], each["offset"]))


def _text(damaged: list[dict[str, Any]]) -> str:
    return json.dumps(damaged, indent=2) + "\n"


def write_by_spark(
    context: SparkContext, options: SourceOptions, to: str, mode: str, compression: str, split: Sequence[str],
    watched: Watched,
) -> WrittenTable:  # fmt: skip
    """``mode``: Spark's own word for what happens to a table that is there. Raises ``ExportFailed``."""
    from pyspark.sql import Observation, SparkSession
    from pyspark.sql import functions as f

    spark = SparkSession.builder.getOrCreate()
    spark.dataSource.register(PageFiles)
    table = spark.read.format(NAME).options(**options.said()).load()
    seen = Observation("export")
    observed = table.observe(
        seen, f.count(f.when(f.col("damage").isNull(), 1)).alias("rows"), f.collect_list("damage").alias("damaged")
    )
    writer = observed.where(f.col("damage").isNull()).drop("damage").write.mode(mode)
    with watched():
        try:
            writer.option("compression", compression).parquet(to, partitionBy=list(split) or None)
        except Exception as err:
            said = f"{options.path} to {to}: {cause(err)}; there is no whole table"
            raise ExportFailed(said.replace(PARTIAL_SUFFIX, "")) from err
    damaged = _sorted(json.loads(each) for each in seen.get["damaged"])
    if damaged:
        _keep_aside(spark, to, damaged)
    return WrittenTable(seen.get["rows"], _size(spark, to), damaged)


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
    stream = system.create(spark._jvm.org.apache.hadoop.fs.Path(path, DAMAGED), True)  # type: ignore[union-attr]
    try:
        stream.write(bytearray(_text(damaged).encode()))
    finally:
        stream.close()
