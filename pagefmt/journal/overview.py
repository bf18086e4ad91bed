"""The files of a journal one by one: what in them counts, what is dead, and in what condition they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pagefmt.findings import Severity
from pagefmt.journal.load import LoadedJournal
from pagefmt.journal.records import FRAME_LAYOUTS, RecordKind
from pagefmt.quantities import count_text


class JournalFileOverview(NamedTuple):
    """Counts and condition of one journal file.

    ``live_bytes``: what its live records take once they are written anew. None: not known, or no journal file.

    ``sound``: nothing is wrong with it; a file that holds no record, and what a broker tidies up, is sound as well.
    """

    name: str
    id: int | None
    size: int
    records: int | None
    live: int | None
    record_bytes: int | None
    live_bytes: int | None
    conditions: tuple[str, ...]
    remarks: tuple[str, ...]
    sound: bool


def journal_overview(loaded: LoadedJournal, *, live: bool = False) -> Iterator[JournalFileOverview]:
    """Yield the files in load order, then other observations.

    ``live``: a broker writes at the end of the last file.
    """
    counts, sizes = _live(loaded)
    notes = list(loaded.notes)
    lost = {stretch.file for stretch in loaded.damage.stretches} if loaded.damage else set()
    for file, torn in loaded.torn:
        own = [note for note in notes if note.file == file.name]
        notes = [note for note in notes if note.file != file.name]
        moving = live and torn.tail and loaded.written_to(file)
        conditions = [note.kind.value for note in own]
        remarks = [note.detail for note in own]
        if torn.count and not moving:
            conditions.append("torn records")
            first = torn.first[0]
            remarks.append(
                f"{count_text(torn.count, 'torn record')}, the first at offset {first.offset}: {first.detail}"
            )
        elif file.name in lost:
            conditions.append("records missing")
        sound = not (torn.count and not moving) and file.name not in lost
        number = loaded.columns.files.index(file)
        yield JournalFileOverview(
            file.name,
            file.header.file_id,
            file.size,
            torn.records,
            counts[number],
            torn.record_bytes,
            sizes[number],
            tuple(conditions) or ("ok" if torn.records else "free",),
            tuple(remarks),
            sound and not any(note.severity(live=live) is not Severity.INFO for note in own),
        )
    for note in notes:
        yield JournalFileOverview(
            note.file,
            None,
            note.size,
            None,
            None,
            None,
            None,
            (note.kind.value,),
            (note.detail,),
            note.severity(live=live) is Severity.INFO,
        )


def _live(loaded: LoadedJournal) -> tuple[list[int], list[int]]:
    """Return by file number the records that count, including those of prepared transactions, and their bytes."""
    import numpy as np

    columns, files = loaded.columns, len(loaded.columns.files)
    counts, sizes = np.zeros(files, np.int64), np.zeros(files, np.int64)
    for rows in loaded.live_rows():
        numbers = np.searchsorted(columns.begins, rows, "right") - 1
        bodies = columns.sizes.at(rows)
        counts += np.bincount(numbers, minlength=files)
        sizes += np.bincount(numbers, bodies, files).astype(np.int64)
    sizes += counts * FRAME_LAYOUTS[2][RecordKind.ADD].total
    for branch in loaded.prepared:
        counts[branch.file] += 1
        sizes[branch.file] += FRAME_LAYOUTS[2][RecordKind.PREPARE].total + len(branch.xid)
    return counts.tolist(), sizes.tolist()
