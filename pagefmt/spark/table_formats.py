"""Delta Lake and Iceberg: tables whose readers see the files that the last commit names.

Tasks write the same Parquet files in every format; these become visible by one commit, which carries the number of the
export: in Delta Lake as the version of an application's transaction, in Iceberg as a property of the table. This shows
whether a killed export was completed. Neither needs Spark's libraries.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

import pyarrow as pa

from pagefmt.errors import PageFmtError, installation
from pagefmt.spark.format_commit import (
    APPLICATION,
    ICEBERG_FILES,
    VERSION_HINT,
    FormatCommit,
    FormatRefused,
    iceberg_version,
    named_for_others,
)
from pagefmt.table.named_columns import TIME
from pagefmt.table.partitions import is_absent
from pagefmt.table.table_content import LakeFormat

if TYPE_CHECKING:
    from deltalake import DeltaTable

DELTA_LOG: Final = "_delta_log"
_LIBRARIES: Final = {LakeFormat.DELTA: "deltalake", LakeFormat.ICEBERG: "pyiceberg"}
_NOISE: Final = re.compile(r"\x1b\[[0-9;]*m|[│╰╭├↳▶─]| for path \S+|Error performing \w+ \S+ in [^\s,]+|<\?xml.*|\?\S+")
_MICROSECONDS: Final = pa.timestamp("us", "UTC")


def carry_out_commit(commit: FormatCommit, noting: Path) -> None:
    """Make the files part of the table by one commit. Raise ``FormatRefused`` if it cannot be made.

    ``noting``: a file to which the Iceberg commit writes the names of its own files, to be removed if it fails.
    """
    with _in_one_line(commit.table):
        if commit.form is LakeFormat.DELTA:
            _commit_delta(commit)
        else:
            from pagefmt.spark.iceberg import commit_iceberg

            commit_iceberg(commit, noting)


def check_format(form: LakeFormat, folder: Path) -> None:
    """Raise ``FormatRefused`` or ``UnusableUrl`` if no table of this format can be written."""
    named_for_others(folder)
    check_library(form)


def check_library(form: LakeFormat) -> None:
    """Raise ``FormatRefused`` if the format's library is not installed."""
    name = _LIBRARIES.get(form)
    if name is not None and find_spec(name) is None:
        raise FormatRefused(f"--table-format {form}: {name} is not installed; do: {installation('tables')}")


def format_of(folder: Path) -> LakeFormat:
    """Return the format of the table in a folder."""
    if (folder / DELTA_LOG).is_dir():
        return LakeFormat.DELTA
    iceberg = any((folder / ICEBERG_FILES / name).exists() for name in (VERSION_HINT, iceberg_version(1)))
    return LakeFormat.ICEBERG if iceberg else LakeFormat.PARQUET


def last_export(folder: Path) -> int:
    """Return the number of the last export in a table of a lake format; 0 if there is none. Raise ``FormatRefused``."""
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
    """Return the names of the Parquet files that a table has now. Raise ``FormatRefused``."""
    form = format_of(folder)
    if form is LakeFormat.PARQUET:
        return [path.name for path in folder.rglob("part-*.parquet")]
    check_library(form)
    with _in_one_line(folder):
        if form is LakeFormat.DELTA:
            uris = _delta(folder).file_uris()
        else:
            from pagefmt.spark.iceberg import data_files_at

            uris = data_files_at(folder)
    return [uri.rpartition("/")[2] for uri in uris]


def finish(folder: Path) -> None:
    """Complete a commit that has succeeded."""
    if format_of(folder) is LakeFormat.ICEBERG:
        from pagefmt.spark.iceberg import note_version

        note_version(folder)


def table_schema(schema: pa.Schema, splits: Sequence[str]) -> pa.Schema:
    """Return the columns of a table in a lake format: including partition columns, with times in microseconds."""
    every = [*schema, *(pa.field(name, pa.string()) for name in splits if name not in schema.names)]
    times = {TIME: _MICROSECONDS}
    return pa.schema(
        pa.field(field.name, times.get(field.type, field.type), field.nullable or field.name in splits)
        for field in every
    )


def check_fits(folder: Path, schema: pa.Schema, splits: Sequence[str]) -> None:
    """Raise ``FormatRefused`` if the table in a folder has other columns or partitions."""
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
    """Return the partition values that folder names stand for. ``shortened``: see ``PartitionedTable``."""
    return tuple(
        None if is_absent(name, text) else shortened[unquote(text)] if "~" in text else unquote(text)
        for name, _, text in (folder.partition("=") for folder in folders)
    )


@contextmanager
def _in_one_line(folder: Path) -> Iterator[None]:
    """Turn errors of a library into a ``FormatRefused`` of one line."""
    try:
        yield
    except PageFmtError:
        raise
    except Exception as err:
        if isinstance(err, OSError) and err.errno is not None:
            raise
        raise FormatRefused(f"{folder}: the table's log cannot be read or written: {_error_text(err)}") from err


def _error_text(err: Exception) -> str:
    """Return the text of a library's error on one line, without colours and URLs, of at most 300 characters.

    Of a store's answer only the reason is returned.
    """
    from pagefmt.storage.stores.answers import code_reason  # obstore, which an executor has for URLs alone

    if reason := code_reason(str(err)):
        return reason
    return " ".join(_NOISE.sub("", str(err)).split())[:300]


def _delta(folder: Path) -> DeltaTable:
    from deltalake import DeltaTable

    where, options = named_for_others(folder)
    return DeltaTable(where, storage_options=options)


def _commit_delta(commit: FormatCommit) -> None:
    there = (commit.folder / DELTA_LOG).exists()
    table = _delta(commit.folder) if there else None
    before = -1 if table is None else table.version()
    try:
        _commit_to(table, commit)
    except Exception as err:
        behind = [*_commits_behind(commit.folder, before)]
        if any(commit.run in entry for entry in behind):
            return  # this commit has succeeded, only its answer was lost
        if behind:
            raise FormatRefused(
                f"{commit.table}: another program has committed to it meanwhile; export again ({_error_text(err)})"
            ) from err
        raise


def _commits_behind(folder: Path, version: int) -> Iterator[str]:
    while (log := folder / DELTA_LOG / f"{(version := version + 1):020d}.json").exists():
        yield log.read_text("utf-8")


def _commit_to(table: DeltaTable | None, commit: FormatCommit) -> None:
    from deltalake import CommitProperties, Schema, Transaction
    from deltalake.transaction import AddAction, create_table_with_add_actions

    now = int(time.time() * 1000)
    adds = [
        AddAction(
            path,
            facts.size,
            dict(zip(commit.splits, values, strict=True)),
            now,
            True,
            json.dumps({"numRecords": facts.rows, "minValues": facts.least, "maxValues": facts.most}),
        )
        for path, facts, values in commit.parts
    ]
    # where a table is made, a second attempt would add to one that somebody else has just made
    tries = {"max_commit_retries": 0} if table is None else {}
    transaction = Transaction(APPLICATION, commit.number, now)
    properties = CommitProperties({APPLICATION: commit.run}, app_transactions=[transaction], **tries)
    if table is None:
        where, options = named_for_others(commit.folder)
        create_table_with_add_actions(
            where,
            Schema.from_arrow(commit.schema),
            adds,
            partition_by=list(commit.splits),
            commit_properties=properties,
            storage_options=options,
        )
        return
    mode = "overwrite" if commit.overwrite else "append"
    table.create_write_transaction([*adds], mode, table.schema(), list(commit.splits), commit_properties=properties)
