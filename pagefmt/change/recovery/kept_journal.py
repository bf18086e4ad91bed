"""A journal as far as it can be read, and what is missing from it.

Destroyed headers are rebuilt from the records after them, which name the id of their file (docs/spec/journal.md 2).
Records on which a broker does not start, or that refer to nothing, are left out.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from pagefmt.directory.bindings import Bindings
from pagefmt.journal.damage import LostStretch, files_out_of_order
from pagefmt.journal.files import (
    HEADER,
    FileProblem,
    Journal,
    JournalFile,
    JournalHeader,
    JournalListing,
    decode_header,
)
from pagefmt.journal.listing import list_files
from pagefmt.journal.load import LoadedJournal, load_files
from pagefmt.journal.numbers import Numbers
from pagefmt.journal.record_types import BINDINGS
from pagefmt.journal.records import CHECK, FILE_ID_MASK
from pagefmt.storage.files import FileStretches, NotReadable, file_pieces, read_start

FORMAT: Final = 2
_CANDIDATES: Final = 16
_PIECE: Final = 1 << 18


class JournalFault(NamedTuple):
    """What is wrong with a file, and what becomes of it."""

    file: str
    what: str
    action: str


@dataclass(frozen=True, slots=True)
class RetainedJournal:
    """The part of a journal that stays (``loaded``), and what is wrong with the rest."""

    journal: Journal
    loaded: LoadedJournal
    faults: tuple[JournalFault, ...]

    @property
    def stretches(self) -> tuple[LostStretch, ...]:
        """Return the stretches of bytes in which records are lost."""
        return self.loaded.damage.stretches if self.loaded.damage is not None else ()

    @property
    def gone(self) -> bool:
        """Return whether no file contains a record."""
        return not any(scanned.holds_records for _, scanned in self.loaded.torn)

    @property
    def damaged(self) -> bool:
        """Something of it is lost, or may be."""
        return bool(self.faults or self.stretches)

    def of(self, rows: Iterable[int]) -> RetainedJournal:
        """Return the journal with only these rows."""
        return replace(self, loaded=replace(self.loaded, rows=Numbers(rows)))

    def without(self, rows: Iterable[int]) -> RetainedJournal:
        """Return the same without these rows."""
        left_out = set(rows)
        return self.of(row for row in self.loaded.rows if row not in left_out)


def read_kept(folder: Path | None, journal: Journal) -> RetainedJournal:
    """Read all readable files of a journal. Raise ``NotAJournal`` if the folder cannot be listed."""
    listing = JournalListing((), ()) if folder is None else list_files(folder, journal)
    files, faults, mended = list[JournalFile](), list[JournalFault](), set[str]()
    refused = list(_refused(folder, listing))
    odd_ones = {file.name for file in (*refused, *files_out_of_order(listing.files))}
    for old in (*refused, *listing.files):
        odd = old.name in odd_ones
        new = _mended(old) if odd else old
        if odd:
            what = f"its header is damaged: format {old.header.version}, file id {old.header.file_id}"
            action = "contains no record: left out"
            if new is not None:
                action = f"read as file {new.header.file_id}, which its records refer to, and written with a new header"
            faults.append(JournalFault(old.name, what, action))
        if new is not None:
            files.append(new)
            mended.add(new.name)
    files, doubled = _once(sorted(files, key=lambda file: (file.header.file_id, file.name)))
    faults += [JournalFault(name, f"a second copy of {original}", "left out") for name, original in doubled]
    notes = tuple(note for note in listing.notes if note.kind is not FileProblem.VERSION or note.file not in mended)
    loaded = load_files(JournalListing(tuple(files), notes))
    return RetainedJournal(journal, loaded, tuple(faults))


def _refused(folder: Path | None, listing: JournalListing) -> Iterator[JournalFile]:
    """Yield files with a header that no broker accepts."""
    for note in listing.notes:
        path = (folder or Path()) / note.file
        if note.kind is FileProblem.VERSION and path.is_file():
            yield JournalFile(path, note.file, note.size, decode_header(read_start(path, HEADER.size)))


def _mended(file: JournalFile) -> JournalFile | None:
    """Return the file with a header of the id that its first records name, or None if they name none."""
    try:
        with FileStretches(file.path) as opened:
            file_id = _stated_id(opened)
    except NotReadable:
        return None
    return None if file_id is None else file._replace(header=JournalHeader(FORMAT, 0, file_id), stated=file.header)


def _stated_id(opened: FileStretches) -> int | None:
    """Return the file id that the first records name, or None.

    The current contents of a file start at its beginning; after them there may be records of its earlier use.
    """
    import numpy as np

    from pagefmt.journal.fast_scan import record_types, stated_ids
    from pagefmt.journal.windows import first_stated

    counts_by_id: Counter[int] = Counter()
    for at in range(HEADER.size, opened.size, _PIECE):
        piece = np.frombuffer(opened[at : min(at + _PIECE + CHECK.size, opened.size)], np.uint8)
        ids, counts = np.unique(stated_ids(piece, record_types(piece, 0, _PIECE)), return_counts=True)
        most = np.argsort(-counts, kind="stable")[:_CANDIDATES]
        counts_by_id.update(dict(zip(ids[most].tolist(), counts[most].tolist(), strict=True)))
    likely = [file_id for file_id, _ in counts_by_id.most_common(_CANDIDATES) if 0 < file_id <= FILE_ID_MASK]
    return first_stated(opened, FORMAT, likely)


def _once(files: list[JournalFile]) -> tuple[list[JournalFile], list[tuple[str, str]]]:
    """Return the files without identical copies, and pairs of the name left out and the name kept."""
    kept: list[JournalFile] = []
    doubled: list[tuple[str, str]] = []
    sums: dict[tuple[int, bytes], str] = {}
    several = {first.header.file_id for first, second in pairwise(files) if first.header == second.header}
    for file in files:
        if file.header.file_id in several:
            summed = hashlib.sha256()
            for piece in file_pieces(file.path):
                summed.update(piece)
            key = (file.header.file_id, summed.digest())
            if key in sums:
                doubled.append((file.name, sums[key]))
                continue
            sums[key] = file.name
        kept.append(file)
    return kept, doubled


def readable_bindings(kept: RetainedJournal) -> tuple[RetainedJournal, Bindings]:
    """Return the bindings and their journal without records that are unreadable or belong to another journal."""
    if misplaced := kept.loaded.misplaced(BINDINGS):
        fault = JournalFault("bindings", misplaced.text, "left out")
        kept = replace(kept.without(misplaced.rows), faults=(*kept.faults, fault))
    bindings = Bindings(kept.loaded)
    unreadable = [record for record in bindings.bad if not record.longer]
    suspects = {(record.record, record.user_type) for record in unreadable}
    if not suspects:
        return kept, bindings
    bad = {
        row.row
        for row in kept.loaded.records()
        if (row.id, row.user_type) in suspects and Bindings(replace(kept.loaded, rows=Numbers([row.row]))).bad
    }
    faults = [
        JournalFault("bindings", f"record {record.record} cannot be read: {record.detail}", "left out")
        for record in unreadable
    ]
    left = replace(kept.without(bad), faults=(*kept.faults, *faults))
    return left, Bindings(left.loaded)
