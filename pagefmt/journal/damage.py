"""What is missing from a journal, as far as that can be seen: stretches without a record, files that cannot be read.

Behind the last record of the last file a torn one is what every crash leaves: nobody was told that it had been written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from pagefmt.journal.files import FileNote, FileProblem, JournalFile
from pagefmt.journal.scan import TornRecords

ACKNOWLEDGEMENT: Final = 43
"""Bytes of the record of one acknowledged position (docs/spec/journal.md 2, 5)."""
UNREAD: Final = frozenset((FileProblem.VERSION, FileProblem.NOT_REGULAR, FileProblem.UNREADABLE, FileProblem.GONE))


class LostStretch(NamedTuple):
    """Bytes of a journal file in which records stood that cannot be read."""

    file: str
    start: int
    end: int
    why: str


class JournalDamage(NamedTuple):
    """At least one stretch. What stood there is not known; most records of a message journal are acknowledgements."""

    stretches: tuple[LostStretch, ...]

    @property
    def most_acknowledgements(self) -> int | None:
        """So many acknowledgements had room there; None where nobody knows how large a file was."""
        if any(stretch.start == stretch.end for stretch in self.stretches):
            return None
        return sum(-(-(stretch.end - stretch.start) // ACKNOWLEDGEMENT) for stretch in self.stretches)

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
        gaps = [*found.gaps, *([(found.end, file.size)] if found.tail and n < last else [])]
        for start, end in gaps:
            yield LostStretch(file.name, start, end, f"{end - start} bytes at offset {start} hold no record")


def _unread(notes: Iterable[FileNote]) -> Iterator[LostStretch]:
    for note in notes:
        if note.kind in UNREAD:
            yield LostStretch(note.file, 0, note.size, f"{note.kind.value}: {note.detail}")
