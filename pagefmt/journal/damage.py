"""The damage of a journal: stretches without a record, files that are cut off or cannot be read.

This is the one judge for all commands. A torn record after the last record of the last file is no damage: every crash
leaves one, and nobody was told that it had been written. A file keeps the size that it is created with, so a shorter
one was cut off.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from pagefmt.findings import some
from pagefmt.journal.files import FileNote, FileProblem, JournalFile
from pagefmt.journal.scan import ALIGNMENT, TornRecords
from pagefmt.quantities import count_text

# Bytes of the record of one acknowledged position (docs/spec/journal.md 2, 5).
ACKNOWLEDGEMENT: Final = 43
UNREAD: Final = frozenset(
    (FileProblem.VERSION, FileProblem.NOT_REGULAR, FileProblem.UNREADABLE, FileProblem.GONE, FileProblem.NOT_PERMITTED)
)
UNLIKELY_FILE_ID: Final = 1 << 20  # file ids rise one by one: one that is so far above all others is damage


def files_out_of_order(files: Sequence[JournalFile]) -> list[JournalFile]:
    """Return the files whose header has a file id that cannot be that of their records."""
    ids = sorted(file.header.file_id for file in files)
    highest = ids[-1] if ids else 0
    second = ids[-2] if len(ids) > 1 else 0

    def is_likely(file_id: int) -> bool:
        others = second if file_id == highest else highest  # the highest id of the other files
        return 0 <= file_id <= others + UNLIKELY_FILE_ID

    return [file for file in files if not is_likely(file.header.file_id)]


class LostStretch(NamedTuple):
    """Bytes of a journal file in which records stood that cannot be read.

    ``size`` is the sum over all ``places``, the first of which begins at ``start``; 0 if it is not known.
    ``open_ended``: the file is cut off or cannot be read, so it is not known how much of it held records.
    ``permitted``: False if nothing is lost, but this user may not read the file.
    """

    file: str
    start: int
    size: int
    why: str
    places: int = 1
    open_ended: bool = False
    permitted: bool = True

    @property
    def most_acknowledgements(self) -> int | None:
        """Return how many records of acknowledgements fit there, or None if the size is not known."""
        return -(-self.size // ACKNOWLEDGEMENT) + self.places - 1 if self.size else None


class JournalDamage(NamedTuple):
    """At least one stretch. What stood there is not known; most records of a message journal are acknowledgements."""

    stretches: tuple[LostStretch, ...]

    @property
    def most_acknowledgements(self) -> int | None:
        """Return how many records of acknowledgements fit there, or None if the size of a stretch is not known."""
        counts = [stretch.most_acknowledgements for stretch in self.stretches]
        bounded = [count for count in counts if count is not None]
        return sum(bounded) if len(bounded) == len(counts) else None

    @property
    def not_permitted(self) -> str:
        """Return a phrase on the first file that this user may not read; empty if there is none."""
        closed = [f"{stretch.file} {stretch.why}" for stretch in self.stretches if not stretch.permitted]
        return some(closed, 1)

    @property
    def place(self) -> str:
        """Return a phrase on the first stretch, with the number of further ones."""
        first, more = self.stretches[0], len(self.stretches) - 1
        return f"{first.file}: {first.why}" + (f", and {more} more" if more else "")


def damage_of(torn: Iterable[tuple[JournalFile, TornRecords]], notes: Iterable[FileNote]) -> JournalDamage | None:
    """Return the damage of a journal, None if it is whole or ends as a crash leaves it."""
    torn = tuple(torn)
    usual = max((file.size for file, _ in torn), default=0)
    stretches = (*_gaps(torn, usual), *_cut_off(torn, usual), *_unread(notes, usual))
    return JournalDamage(stretches) if stretches else None


def _gaps(torn: tuple[tuple[JournalFile, TornRecords], ...], usual: int) -> Iterator[LostStretch]:
    last = max((n for n, (_, torn_records) in enumerate(torn) if torn_records.holds_records), default=len(torn))
    for n, (file, torn_records) in enumerate(torn):
        for start, end in torn_records.gaps:
            yield _lost(file, start, end)
        if torn_records.more_gaps:
            behind, places = torn_records.gaps[-1][1], count_text(torn_records.more_gaps, "place")
            why = f"{torn_records.more_bytes} bytes in {places} after offset {behind} hold no record"
            yield LostStretch(file.name, behind, torn_records.more_bytes, why, torn_records.more_gaps)
        if torn_records.tail and n < last and not is_cut_off(file, torn_records, usual):
            yield _lost(file, torn_records.end, file.size)


def _lost(file: JournalFile, start: int, end: int) -> LostStretch:
    return LostStretch(file.name, start, end - start, f"{end - start} bytes at offset {start} hold no record")


def is_cut_off(file: JournalFile, torn: TornRecords, usual: int) -> bool:
    """Return whether a file ends before it should. ``usual``: the size of the journal's largest file in bytes.

    Brokers create files of whole blocks. A file with records up to its end is cut off if others are larger; a file of
    another ``journal-file-size`` than today's has room left after its last record.
    """
    full = torn.tail or torn.end >= file.size
    return bool(file.size % ALIGNMENT and (full or file.size < usual)) or (full and file.size < usual)


def _cut_off(torn: tuple[tuple[JournalFile, TornRecords], ...], usual: int) -> Iterator[LostStretch]:
    for file, torn_records in torn:
        if is_cut_off(file, torn_records, usual):
            why = f"cut off at {file.size} bytes, in or after its last record"
            missing = usual - torn_records.end if usual > file.size else 0
            yield LostStretch(file.name, torn_records.end, missing, why, open_ended=True)


def _unread(notes: Iterable[FileNote], usual: int) -> Iterator[LostStretch]:
    for note in notes:
        if note.kind is FileProblem.NOT_PERMITTED:
            yield LostStretch(note.file, 0, note.size, note.detail, open_ended=True, permitted=False)
        elif note.kind in UNREAD:
            yield LostStretch(note.file, 0, note.size, f"{note.kind.value}: {note.detail}", open_ended=True)
        elif note.kind in (FileProblem.NO_RECORD, FileProblem.MISPLACED):
            yield LostStretch(note.file, 0, note.size, note.detail, open_ended=True)
        elif note.kind in (FileProblem.SHORT, FileProblem.SHORT_STOPS):
            why = f"cut off: {count_text(note.size, 'byte')} of it are left"
            yield LostStretch(note.file, note.size, max(usual - note.size, 0), why, open_ended=True)
