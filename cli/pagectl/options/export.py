"""The options of ``export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pagectl.options.columns import FLEET_SPLITS
from pagectl.options.history import HistoryOptions
from pagectl.options.shared import BrokersOption, InOption, WhereOption
from pagectl.running.exits import CallError
from pagefmt.table.table_body import TableBody
from pagefmt.table.table_content import Compression, LakeFormat, StoredIn, TableContent, WriteMode


class ExportOptions(HistoryOptions):
    """Which brokers are exported, what of them, into which kind of table, and by which Spark."""

    brokers: BrokersOption = None
    what: Annotated[TableContent, typer.Option("--what", help="What each row is.")] = TableContent.MESSAGES
    within: InOption = StoredIn.LIVE
    master: Annotated[
        str,
        typer.Option(
            "--master", metavar="MASTER", help="Where Spark runs: local[N], spark://HOST:PORT, yarn, k8s://HOST."
        ),
    ] = "local[*]"
    body: Annotated[
        TableBody, typer.Option(help="Body columns to write; base64 keeps the bytes, in a binary column.")
    ] = TableBody.SIZE
    partition_by: Annotated[
        list[str] | None,
        typer.Option(
            "--partition-by", metavar="COLUMN", help=f"Partition the table by: {', '.join(FLEET_SPLITS)}; repeatable."
        ),
    ] = None
    where: WhereOption = None
    mode: Annotated[
        WriteMode,
        typer.Option(
            help="What to do if OUT exists; overwrite-partitions replaces only the partitions with new files."
        ),
    ] = WriteMode.ERROR
    compression: Annotated[Compression, typer.Option("--compression", help="Compression of the files.")] = (
        Compression.ZSTD
    )
    incremental: Annotated[
        bool,
        typer.Option(
            "--incremental", help="Add only what the table does not have yet; it keeps a log of exported pages."
        ),
    ] = False
    table_format: Annotated[
        LakeFormat,
        typer.Option("--table-format", help="What defines the files of the table: the folder itself, or a log in it."),
    ] = LakeFormat.PARQUET
    conf: Annotated[list[str] | None, typer.Option(metavar="K=V", help="Spark setting; repeatable.")] = None
    report_to: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Write a report as an HTML file.")
    ] = None

    @property
    def spark_settings(self) -> dict[str, str]:
        """Return the settings of ``--conf``. Raise ``CallError`` for one that is not KEY=VALUE."""
        settings = {}
        for text in self.conf or ():
            key, equals, value = text.partition("=")
            if not equals or not key:
                raise CallError(f"--conf {text}: give KEY=VALUE")
            settings[key] = value
        return settings
