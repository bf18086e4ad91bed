"""Journal files written: new ones made of records, and existing ones with some of their records taken out.

A rewritten file keeps its header, its size and the order of its records. What is taken out leaves no gap: a reader
would take that for damage. A commit or prepare record names how many records its transaction has in the same file
(docs/spec/journal.md 3.2), so that number is written anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pagefmt.bytes.files import MappedFile
from pagefmt.bytes.writing import Disk
from pagefmt.errors import PageFmtError
from pagefmt.journal.files import HEADER, JournalFile, JournalHeader, encode_header
from pagefmt.journal.record_types import RecordType
from pagefmt.journal.records import CHECK, JournalRecord, RecordKind, encode, record_of
from pagefmt.journal.scan import TornRecords

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pagefmt.journal.fast_scan import Ints, JournalFrames

FILE_SIZE: Final = 1024 * 1024
FORMAT: Final = 2
_WITH_TYPE: Final = (RecordKind.ADD, RecordKind.UPDATE, RecordKind.ADD_TX, RecordKind.UPDATE_TX)
_ENDS: Final = (RecordKind.PREPARE, RecordKind.COMMIT)
_REFERENCES: Final = CHECK


class CannotRewrite(PageFmtError):
    """A journal file that no record can be taken out of."""


class Unwanted(NamedTuple):
    """Records of these types go whose id, or with ``body`` the ``i64`` that their body begins with, is one of these."""

    types: tuple[int, ...]
    values: Collection[int]
    body: bool = False


@dataclass(frozen=True, slots=True)
class JournalChange:
    """What becomes of a journal. ``references``: page transaction → the number that its record shall name."""

    unwanted: Sequence[Unwanted]
    references: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file: ``kept`` stretches (start, end) of it, and bytes that are written over it first, by offset."""

    kept: tuple[tuple[int, int], ...]
    replaced: Mapping[int, bytes]
    records: int

    def content(self, buf: bytes) -> Iterator[bytes | memoryview]:
        """The new content, as long as the old one."""
        new = bytearray(buf)
        for at, part in self.replaced.items():
            new[at : at + len(part)] = part
        view, left = memoryview(new), len(buf)
        for start, end in ((0, HEADER.size), *self.kept):
            yield view[start:end]
            left -= end - start
        yield bytes(left)


def changed_file(file: JournalFile, change: JournalChange) -> FileChange | None:
    """What a change makes of one file; None where that stays as it is. Raises ``CannotRewrite``, ``NotReadable``."""
    import numpy as np

    from pagefmt.journal.fast_scan import fast_scan

    with MappedFile(file.path) as mapped:
        found = fast_scan(mapped.buf, file.header, TornRecords())
        if found is None:
            raise CannotRewrite(f"{file.path}: records overlap, as no broker writes them; nothing is sure")
        first = _first_of_body(found)
        goes = _unwanted(found, first, change.unwanted)
        replaced = dict(_replaced(found, mapped.buf, file, goes, first, change))
    if not goes.any() and not replaced:
        return None
    starts, ends = found.at[~goes], (found.at + found.total)[~goes]
    breaks = np.flatnonzero(starts[1:] != ends[:-1]) + 1
    low, high = np.append(0, breaks)[: len(starts)], np.append(breaks, len(starts))[: len(starts)] - 1
    kept = tuple(zip(starts[low].tolist(), ends[high].tolist(), strict=True))
    return FileChange(kept, replaced, int(goes.sum()))


def _first_of_body(found: JournalFrames) -> Ints:
    """The ``i64`` that each body begins with; -1 where there is no room for one."""
    import numpy as np

    from pagefmt.journal.fast_scan import bodies_at

    first = np.full(len(found.kind), -1, np.int64)
    here = np.flatnonzero(np.isin(found.kind, _WITH_TYPE) & (found.size >= 8))
    first[here] = bodies_at(found.content, found.body[here], 8).view(">i8")
    return first


def _unwanted(found: JournalFrames, first: Ints, unwanted: Sequence[Unwanted]) -> npt.NDArray[np.bool_]:
    import numpy as np

    typed, goes = np.isin(found.kind, _WITH_TYPE), np.zeros(len(found.kind), bool)
    for types, values, body in unwanted:
        sought = np.fromiter(values, np.int64, len(values))
        goes |= typed & np.isin(found.user_type, types) & np.isin(first if body else found.id, sought)
    return goes


def _replaced(
    found: JournalFrames, buf: bytes, file: JournalFile, goes: npt.NDArray[np.bool_], first: Ints, change: JournalChange
) -> Iterator[tuple[int, bytes]]:
    """Ends of transactions that lose records, and page transactions that are to name another number."""
    import numpy as np

    lost = Counter(found.tx[goes & np.isin(found.kind, (RecordKind.ADD_TX, RecordKind.UPDATE_TX))].tolist())
    ends = np.isin(found.kind, _ENDS) & np.isin(found.tx, np.fromiter(lost, np.int64, len(lost)))
    added = np.isin(found.kind, (RecordKind.ADD, RecordKind.ADD_TX))
    counted = added & (found.user_type == RecordType.PAGE_TRANSACTION)
    counted &= np.isin(first, np.fromiter(change.references, np.int64, len(change.references)))
    for row in np.flatnonzero((ends | counted) & ~goes).tolist():
        frame = found.frame(row)
        record = record_of(frame, buf)
        if ends[row]:
            record = record._replace(records=record.records - lost[frame.tx])
        else:
            record = record._replace(body=record.body[:8] + _REFERENCES.pack(change.references[int(first[row])]))
        yield frame.at, encode(record, file.header.file_id, file.header.version)


def write_journal(
    folder: Path,
    name: str,
    records: Iterable[JournalRecord],
    disk: Disk | None = None,
    size: int = FILE_SIZE,
    like: Path | None = None,
    first: int = 1,
) -> None:
    """Records in new files of one size, larger only for a larger record; what is left of each is zero.

    ``name``: of a file, with a place for its id. A PREPARE or COMMIT gets the number of its records in its file.
    ``like``: a file whose owner and rights they get. ``first``: the id of the first. Memory: a record, where
    ``records`` is an iterator.
    """
    disk = disk or Disk()
    waiting = _Waiting(iter(records))
    with disk.below(folder):
        for file_id in count(first):
            disk.create(folder / name.format(file_id), waiting.file(file_id, size), like)
            if waiting.record is None:
                return


class _Waiting:
    """Records on their way to files; ``record`` is the next one."""

    def __init__(self, records: Iterator[JournalRecord]) -> None:
        self.records = records
        self.record = next(records, None)

    def file(self, file_id: int, size: int) -> Iterator[bytes]:
        """The content of one file."""
        yield encode_header(JournalHeader(FORMAT, 0, file_id))
        at, here = HEADER.size, Counter[int]()
        while self.record is not None:
            record = self.record
            if record.kind in _ENDS:
                record = record._replace(records=here[record.tx])
            encoded = encode(record, file_id, FORMAT)
            if at + len(encoded) > size and at > HEADER.size:
                break
            yield encoded
            at += len(encoded)
            here[record.tx] += 1
            self.record = next(self.records, None)
        yield bytes(max(0, size - at))
