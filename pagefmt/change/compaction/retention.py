"""The journal retention: a folder with a copy of each file of the message journal that a broker has finished.

A broker copies a file when it rotates it, also before it compacts. So a compaction here first copies the replaced files
that the folder lacks, under names that a broker gives. Files that a compaction wrote consist of records whose originals
were copied before; brokers do not copy these again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import time

from pagefmt.change.compaction.apply import SPARE, CompactionStopped
from pagefmt.change.compaction.backup import sum_of
from pagefmt.change.compaction.journals import JournalsPlan
from pagefmt.journal.files import HEADER, Journal, JournalFile, decode_header
from pagefmt.journal.scan import scan
from pagefmt.quantities import size_text
from pagefmt.storage.files import MappedFile, file_pieces, read_start
from pagefmt.storage.writing import NEW_SUFFIX, Disk


@dataclass(frozen=True, slots=True)
class RetentionPlan:
    """The replaced journal files that the retention ``folder`` lacks. ``problem``: why they cannot be copied there."""

    folder: Path
    missing: tuple[JournalFile, ...]
    problem: str | None

    @property
    def size(self) -> int:
        """Return the bytes that the copies take."""
        return sum(file.size for file in self.missing)


def plan_retention(plan: JournalsPlan, folder: Path) -> RetentionPlan:
    """Return what a compaction in place has to copy to the retention folder first. Raises ``NotReadable``."""
    replaced = [
        file
        for journal in plan.journals
        if journal.made and journal.journal is Journal.MESSAGES
        for file, records in journal.loaded.torn
        if records.holds_records
    ]
    problem, kept = None, dict[Path, int]()
    try:
        kept = _ids(folder)
        if not os.access(folder, os.W_OK | os.X_OK):
            problem = "is not writable"
    except OSError as err:
        problem = (err.strerror or str(err)).lower()
    return RetentionPlan(folder, tuple(file for file in replaced if not _is_kept(file, kept)), problem)


def _ids(folder: Path) -> dict[Path, int]:
    """Return the file id of each journal file in the folder."""
    ids = {}
    for path in sorted(folder.iterdir()):
        if path.suffix == ".amq" and path.is_file():
            start = read_start(path, HEADER.size)
            if len(start) == HEADER.size:
                ids[path] = decode_header(start).file_id
    return ids


def _is_kept(file: JournalFile, kept: dict[Path, int]) -> bool:
    file_id = file.header.file_id
    same_id = [path for path, other in kept.items() if other == file_id and path.stat().st_size == file.size]
    if any(sum_of(path) == sum_of(file.path) for path in same_id):
        return True
    return any(other < file_id for other in kept.values()) and _is_compacted(file)


def _is_compacted(file: JournalFile) -> bool:
    """Return whether all records of a file are copies that a compaction made."""
    with MappedFile(file.path) as mapped:
        return all(record.compact > 0 for record in scan(mapped.buf, file.header))


def keep_history(plan: RetentionPlan, disk: Disk) -> None:
    """Copy the missing files to the retention folder. Raises ``CompactionStopped``, ``NotReadable``, ``OSError``."""
    free = os.statvfs(plan.folder)
    if free.f_bavail * free.f_frsize < plan.size + SPARE:
        raise CompactionStopped(
            f"{plan.folder}: too little free space for the journal retention, {size_text(plan.size + SPARE)} are needed"
        )
    with disk.below(plan.folder):
        for path in sorted(plan.folder.glob(f"*{NEW_SUFFIX}")):
            disk.remove_left_over(path)
        for file in plan.missing:
            disk.write(_new_name(plan.folder, file), file_pieces(file.path), like=file.path)


def _new_name(folder: Path, file: JournalFile) -> Path:
    """Return a name as brokers give it: local time of the copy in whole seconds, and file id."""
    return next(path for path in _names(folder, file) if not os.path.lexists(path))


def _names(folder: Path, file: JournalFile) -> Iterator[Path]:
    second = int(time())
    while True:
        yield folder / f"activemq-data-{datetime.fromtimestamp(second):%Y%m%d%H%M%S}-{file.header.file_id}.amq"
        second += 1
