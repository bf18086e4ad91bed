"""A journal written anew: what survives of it, and nothing else, in as few files as hold it (docs/spec/journal.md 8.7).

Records keep their load order. Those of ended transactions stand alone, as a broker's own compaction writes them; those
of prepared ones follow at the end, each transaction with a PREPARE that names how many of its records are in its file.
"""

from __future__ import annotations

import os
from collections import Counter, OrderedDict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from pagefmt.journal.columns import SMALL, JournalColumns
from pagefmt.journal.files import HEADER, JournalFile, JournalHeader, NotAJournal, encode_header
from pagefmt.journal.load import LoadedJournal
from pagefmt.journal.numbers import Numbers
from pagefmt.journal.records import CHECK, FILE_ID_MASK, FRAME_LAYOUTS, JournalRecord, RecordKind, encode
from pagefmt.journal.scan import LARGEST_BLOCK
from pagefmt.storage.files import open_regular

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pagefmt.journal.fast_scan import Ints

FORMAT: Final = 2
MOST_COPIES: Final = 127
_AT_ONCE: Final = 1 << 22
_OPEN_FILES: Final = 8
_PLAIN: Final = FRAME_LAYOUTS[FORMAT][RecordKind.ADD]
_HEAD: Final = [("kind", "u1"), ("file_id", ">i4"), ("compact", "i1"), ("id", ">i8"), ("size", ">i4"), ("type", "i1")]


class PreparedRecord(NamedTuple):
    """A record of a prepared transaction.

    ``row``: in the columns; -1 for a PREPARE, which names ``records`` records.
    """

    kind: RecordKind
    tx: int
    row: int
    records: int = 0
    xid: bytes = b""


class PackedFile(NamedTuple):
    """A new file: survivors ``start`` to ``end`` in load order, then records of prepared transactions."""

    start: int
    end: int
    prepared: tuple[PreparedRecord, ...]


@dataclass(frozen=True, slots=True)
class PackedJournal:
    """What the new files hold. ``size``: of each of them, the largest record taken in."""

    loaded: LoadedJournal
    size: int
    files: tuple[PackedFile, ...]

    @property
    def total(self) -> int:
        """Return the bytes of all new files."""
        return self.size * len(self.files)

    def content(self, number: int, file_id: int) -> Iterator[bytes | memoryview]:
        """Yield the content of a new file in parts. Raise ``NotReadable`` or ``NotAJournal``."""
        columns, packed_file, left = self.loaded.columns, self.files[number], self.size - HEADER.size
        yield encode_header(JournalHeader(FORMAT, 0, file_id))
        with _opened_files() as read:
            for rows in _portions(columns, self.loaded.rows, packed_file.start, packed_file.end):
                part = _records(columns, rows, file_id, read)
                left -= len(part)
                yield part
        for record in packed_file.prepared:
            encoded = encode(_prepared_record(columns, record), file_id, FORMAT)
            left -= len(encoded)
            yield encoded
        while left:
            yield bytes(min(left, _AT_ONCE))
            left -= min(left, _AT_ONCE)


def packed(loaded: LoadedJournal) -> PackedJournal:
    """Pack the survivors into the fewest files, at least one, of the size that most files have.

    Memory: 8 bytes per surviving record.
    """
    import numpy as np

    columns = loaded.columns
    ends = np.cumsum(_sizes(columns, loaded.rows.every()))
    prepared = deque(_prepared(loaded))
    largest = max(int(np.diff(ends, prepend=0).max(initial=0)), *(_size(columns, record) for record in prepared), 0)
    size = _file_size(loaded.files, largest)
    room = size - HEADER.size
    files, start, before = [], 0, 0
    while True:
        end = int(np.searchsorted(ends, before + room, "right"))
        left = room - (int(ends[end - 1]) - before if end > start else 0)
        before = int(ends[end - 1]) if end else 0
        fits = tuple(_fitting(columns, prepared, left)) if end == len(ends) else ()
        files.append(PackedFile(start, end, fits))
        start = end
        if start == len(ends) and not prepared:
            return PackedJournal(loaded, size, tuple(files))


def _fitting(columns: JournalColumns, waiting: deque[PreparedRecord], left: int) -> Iterator[PreparedRecord]:
    """Take records from the front of ``waiting`` as long as one file has room."""
    per_transaction: Counter[int] = Counter()
    while waiting and _size(columns, waiting[0]) <= left:
        record = waiting.popleft()
        left -= _size(columns, record)
        if record.kind is RecordKind.PREPARE:
            record = record._replace(records=per_transaction[record.tx])
        per_transaction[record.tx] += 1
        yield record


