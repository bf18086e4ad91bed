"""The backup of ``pages compact --in-place``: where it is, and dropping it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from pagectl.running.exits import CallError
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import note
from pagefmt.quantities import count_text, size_text

if TYPE_CHECKING:
    from pagefmt.change.compaction.backup import Backup
    from pagefmt.directory.locate import DataLocation


def backup_folder(place: DataLocation, named: Path | None) -> Path:
    """Return the folder of the backup, existing or not: beside the pages, unless another one was named."""
    from pagefmt.change.compaction.backup import NAME

    beside = place.paging or place.journal or place.bindings
    if beside is None:
        raise CallError(f"{place.given}: no paging directory; name the data directory or the instance")
    return named.absolute() if named is not None else beside.resolve().parent / NAME


def again(place: DataLocation, named: Path | None) -> str:
    """Return what names the directory, and its backup, in the next command."""
    backup = f" --backup-dir {quote(str(named.absolute()))}" if named is not None else ""
    return one_line(f"{quote(str(place.given))}{backup}")


@contextmanager
def ways_out(place: DataLocation, named: Path | None) -> Iterator[None]:
    """Tell of a backup that is in the way by which commands it is restored or dropped."""
    from pagefmt.change.compaction.backup import BackupStands

    try:
        yield
    except BackupStands as err:
        same = again(place, named)
        restored = f"to restore it: pagectl pages restore {same}; " if err.can_be_restored else ""
        raise CallError(f"{err}; {restored}to drop it: pagectl pages drop-backup {same}") from err


def standing_backup_of(place: DataLocation, named: Path | None) -> Backup:
    """Return the existing backup. Raise ``CallError`` if there is none."""
    from pagefmt.change.compaction.backup import read_backup
    from pagefmt.change.compaction.planning import roots_of

    folder = backup_folder(place, named)
    if not folder.exists():
        raise CallError(f"{folder}: no backup here; it is beside the pages or in the folder given as --backup-dir")
    return read_backup(folder, roots_of(place))


def drop(backup: Backup) -> None:
    """Remove it, and say what that gave back."""
    from pagefmt.change.compaction.backup import discard
    from pagefmt.storage.writing import Disk

    note(f"writes {backup.folder}")
    print(f"dropped the backup of {count_text(len(backup.entries), 'file')}, {size_text(discard(Disk(), backup))}")
