"""The description of a commit to a Delta Lake or Iceberg table, and the names that both sides of it share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from pagefmt.errors import PageFmtError
from pagefmt.storage.remote_outputs import StoredPath
from pagefmt.table.table_content import LakeFormat

# application id of transactions in Delta Lake, and a property of an Iceberg table
APPLICATION: Final = "pagectl-export"
ICEBERG_FILES: Final = "metadata"
VERSION_HINT: Final = "version-hint.text"


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
        """Read the facts of a Parquet file from its footer."""
        metadata = pq.read_metadata(path)
        least: dict[str, int] = {}
        most: dict[str, int] = {}
        for group in map(metadata.row_group, range(metadata.num_row_groups)):
            for column in map(group.column, range(metadata.num_columns)):
                stats = column.statistics if column.is_stats_set else None
                if stats is not None and stats.has_min_max and stats.logical_type.type != "TIMESTAMP":
                    name = column.path_in_schema
                    least[name] = min(stats.min, least.get(name, stats.min))
                    most[name] = max(stats.max, most.get(name, stats.max))
        return cls(path.stat().st_size, metadata.num_rows, least, most)


class TablePart(NamedTuple):
    """A file of a table: its path in the table, and the partition values of its folders."""

    path: str
    facts: FileFacts
    values: tuple[str | None, ...]


class FormatCommit(NamedTuple):
    """One commit to a table. ``table``: its final location; ``folder``: where it is while it is written.

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


def iceberg_version(version: int) -> str:
    """Return the file name of a version's metadata."""
    return f"v{version}.metadata.json"


def named_for_others(folder: Path) -> tuple[str, dict[str, str] | None]:
    """Return a table's location and storage options for other libraries. Raise ``UnusableUrl``."""
    return folder.table_location() if isinstance(folder, StoredPath) else (str(folder), None)