def _file_size(files: tuple[JournalFile, ...], largest: int) -> int:
    """Return the usual file size, or a larger one if a header and the largest record need it."""
    usual = usual_size(files)
    needed = HEADER.size + largest
    return usual if needed <= usual else -(-needed // LARGEST_BLOCK) * LARGEST_BLOCK


def usual_size(files: tuple[JournalFile, ...]) -> int:
    """Return the size of most files; of equally frequent sizes, that of newer files."""
    sizes = Counter(file.size for file in files)
    return max(reversed(files), key=lambda file: sizes[file.size]).size


def _sizes(columns: JournalColumns, rows: Ints) -> Ints:
    return columns.sizes.at(rows) + _PLAIN.total


def _prepared(loaded: LoadedJournal) -> Iterator[PreparedRecord]:
    for branch in loaded.prepared:
        for row in branch.rows:
            kind = RecordKind.UPDATE_TX if loaded.columns.updates[row] else RecordKind.ADD_TX
            yield PreparedRecord(kind, branch.tx, row)
        for row in branch.deletes:
            yield PreparedRecord(RecordKind.DELETE_TX, branch.tx, row)
        yield PreparedRecord(RecordKind.PREPARE, branch.tx, -1, xid=branch.xid)


def _size(columns: JournalColumns, record: PreparedRecord) -> int:
    body = len(record.xid) if record.row < 0 else columns.sizes[record.row]
    return FRAME_LAYOUTS[FORMAT][record.kind].total + body


def _prepared_record(columns: JournalColumns, record: PreparedRecord) -> JournalRecord:
    """Return a record of a prepared transaction as a compaction copies it: its compact count is one higher."""
    row = record.row
    if row < 0:
        return JournalRecord(record.kind, tx=record.tx, body=record.xid, records=record.records, compact=1)
    return JournalRecord(
        record.kind,
        columns.ids[row],
        record.tx,
        columns.types[row],
        columns.body(row),
        record.records,
        min(columns.compacts[row] + 1, MOST_COPIES),
    )


def _portions(columns: JournalColumns, rows: Numbers, start: int, end: int) -> Iterator[Ints]:
    """Yield the rows of these survivors, in portions whose records take a few MiB."""
    import numpy as np

    for begin in range(start, end, _AT_ONCE >> 6):
        some = rows.between(begin, min(begin + (_AT_ONCE >> 6), end))
        ends = np.cumsum(_sizes(columns, some))
        cuts = np.unique(np.searchsorted(ends, np.arange(_AT_ONCE, int(ends[-1]), _AT_ONCE)))
        yield from np.split(some, cuts)


def _records(columns: JournalColumns, rows: Ints, file_id: int, read: _OldFiles) -> memoryview:
    """Return the records of these rows, encoded as ADD and UPDATE."""
    import numpy as np

    out = bytearray(int(_sizes(columns, rows).sum()))
    if not len(rows):
        return memoryview(out)
    total = _sizes(columns, rows)
    at = np.cumsum(total) - total
    heads = np.zeros(len(rows), np.dtype(_HEAD))
    heads["kind"] = np.where(columns.updates.at(rows) != 0, int(RecordKind.UPDATE), int(RecordKind.ADD))
    heads["file_id"] = file_id & FILE_ID_MASK
    heads["compact"] = np.minimum(columns.compacts.at(rows) + 1, MOST_COPIES)
    heads["id"] = columns.ids.at(rows)
    sizes = heads["size"] = columns.sizes.at(rows)
    heads["type"] = columns.types.at(rows)
    # All heads, then all check sizes, then all bodies of one size are written by a single indexed assignment.
    _put(out, at, heads.view(f"V{_PLAIN.head.size}"))
    _put(out, at + total - CHECK.size, total.astype(">i4").view(f"V{CHECK.size}"))
    bodies = at + _PLAIN.head.size
    for size in np.flatnonzero(np.bincount(sizes[sizes <= SMALL])).tolist():
        rows_of_size = np.flatnonzero(sizes == size)
        if size:
            _put(out, bodies[rows_of_size], columns.beginnings(rows[rows_of_size], size))
    view = memoryview(out)
    for row, body, length in zip(*(column[sizes > SMALL].tolist() for column in (rows, bodies, sizes)), strict=True):
        read.into(view[body : body + length], columns.file_of(row), columns.places[row])
    return view


def _put(out: bytearray, at: Ints, parts: npt.NDArray[np.void]) -> None:
    """Write parts of one size to these offsets."""
    import numpy as np

    size = parts.dtype.itemsize
    np.ndarray((len(out) - size + 1,), f"V{size}", out, strides=(1,))[at] = parts


class _OldFiles:
    """Stretches of old files; a few of them stay open."""

    def __init__(self) -> None:
        self.open: OrderedDict[JournalFile, int] = OrderedDict()

    def into(self, view: memoryview, file: JournalFile, at: int) -> None:
        handle = self.open.get(file)
        if handle is None:
            if len(self.open) == _OPEN_FILES:
                os.close(self.open.popitem(last=False)[1])
            handle = self.open[file] = open_regular(file.path)
        if os.preadv(handle, [view], at) != len(view):
            raise NotAJournal(f"{file.path}: offset {at}: changed while it was read; stop the broker and try again")


@contextmanager
def _opened_files() -> Iterator[_OldFiles]:
    reader = _OldFiles()
    try:
        yield reader
    finally:
        for handle in reader.open.values():
            os.close(handle)
