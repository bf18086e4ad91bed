"""What is missing from a journal, as far as that can be seen: stretches without a record, files that cannot be read.

Behind the last record of the last file a torn one is what every crash leaves: nobody was told that it had been written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from pagefmt.journal.files import FileNote, FileProblem, JournalFile
from pagefmt.journal.scan import TornRecords
from pagefmt.quantities import count_text

ACKNOWLEDGEMENT: Final = 43
"""Bytes of the record of one acknowledged position (docs/spec/journal.md 2, 5)."""
UNREAD: Final = frozenset((FileProblem.VERSION, FileProblem.NOT_REGULAR, FileProblem.UNREADABLE, FileProblem.GONE))


class LostStretch(NamedTuple):
    """Bytes of a journal file in which records stood that cannot be read. ``size``: of all ``places``, the first of
    which begins at ``start``."""

    file: str
    start: int
    size: int
    why: str
    places: int = 1

    @property
    def most_acknowledgements(self) -> int:
        """So many had room there."""
        return -(-self.size // ACKNOWLEDGEMENT) + self.places - 1


class JournalDamage(NamedTuple):
    """At least one stretch. What stood there is not known; most records of a message journal are acknowledgements."""

    stretches: tuple[LostStretch, ...]

    @property
    def most_acknowledgements(self) -> int | None:
        """So many acknowledgements had room there; None where nobody knows how large a file was."""
        if not all(stretch.size for stretch in self.stretches):
            return None
        return sum(stretch.most_acknowledgements for stretch in self.stretches)

    @property
    def place(self) -> str:
        """The first stretch in words, and how many more there are."""
        first, more = self.stretches[0], len(self.stretches) - 1
        return f"{first.file}: {first.why}" + (f", and {more} more" if more else "")


def damage_of(torn: Iterable[tuple[JournalFile, TornRecords]], notes: Iterable[FileNote]) -> JournalDamage | None:
    """None for a journal that is whole, or that ends as a crash leaves it."""
    stretches = (*_gaps(tuple(torn)), *_unread(notes))
    return JournalDamage(stretches) if stretches else None


def _gaps(torn: tuple[tuple[JournalFile, TornRecords], ...]) -> Iterator[LostStretch]:
    last = max((n for n, (_, found) in enumerate(torn) if found.holds_records), default=len(torn))
    for n, (file, found) in enumerate(torn):
        for start, end in found.gaps:
            yield _lost(file, start, end)
        if found.more_gaps:
            behind, places = found.gaps[-1][1], count_text(found.more_gaps, "place")
            why = f"{found.more_bytes} bytes in {places} after offset {behind} hold no record"
            yield LostStretch(file.name, behind, found.more_bytes, why, found.more_gaps)
        if found.tail and n < last:
            yield _lost(file, found.end, file.size)


def _lost(file: JournalFile, start: int, end: int) -> LostStretch:
    return LostStretch(file.name, start, end - start, f"{end - start} bytes at offset {start} hold no record")


def _unread(notes: Iterable[FileNote]) -> Iterator[LostStretch]:
    for note in notes:
        if note.kind in UNREAD:
            yield LostStretch(note.file, 0, note.size, f"{note.kind.value}: {note.detail}")
