"""What an export writes, where, and how: the rules of its options and of its target folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pagefmt.errors import PageFmtError
from pagefmt.spark.options import TableSpec
from pagefmt.spark.table import Increment, TableTarget
from pagefmt.spark.table_folder import EXPORTED, SUCCESS, TEMPORARY, Replaced, foreign, unfinished
from pagefmt.spark.table_formats import check_fits, check_format, format_of
from pagefmt.storage.remote_outputs import StoredPath
from pagefmt.storage.remote_paths import FarPath
from pagefmt.storage.writing import refuse_links
from pagefmt.table.table_body import TableBody
from pagefmt.table.table_content import Compression, LakeFormat, StoredIn, TableContent, WriteMode


class ExportRefused(PageFmtError):
    """Options that contradict each other, or a folder that holds something else than such a table."""


_REPLACED: Final = {WriteMode.OVERWRITE: Replaced.ALL, WriteMode.PARTITIONS: Replaced.PARTITIONS}


@dataclass(frozen=True, slots=True)
class ExportJob:
    """An export as it was called. ``to``: the folder as it was typed. ``backlogs``: whether they are counted as well.

    ``held``: the locked table that is being added to. ``increment``: what is new beside it. Both are None until that
    is known, and without ``incremental``.
    """

    to: str
    folder: Path
    mode: WriteMode
    form: LakeFormat
    compression: Compression
    splits: tuple[str, ...]
    spec: TableSpec
    incremental: bool
    backlogs: bool
    held: Path | None = None
    increment: Increment | None = None

    def check(self) -> None:
        """Raise ``ExportRefused`` for options that contradict, and for a folder that cannot become such a table.

        Raises ``FormatRefused`` without the libraries of the format, and ``LinkRefused`` for links in the folder.
        """
        if self.mode is WriteMode.PARTITIONS and not self.splits:
            raise ExportRefused(f"--mode {self.mode}: needs --partition-by")
        if self.incremental and (not self.spec.content.of_messages or self.mode is WriteMode.PARTITIONS):
            raise ExportRefused(
                "--incremental: adds messages to a table; it cannot be combined with other --what or --mode "
                "overwrite-partitions"
            )
        if self.incremental and self.spec.within is StoredIn.HISTORY:
            raise ExportRefused("--incremental: states in a history change; export it as a whole, or --in live")
        if self.form is not LakeFormat.PARQUET:
            if self.mode is WriteMode.PARTITIONS:
                raise ExportRefused(f"--table-format {self.form}: works with --mode append and overwrite only")
            check_format(self.form, self.folder)
        if self.folder.is_dir():
            if not isinstance(self.folder, FarPath):
                refuse_links(self.folder)
            self.check_format(self.folder)
            if not self.incremental:
                self.mode_in(self.folder)
        elif self.folder.exists():
            raise ExportRefused(f"{self.folder}: is a file; name a folder that does not exist yet")

    def check_format(self, folder: Path) -> None:
        """Raise ``ExportRefused`` if a folder holds a table of another format, columns or partitions.

        Files of an unfinished run do not count: they are undone first, and then this is checked again.
        """
        form = format_of(folder)
        if form is not self.form and {path.name for path in folder.iterdir()} - {TEMPORARY} and not unfinished(folder):
            raise ExportRefused(
                f"{folder}: contains no {self.form} table; give --table-format {form}, or another folder"
            )
        if form is self.form is not LakeFormat.PARQUET:
            check_fits(folder, self.spec.schema, self.splits)

    def mode_in(self, folder: Path) -> WriteMode:
        """Return the mode for what a folder holds: an empty one, and a table that grows, are appended to.

        Raises ``ExportRefused`` if the mode does not fit what is there.
        """
        names = {path.name for path in folder.iterdir()} - {TEMPORARY}
        if not names:
            return WriteMode.APPEND
        if self.incremental and self.mode is not WriteMode.OVERWRITE:
            if not any((folder / EXPORTED).glob("part-*.arrow")):
                raise ExportRefused(
                    f"{folder}: has no log of what was exported to it, so nothing can be added without repeating rows; "
                    "give --mode overwrite, or another folder"
                )
            return WriteMode.APPEND
        if self.mode is WriteMode.ERROR:
            whole = "a table" if SUCCESS in names else "files without the _SUCCESS of a complete table"
            raise ExportRefused(
                f"{folder}: contains {whole}; give --mode overwrite or --mode append, or another folder"
            )
        if EXPORTED in names and self.mode is not WriteMode.OVERWRITE:
            raise ExportRefused(
                f"{folder}: has a log of what was exported to it; give --incremental instead of --mode {self.mode}"
            )
        others = foreign(folder) if self.mode is WriteMode.OVERWRITE else []
        if others:
            raise ExportRefused(
                f"{folder}: contains {others[0]}, which does not belong to a table and would be lost; name another "
                "folder"
            )
        return self.mode

    def target_in(self, folder: Path, rights: int) -> TableTarget:
        """Return where and how the table is written. ``rights``: of its files. Raises what ``mode_in`` raises."""
        replaced = _REPLACED.get(self.mode_in(folder), Replaced.NOTHING)
        if replaced is Replaced.ALL and self.form is not LakeFormat.PARQUET:
            replaced = Replaced.LOG
        return TableTarget(folder, self.compression.value, self.splits, replaced, rights, self.form)


def table_spec(
    what: TableContent,
    within: StoredIn,
    body: TableBody,
    where: str | None,
    splits: Sequence[str],
    splittable: Sequence[str],
    states: tuple[str, ...] | None = None,
) -> TableSpec:
    """Return what the rows of a table are. ``splittable``: columns that tables of messages can be partitioned by.

    ``states``: as ``TableSpec`` has it.

    Raises ``ExportRefused`` for what such a table does not have, and the selector's error.
    """
    if not what.of_messages and (where is not None or body is not TableBody.SIZE):
        raise ExportRefused(f"--what {what}: has no messages; --where and --body work with --what messages only")
    if within is StoredIn.HISTORY and not what.of_messages:
        raise ExportRefused(f"--what {what}: a history has messages; --in history works with --what messages only")
    spec = TableSpec.now(content=what, within=within, body=body, where=where, states=states)
    names = (*spec.schema.names, *(["day", "hour"] if what.of_messages else []))
    allowed = [name for name in splittable if name in names]
    unknown = [name for name in splits if name not in allowed]
    if unknown:
        raise ExportRefused(
            f"--partition-by {unknown[0]}: no such column to partition by; choose from {', '.join(allowed)}"
        )
    return spec


def table_folder(folder: Path) -> Path:
    """Return the folder of a table; raise ``ExportRefused`` inside an archive, ``UnusableUrl`` for other URLs."""
    if not isinstance(folder, FarPath):
        return folder
    if folder.local_archive is not None:
        raise ExportRefused(f"{folder}: is inside an archive; name a folder, or a URL")
    return StoredPath(*folder.parts)
