"""``pagectl export``: the messages of a page directory as Parquet, through Spark."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pagectl.opening.broker import located
from pagectl.options.columns import SPLITS
from pagectl.options.formats import TextOrJson
from pagectl.options.groups import BrokerOptions
from pagectl.options.shared import DirArgument, TextOrJsonOption, WhereOption
from pagectl.running.exits import CallError, Exit
from pagectl.running.reading import each_store, told_state, told_unknown
from pagefmt.columns.table_body import TableBody
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark import SparkContext

    from pagefmt.directory.locate import DataLocation
    from pagefmt.outstanding.state import PagingState
    from pagefmt.spark.groups import SourceOptions
    from pagefmt.spark.table import WrittenTable


HADOOP_MASK = "spark.hadoop.fs.permissions.umask-mode"


class Mode(StrEnum):
    """What to do if the table exists."""

    ERROR = "error"
    APPEND = "append"
    OVERWRITE = "overwrite"


class Compression(StrEnum):
    """Codecs of Parquet files."""

    ZSTD = "zstd"
    SNAPPY = "snappy"
    GZIP = "gzip"
    LZ4 = "lz4"
    NONE = "none"


EXAMPLES = (
    ("A table of all paged messages, on all cores of this machine", "export /var/lib/broker --to messages"),
    ("By address, with text bodies", "export /var/lib/broker --to messages --partition-by address --body text"),
    (
        "On a cluster that sees the directory under the same path",
        "export /nfs/broker --to /nfs/messages --master spark://head:7077",
    ),
)


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
        TableBody, typer.Option(help="Body columns to write; base64 keeps the bytes, in a binary column.")
    ] = TableBody.SIZE,
    partition_by: Annotated[
        list[str],
        typer.Option(
            "--partition-by", metavar="COLUMN", help=f"Partition the table by: {', '.join(SPLITS)}; repeatable."
        ),
    ] = [],  # noqa: B006
    where: WhereOption = None,
    mode: Annotated[Mode, typer.Option(help="What to do if OUT exists.")] = Mode.ERROR,
    compression: Annotated[
        Compression, typer.Option("--compression", help="Compression of the files.")
    ] = Compression.ZSTD,
    conf: Annotated[list[str], typer.Option(metavar="K=V", help="A setting for Spark; repeatable.")] = [],  # noqa: B006
    broker: BrokerOptions = BrokerOptions(),
    form: TextOrJsonOption = TextOrJson.text,
) -> int:
    """Export a page directory to Parquet through Spark.

    Spark runs on this machine unless --master names a cluster, where every machine must see DIR under the same path and
    have a Python with numpy, pyarrow and crc32c (--conf spark.pyspark.python=PATH). Of a damaged page, the
    rows in front of the damage are written; OUT/_damaged.json lists where each ends, and the exit status is 1. So it is
    where it is not known what is outstanding.
    """
    place = located(directory, broker)
    state = told_state(place)
    unjudged = [told_unknown(known, "the table does not say what is outstanding") for known in each_store(place, state)]
    settings = _settings(conf)
    unknown = [name for name in partition_by if name not in SPLITS]
    if unknown:
        raise CallError(f"--partition-by {unknown[0]}: no such column to split by; there are {', '.join(SPLITS)}")
    if where is not None:
        from pagefmt.selector import parse

        parse(where)
    folder = _folder(to, master)
    from pagectl.files.destination import private_files
    from pagefmt.spark.session import running
    from pagefmt.spark.table_folder import table_at

    with private_files(place) as mask, table_at(folder) if folder else nullcontext() as into:
        if into is not None:
            mode = _mode_for(into, mode)
        with running(f"pagectl export {place.given}", master, {HADOOP_MASK: mask} | settings) as context:
            options = _options(place, body, where)
            written = _write(context, options, state, to, into, mode, compression, partition_by)
    _say(
        {
            "to": to,
            "wrote": str(folder.absolute()) if folder else to,
            "rows": written.rows,
            "bytes": written.bytes,
            "damaged": written.damaged,
        },
        form,
    )
    return Exit.FOUND if written.damaged or any(unjudged) or state.known.damaged else Exit.OK


def _settings(conf: list[str]) -> dict[str, str]:
    settings = {}
    for each in conf:
        key, equals, value = each.partition("=")
        if not equals or not key:
            raise CallError(f"--conf {each}: give KEY=VALUE")
        settings[key] = value
    return settings


def _folder(to: str, master: str) -> Path | None:
    """OUT, if every task sees it as a folder. A path without a scheme is on a cluster's default file system."""
    from pathlib import Path

    from pagefmt.spark.session import is_local

    if to.startswith("file:"):
        folder = Path("/" + to.removeprefix("file:").lstrip("/"))
    elif is_local(master) and "://" not in to:
        folder = Path(to)
    else:
        return None
    if folder.exists() and not folder.is_dir():
        raise CallError(f"{folder}: is a file; name a folder that does not exist yet")
    return folder


def _mode_for(folder: Path, mode: Mode) -> Mode:
    """The mode; where no table is, one is added to nothing."""
    from pagefmt.spark.table_folder import SUCCESS, TEMPORARY, foreign

    names = {path.name for path in folder.iterdir()} - {TEMPORARY}
    if not names:
        return Mode.APPEND
    if mode is Mode.ERROR:
        whole = "a table" if SUCCESS in names else "files without the _SUCCESS of a complete table"
        raise CallError(f"{folder}: holds {whole}; give --mode overwrite or --mode append, or another folder")
    others = foreign(folder) if mode is Mode.OVERWRITE else []
    if others:
        raise CallError(
            f"{folder}: holds {others[0]}, which belongs to no table and would be lost; name another folder"
        )
    return mode


def _options(place: DataLocation, body: TableBody, where: str | None) -> SourceOptions:
    from pagefmt.spark.groups import SourceOptions

    given = {"path": str(place.given.absolute()), "body": body.value, "damage": "true"}
    if place.paging is not None:
        beside = {"paging": place.paging, "journal": place.journal, "bindings": place.bindings}
        given |= {name: str(path.absolute()) if path else "" for name, path in beside.items()}
    return SourceOptions.of(given | ({"where": where} if where is not None else {}))


def _write(
    context: SparkContext, options: SourceOptions, state: PagingState, to: str, folder: Path | None, mode: Mode,
    compression: Compression, split: list[str],
) -> WrittenTable:  # fmt: skip
    from pagectl.terminal.spark_progress import spark_progress
    from pagefmt.spark.table import write_by_spark, write_by_tasks

    watched = partial(spark_progress, context, "exporting")
    if folder is not None and not split:
        replace = mode is Mode.OVERWRITE
        return write_by_tasks(context, options, state, folder, compression.value, watched, replace=replace)
    to = to if folder is None else f"file:{folder.absolute()}"
    return write_by_spark(context, options, to, mode.value, compression.value, split, watched)


def _say(summary: dict[str, Any], form: TextOrJson) -> None:
    from pagectl.terminal.streams import print_json, warning
    from pagefmt.quantities import size_text

    for each in summary["damaged"]:
        warning(
            f"{each['store']}/{each['file']}: rows end in front of offset {each['offset']}, {each['bytes']} bytes are "
            f"not in the table ({each['kind']}); see: pagectl pages verify"
        )
    if form is TextOrJson.json:
        print_json(summary)
        return
    aside = f", {count_text(len(summary['damaged']), 'damaged page')} (OUT/_damaged.json)" if summary["damaged"] else ""
    rows = count_text(summary["rows"], "message")
    sys.stdout.write(f"{rows}, {size_text(summary['bytes'])} in {summary['wrote']}{aside}\n")
