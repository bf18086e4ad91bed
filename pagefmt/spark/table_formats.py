"""Delta Lake and Iceberg: tables of which readers see the files that the last commit names.

Tasks write the same Parquet files whatever the format; these become visible by one commit, which carries the number of
the export: in Delta Lake as the version of an application's transaction, in Iceberg as a property of the table. So it
is known of an export that was killed whether it came to its end. Neither takes Spark's libraries.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from pagefmt.bytes.object_stores import why_refused
from pagefmt.bytes.stored_paths import StoredPath
from pagefmt.columns.named_columns import TIME
from pagefmt.columns.partitions import is_absent
from pagefmt.columns.table_content import LakeFormat
from pagefmt.errors import PageFmtError, installation

if TYPE_CHECKING:
    from deltalake import DeltaTable

APPLICATION: Final = "pagectl-export"
"""Of transactions in Delta Lake, and of the property of an Iceberg table."""
DELTA_LOG: Final = "_delta_log"
ICEBERG_FILES: Final = "metadata"
VERSION_HINT: Final = "version-hint.text"
_LIBRARIES: Final = {LakeFormat.DELTA: ("deltalake",), LakeFormat.ICEBERG: ("pyiceberg", "obstore", "botocore")}
_NOISE: Final = re.compile(r"\x1b\[[0-9;]*m|[│╰╭├↳▶─]| for path \S+|Error performing \w+ \S+ in [^\s,]+|<\?xml.*|\?\S+")
_MICROSECONDS: Final = pa.timestamp("us", "UTC")


class FormatRefused(PageFmtError):
    """A table that cannot be written in its format: no library, other columns, or the commit was refused."""


class FileFacts(NamedTuple):
    """Of a Parquet file: bytes, rows, and the least and the greatest value of columns of numbers."""

    size: int
    rows: int
    least: Mapping[str, int]
    most: Mapping[str, int]

    @classmethod
    def of(cls, path: Path) -> FileFacts:
        """From its footer."""
        found = pq.read_metadata(path)
        least: dict[str, int] = {}
        most: dict[str, int] = {}
        for group in map(found.row_group, range(found.num_row_groups)):
            for column in map(group.column, range(found.num_columns)):
                stats = column.statistics if column.is_stats_set else None
                if stats is not None and stats.has_min_max and stats.logical_type.type != "TIMESTAMP":
                    name = column.path_in_schema
                    least[name] = min(stats.min, least.get(name, stats.min))
                    most[name] = max(stats.max, most.get(name, stats.max))
        return cls(path.stat().st_size, found.num_rows, least, most)


class TablePart(NamedTuple):
    """A file of a table: its path there, and the values that its folders stand for."""

    path: str
    facts: FileFacts
    values: tuple[str | None, ...]


class FormatCommit(NamedTuple):
    """What a commit does. ``table``: where the table will be; ``folder``: where it is while it is made.

    ``run``: a name that no other commit has.
    """

    form: LakeFormat
    folder: Path
    table: Path
    schema: pa.Schema
    splits: tuple[str, ...]
    parts: Sequence[TablePart]
    number: int
    overwrite: bool
    run: str

    def carry_out(self, noting: Path) -> None:
        """``noting``: takes the names of files that are of no use if it fails. Raises ``FormatRefused``."""
        with _in_one_line(self.table):
            if self.form is LakeFormat.DELTA:
                _commit_delta(self)
            else:
                from pagefmt.spark.iceberg import commit_iceberg

                commit_iceberg(self, noting)


def check_format(form: LakeFormat, folder: Path) -> None:
    """Raises ``FormatRefused`` and ``UnusableUrl`` where no table of this format can be written."""
    named_for_others(folder)
    check_library(form)


def check_library(form: LakeFormat) -> None:
    """Raises ``FormatRefused`` where it is not installed."""
    for name in _LIBRARIES.get(form, ()):
        if find_spec(name) is None:
            raise FormatRefused(f"--table-format {form}: {name} is not installed; do: {installation('tables')}")


def format_of(folder: Path) -> LakeFormat:
    """Of the table in a folder."""
    if (folder / DELTA_LOG).is_dir():
        return LakeFormat.DELTA
    iceberg = any((folder / ICEBERG_FILES / name).exists() for name in (VERSION_HINT, iceberg_version(1)))
    return LakeFormat.ICEBERG if iceberg else LakeFormat.PARQUET


def iceberg_version(version: int) -> str:
    """The name of its file."""
    return f"v{version}.metadata.json"


def last_export(folder: Path) -> int:
    """The number of the last export that a table of a format has; 0 where there is none. Raises ``FormatRefused``."""
    form = format_of(folder)
    if form is LakeFormat.PARQUET:
        return 0
    check_library(form)
    with _in_one_line(folder):
        if form is LakeFormat.DELTA:
            return _delta(folder).transaction_version(APPLICATION) or 0
        from pagefmt.spark.iceberg import metadata_at

        return int(metadata_at(folder).properties.get(APPLICATION, 0))


def data_files(folder: Path) -> list[str]:
    """The names of the Parquet files that a table has now. Raises ``FormatRefused``."""
    form = format_of(folder)
    if form is LakeFormat.PARQUET:
        return [path.name for path in folder.rglob("part-*.parquet")]
    check_library(form)
    with _in_one_line(folder):
        if form is LakeFormat.DELTA:
            found = _delta(folder).file_uris()
        else:
            from pagefmt.spark.iceberg import data_files_at

            found = data_files_at(folder)
    return [each.rpartition("/")[2] for each in found]


def finish(folder: Path) -> None:
    """What a commit that came to its end leaves to do."""
    if format_of(folder) is LakeFormat.ICEBERG:
        from pagefmt.spark.iceberg import note_version

        note_version(folder)


def table_schema(schema: pa.Schema, splits: Sequence[str]) -> pa.Schema:
    """The columns of a table in either format: with those that name folders, and times as both have them."""
    every = [*schema, *(pa.field(name, pa.string()) for name in splits if name not in schema.names)]
    times = {TIME: _MICROSECONDS}
    return pa.schema(
        pa.field(each.name, times.get(each.type, each.type), each.nullable or each.name in splits) for each in every
    )


def check_fits(folder: Path, schema: pa.Schema, splits: Sequence[str]) -> None:
    """Raises ``FormatRefused`` where the table in a folder has other columns or partitions."""
    form, wanted = format_of(folder), table_schema(schema, splits)
    with _in_one_line(folder):
        if form is LakeFormat.DELTA:
            from deltalake import Schema

            table = _delta(folder)
            fits = table.schema() == Schema.from_arrow(wanted) and table.metadata().partition_columns == list(splits)
        else:
            from pagefmt.spark.iceberg import fits_iceberg

            fits = fits_iceberg(folder, wanted, splits)
    if not fits:
        raise FormatRefused(f"{folder}: has other columns or partitions; name another folder")


def values_of(folders: Sequence[str], shortened: Mapping[str, str]) -> tuple[str | None, ...]:
    """What the names of folders stand for; ``shortened``: of ``PartitionedTable``."""
    return tuple(
        None if is_absent(name, text) else shortened[unquote(text)] if "~" in text else unquote(text)
        for name, _, text in (each.partition("=") for each in folders)
    )


@contextmanager
def _in_one_line(folder: Path) -> Iterator[None]:
    """What a library throws, in one line."""
    try:
        yield
    except PageFmtError:
        raise
    except Exception as err:
        if isinstance(err, OSError) and err.errno is not None:
            raise
        raise FormatRefused(f"{folder}: the table's log cannot be read or written: {_said(err)}") from err


def _said(err: Exception) -> str:
    """Without colours, and without URLs and what a store answers; of that the reason alone."""
    if why := why_refused(str(err)):
        return why
    return " ".join(_NOISE.sub("", str(err)).split())[:300]


def _delta(folder: Path) -> DeltaTable:
    from deltalake import DeltaTable

    where, options = named_for_others(folder)
    return DeltaTable(where, storage_options=options)


def named_for_others(folder: Path) -> tuple[str, dict[str, str] | None]:
    """For other libraries: a URL has what they need to ask its store. Raises ``UnusableUrl``."""
    return folder.asked_by_others() if isinstance(folder, StoredPath) else (str(folder), None)


def _commit_delta(given: FormatCommit) -> None:
    there = (given.folder / DELTA_LOG).exists()
    table = _delta(given.folder) if there else None
    before = -1 if table is None else table.version()
    try:
        _commit_to(table, given)
    except Exception as err:
        behind = [*_commits_behind(given.folder, before)]
        if any(given.run in each for each in behind):
            return  # the answer was lost
        if behind:
            raise FormatRefused(
                f"{given.table}: another program has committed to it meanwhile; export again ({_said(err)})"
            ) from err
        raise


def _commits_behind(folder: Path, version: int) -> Iterator[str]:
    while (log := folder / DELTA_LOG / f"{(version := version + 1):020d}.json").exists():
        yield log.read_text("utf-8")


def _commit_to(table: DeltaTable | None, given: FormatCommit) -> None:
    from deltalake import CommitProperties, Schema, Transaction
    from deltalake.transaction import AddAction, create_table_with_add_actions

    now = int(time.time() * 1000)
    adds = [
        AddAction(
            path, facts.size, dict(zip(given.splits, values, strict=True)), now, True,
            json.dumps({"numRecords": facts.rows, "minValues": facts.least, "maxValues": facts.most}),
        )
        for path, facts, values in given.parts
    ]  # fmt: skip
    # where a table is made, a second attempt would add to one that somebody else has just made
    tries = {"max_commit_retries": 0} if table is None else {}
    transaction = Transaction(APPLICATION, given.number, now)
    properties = CommitProperties({APPLICATION: given.run}, app_transactions=[transaction], **tries)
    if table is None:
        where, options = named_for_others(given.folder)
        create_table_with_add_actions(
            where, Schema.from_arrow(given.schema), adds, partition_by=list(given.splits),
            commit_properties=properties, storage_options=options,
        )  # fmt: skip
        return
    mode = "overwrite" if given.overwrite else "append"
    table.create_write_transaction([*adds], mode, table.schema(), list(given.splits), commit_properties=properties)
