"""Which files a history consists of, in which order they were written, and when (docs/spec/history.md 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Final, NamedTuple

from pagefmt.journal.files import FileNote, Journal, JournalFile
from pagefmt.journal.listing import list_files
from pagefmt.journal.retained import RETAINED_NAME, WITHIN, copy_times, without_copies

ATTIC: Final = "attic"  # a folder in the journal's folder: files that a broker set aside


class TimeBracket(NamedTuple):
    """The times between which the records of a file were written; None: not known."""

    not_before: datetime | None
    not_after: datetime | None


class HistoryListing(NamedTuple):
    """The files of a history by their file ids.

    ``notes``: about files that are not read, or damaged. ``copied``: the time of the copy by file name, of those in a
    retention folder.
    """

    files: tuple[JournalFile, ...]
    notes: tuple[FileNote, ...]
    copied: dict[str, datetime]


def list_history(retention: Path | None, journal: Path | None, zone: tzinfo | None = None) -> HistoryListing:
    """List the files of a retention folder, of a journal, and of the attic in it; each record comes from one file.

    A file that is the beginning of another is left out: a journal still has files that were copied already. ``zone``:
    of the broker that named the files, None for that of this machine. Raises ``NotAJournal`` and ``NotPermitted``.
    """
    files: list[JournalFile] = []
    notes: list[FileNote] = []
    folders = [(journal, ""), (_attic(journal), f"{ATTIC}/"), (retention, "")]
    for folder, prefix in folders:
        if folder is not None:
            listing = list_files(folder, Journal.MESSAGES)
            files += (file._replace(name=prefix + file.name) for file in listing.files)
            notes += (note._replace(file=prefix + note.file) for note in listing.notes)
    files.sort(key=lambda file: file.header.file_id)
    kept, _ = without_copies(files)
    return HistoryListing(tuple(kept), tuple(notes), copy_times(kept, zone))


def _attic(journal: Path | None) -> Path | None:
    if journal is None or not journal.is_dir() or not (journal / ATTIC).is_dir():
        return None
    return journal / ATTIC


class WrittenFile(NamedTuple):
    """What places a file in time: its id, whether a compaction wrote records of it, and its highest other id.

    ``newest``: of messages, records and transactions whose records are no copies of a compaction; None: it has none.
    """

    file_id: int
    is_compacted: bool
    newest: int | None


def written_order(files: Sequence[WrittenFile]) -> list[int]:
    """Return the indexes of the files in the order in which they were written (docs/spec/history.md 6.2).

    That is the order of their ids, except that a broker may continue a file that a compaction wrote: such a file goes
    before the first one with a higher newest id.
    """
    continued = [n for n, file in enumerate(files) if file.is_compacted and file.newest is not None]
    order = [n for n in range(len(files)) if n not in set(continued)]
    for n in sorted(continued, key=lambda n: files[n].newest or 0):
        newest = files[n].newest or 0
        later = (at for at, other in enumerate(order) if (files[other].newest or 0) > newest)
        order.insert(next(later, len(order)), n)
    return order


def brackets(names: Sequence[str], copied: Mapping[str, datetime]) -> list[TimeBracket]:
    """Return the times of the files with these names, which are in the order in which they were written.

    A file was written before it was copied. It was begun before the file before it was copied, but not by more than a
    second. Names have whole seconds, so a copy was made within a second of its name.
    """
    times = [copied.get(name) if RETAINED_NAME.fullmatch(name) else None for name in names]
    before: datetime | None = None
    lower = []
    for time in times:
        lower.append(None if before is None else before - WITHIN)
        before = time if time is not None and (before is None or time > before) else before
    after: datetime | None = None
    upper = []
    for time in reversed(times):
        after = time if time is not None and (after is None or time < after) else after
        upper.append(None if after is None else after + WITHIN)
    return [TimeBracket(*both) for both in zip(lower, reversed(upper), strict=True)]
