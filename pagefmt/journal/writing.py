"""Journal files written: new ones made of records, and existing ones with some of their records taken out.

A rewritten file keeps its header, its size and the order of its records. What is taken out leaves no gap: a reader
would take that for damage. A commit or prepare record names how many records its transaction has in the same file
(docs/spec/journal.md 3.2), so that number is written anew.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from struct import calcsize
from typing import TYPE_CHECKING, Final, NamedTuple

from pagefmt.journal.files import HEADER, JournalFile, JournalHeader, encode_header
from pagefmt.journal.record_types import RecordType
from pagefmt.journal.records import CHECK, FRAME_LAYOUTS, JournalRecord, RecordKind, encode
from pagefmt.journal.scan import TornRecords
from pagefmt.storage.files import FileStretches
from pagefmt.storage.writing import Disk

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pagefmt.journal.fast_scan import Ints, JournalFrames
    from pagefmt.journal.load import LoadedJournal

FILE_SIZE: Final = 1024 * 1024
FORMAT: Final = 2
_WITH_TYPE: Final = (RecordKind.ADD, RecordKind.UPDATE, RecordKind.ADD_TX, RecordKind.UPDATE_TX)
_ENDS: Final = (RecordKind.PREPARE, RecordKind.COMMIT)
_NUMBER: Final = CHECK
# Offset of the number of references in the body of a page transaction.
_REFERENCES_AT: Final = 8
_PIECE: Final = 1 << 20


class Unwanted(NamedTuple):
    """A rule for records to remove: those of the user ``types`` whose id is one of ``values``.

    ``body``: instead of the id, the ``i64`` at the start of the body is compared.
    """

    types: tuple[int, ...]
    values: Collection[int]
    body: bool = False


@dataclass(frozen=True, slots=True)
class JournalChange:
    """The changes of a journal. ``references``: page transaction → new number of references in its record."""

    unwanted: Sequence[Unwanted]
    references: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileChange:
    """The change of one file. ``lost``: transaction → number of its records removed here; ``records``: all removed."""

    file: JournalFile
    change: JournalChange
    lost: Mapping[int, int]
    records: int

    def content(self) -> Iterator[bytes | memoryview]:
        """Yield the new content, as long as the old one. Memory: a window. Raise ``NotReadable``."""
        from pagefmt.journal.windows import frames_in_windows

        with FileStretches(self.file.path) as opened:
            left = opened.size - HEADER.size
            yield bytes(opened[0 : HEADER.size])
            for frames in frames_in_windows(opened, self.file.header, TornRecords()):
                for part in self._staying(opened, frames):
                    yield part
                    left -= len(part)
        while left:
            yield bytes(min(left, _PIECE))
            left -= min(left, _PIECE)

    def _staying(self, opened: FileStretches, frames: JournalFrames) -> Iterator[bytes | memoryview]:
        """Yield the bytes of the records that stay, with their numbers changed as planned."""
        import numpy as np

        stays = ~_unwanted(frames, self.change.unwanted)
        if not stays.any():
            return
        # Records that stay add 1 at their start and -1 at their end, so the running sum is 1 within them: one selection
        # copies them all. Only the last record can extend beyond the window; its remainder is read from the file.
        starts, ends = (frames.at - frames.base)[stays], (frames.at + frames.total - frames.base)[stays]
        upto = min(int(ends[-1]), len(frames.content))
        new, marks = frames.content[:upto].copy(), np.zeros(upto + 1, np.int8)
        for at, number in _numbers(frames, self.file.header.version, self.change, self.lost):
            new[at - frames.base : at - frames.base + _NUMBER.size] = np.frombuffer(_NUMBER.pack(number), np.uint8)
        marks[starts] += 1
        marks[np.minimum(ends, upto)] -= 1
        yield memoryview(new[np.cumsum(marks[:-1], dtype=np.int8).view(bool)])
        for start in range(frames.base + upto, frames.base + int(ends[-1]), _PIECE):
            yield bytes(opened[start : min(start + _PIECE, frames.base + int(ends[-1]))])


def changed_file(file: JournalFile, change: JournalChange) -> FileChange | None:
    """Return the change of one file, or None if the file stays as it is. Raise ``NotReadable``."""
    import numpy as np

    from pagefmt.journal.windows import frames_in_windows

    lost, records, named = Counter[int](), 0, False
    with FileStretches(file.path) as opened:
        for frames in frames_in_windows(opened, file.header, TornRecords()):
            goes = _unwanted(frames, change.unwanted)
            records += int(goes.sum())
            lost.update(frames.tx[goes & np.isin(frames.kind, (RecordKind.ADD_TX, RecordKind.UPDATE_TX))].tolist())
            named = named or any(True for _ in _numbers(frames, file.header.version, change, {}))
    return FileChange(file, change, lost, records) if records or named else None


def _first_of_body(frames: JournalFrames) -> Ints:
    """Return the ``i64`` at the start of each body; -1 for shorter bodies, and for records without a user type."""
    import numpy as np

    from pagefmt.journal.fast_scan import bodies_at

    first = np.full(len(frames.kind), -1, np.int64)
    rows = np.flatnonzero(np.isin(frames.kind, _WITH_TYPE) & (frames.size >= 8))
    first[rows] = bodies_at(frames.content, frames.body[rows] - frames.base, 8).view(">i8")
    return first


def _unwanted(frames: JournalFrames, unwanted: Sequence[Unwanted]) -> npt.NDArray[np.bool_]:
    """Return which of the records are removed: those that any of the ``unwanted`` describes."""
    import numpy as np

    first = _first_of_body(frames)
    typed, goes = np.isin(frames.kind, _WITH_TYPE), np.zeros(len(frames.kind), bool)
    for types, values, body in unwanted:
        sought = np.fromiter(values, np.int64, len(values))
        goes |= typed & np.isin(frames.user_type, types) & np.isin(first if body else frames.id, sought)
    return goes


def _numbers(
    frames: JournalFrames, version: int, change: JournalChange, lost: Mapping[int, int]
) -> Iterator[tuple[int, int]]:
    """Yield offsets of numbers to change, with their new values.

    These are the record counts of transactions that lose records, and the reference counts of page transactions.
    """
    import numpy as np

    first = _first_of_body(frames)
    ends = np.isin(frames.kind, _ENDS) & np.isin(frames.tx, np.fromiter(lost, np.int64, len(lost)))
    for row in np.flatnonzero(ends).tolist():
        shape = FRAME_LAYOUTS[version][int(frames.kind[row])]
        before = calcsize(shape.head.format[: 1 + shape.fields.index("records")])
        yield int(frames.at[row]) + before, int(frames.records[row]) - lost[int(frames.tx[row])]
    added = np.isin(frames.kind, (RecordKind.ADD, RecordKind.ADD_TX)) & (frames.size >= _REFERENCES_AT + _NUMBER.size)
    counted = added & (frames.user_type == RecordType.PAGE_TRANSACTION)
    counted &= np.isin(first, np.fromiter(change.references, np.int64, len(change.references)))
    for row in np.flatnonzero(counted).tolist():
        yield int(frames.body[row]) + _REFERENCES_AT, change.references[int(first[row])]


def write_journal(
    folder: Path,
    name: str,
    records: Iterable[JournalRecord],
    disk: Disk | None = None,
    size: int = FILE_SIZE,
    like: Path | None = None,
    first: int = 1,
) -> None:
    """Write records to new files of one size, larger only for a larger record; the remainder of each is zero.

    ``name``: file name with a placeholder for its id. A PREPARE or COMMIT gets the number of its records in its file.
    ``like``: a file whose owner and rights are copied. ``first``: the id of the first file. Memory: one record if
    ``records`` is an iterator.
    """
    disk = disk or Disk()
    waiting = _Waiting(iter(records))
    with disk.below(folder):
        for file_id in count(first):
            disk.create(folder / name.format(file_id), waiting.file(file_id, size), like)
            if waiting.record is None:
                return


@dataclass(frozen=True, slots=True)
class AppendedFile:
    """A new file after those of a journal.

    ``like``: the last of these, from which size, format, owner and rights are taken.
    """

    name: str
    header: JournalHeader
    like: Path
    size: int
    records: Sequence[JournalRecord]

    def content(self) -> Iterator[bytes]:
        """Yield the header, the records one after the other, and zeros up to the size."""
        yield encode_header(self.header)
        left = self.size - HEADER.size
        for record in self.records:
            encoded = encode(record, self.header.file_id, self.header.version)
            yield encoded
            left -= len(encoded)
        yield bytes(max(left, 0))


def appended_files(loaded: LoadedJournal, records: Iterable[JournalRecord]) -> Iterator[AppendedFile]:
    """Yield new files with these records, outside of any transaction, to follow all files of a journal."""
    if not loaded.files:
        return
    last = max(loaded.files, key=lambda file: file.header.file_id)
    file_id, part, left = last.header.file_id, list[JournalRecord](), last.size - HEADER.size
    for record in records:
        size = FRAME_LAYOUTS[last.header.version][record.kind].total + len(record.body)
        if part and size > left:
            file_id += 1
            yield _appended(last, file_id, part)
            part, left = [], last.size - HEADER.size
        part.append(record)
        left -= size
    if part:
        yield _appended(last, file_id + 1, part)


def _appended(last: JournalFile, file_id: int, records: list[JournalRecord]) -> AppendedFile:
    name = re.sub(r"\d+", str(file_id), last.name)
    return AppendedFile(name, last.header._replace(file_id=file_id), last.path, last.size, records)


class _Waiting:
    """Records that wait to be written; ``record`` is the next one."""

    def __init__(self, records: Iterator[JournalRecord]) -> None:
        self.records = records
        self.record = next(records, None)

    def file(self, file_id: int, size: int) -> Iterator[bytes]:
        """Yield the content of one file."""
        yield encode_header(JournalHeader(FORMAT, 0, file_id))
        at, per_transaction = HEADER.size, Counter[int]()
        while self.record is not None:
            record = self.record
            if record.kind in _ENDS:
                record = record._replace(records=per_transaction[record.tx])
            encoded = encode(record, file_id, FORMAT)
            if at + len(encoded) > size and at > HEADER.size:
                break
            yield encoded
            at += len(encoded)
            per_transaction[record.tx] += 1
            self.record = next(self.records, None)
        yield bytes(max(0, size - at))
