"""Finding the live records of one journal file (docs/spec/journal.md 3.1).

There is no checksum: the file id in the head and the check size at the end of a record are all there is. A torn record
is passed over byte by byte, so records behind it are found again. This is the reference of
``pagefmt.journal.windows``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from pagefmt.journal.files import HEADER, JournalHeader
from pagefmt.journal.records import ABSENT, CHECK, FILE_ID_MASK, FRAME_LAYOUTS, JournalFrame, RecordKind, frame_at
from pagefmt.storage.files import FileStretches

# A journal file by offsets.
JournalBytes = bytes | memoryview | FileStretches
TORN_LISTED: Final = 100
# Asynchronous journals write whole blocks of so many bytes, or of a multiple up to ``LARGEST_BLOCK``.
ALIGNMENT: Final = 512
LARGEST_BLOCK: Final = 4096
_KINDS: Final = bytes([RecordKind.EVENT, ord("-"), RecordKind.ROLLBACK])


class TornRecord(NamedTuple):
    """Bytes that begin like a record of this file and are none. ``offset``: in bytes from the start of the file."""

    offset: int
    detail: str


@dataclass(slots=True)
class TornRecords:
    """How many torn records one file has; the first ``TORN_LISTED`` of them one by one. ``records``: the others.

    ``gaps``: the first ``TORN_LISTED`` stretches in front of a live record that hold none and that no broker leaves;
    ``more_gaps``: how many follow, ``more_bytes``: of those. ``end``: behind the last live record, where ``tail`` tells
    whether a torn record begins. ``record_bytes``: of the ``records``.
    """

    count: int = 0
    records: int = 0
    record_bytes: int = 0
    first: list[TornRecord] = field(default_factory=list)
    gaps: list[tuple[int, int]] = field(default_factory=list)
    more_gaps: int = 0
    more_bytes: int = 0
    end: int = HEADER.size
    tail: bool = False

    @property
    def holds_records(self) -> bool:
        """Return whether the file contains a live record."""
        return self.end > HEADER.size

    @property
    def lost_bytes(self) -> int:
        """Return the total size of all gaps."""
        return sum(end - start for start, end in self.gaps) + self.more_bytes

    @property
    def room(self) -> int:
        """Return how many more torn records are listed individually."""
        return TORN_LISTED - len(self.first)

    def add(self, offset: int, detail: str) -> None:
        """Add a torn record at ``offset``, in bytes from the start of the file."""
        self.count += 1
        if self.room:
            self.first.append(TornRecord(offset, detail))

    def note_gap(self, buf: JournalBytes, start: int, end: int) -> None:
        """Note the bytes between two live records as damage, unless they are zeros that complete a block."""
        if not end % ALIGNMENT and only_fill(buf, start, end):
            return
        if len(self.gaps) < TORN_LISTED:
            self.gaps.append((start, end))
        else:
            self.more_gaps += 1
            self.more_bytes += end - start


def only_fill(buf: JournalBytes, start: int, end: int) -> bool:
    """Return whether only padding of a block, or nothing, is between the offsets, so that a torn record starts there.

    Records are written without space between them. What looks like one further on belongs to a record of the file's
    former use, whose beginning was overwritten.
    """
    return end - start <= LARGEST_BLOCK and not bytes(buf[start:end]).strip(b"\0")


class OldContent:
    """What a reused file held before: records of lower file ids. A field of one may look like the start of a record."""

    __slots__ = ("_at", "_buf", "_search", "_version")

    def __init__(self, buf: bytes | memoryview, header: JournalHeader) -> None:
        highest = re.escape(CHECK.pack(header.file_id & FILE_ID_MASK)[:1])
        self._search = re.compile(b"[" + _KINDS + b"][\0-" + highest + b"]", re.DOTALL).search
        self._buf, self._version, self._at = buf, header.version, 0

    def holds(self, offset: int, start: int) -> bool:
        """Return whether an old record that begins at or after ``start`` covers ``offset``.

        Call with rising offsets.
        """
        self._at = max(self._at, start)
        while match := self._search(self._buf, self._at, offset + 1):
            at = match.start()
            frame = frame_at(self._buf, at, self._version)
            if isinstance(frame, str):
                self._at = at + 1
            elif at + frame.total > offset:
                return True
            else:
                self._at = at + frame.total
        return False


def scan(buf: bytes | memoryview, header: JournalHeader, torn: TornRecords | None = None) -> Iterator[JournalFrame]:
    """Yield the live records of a file in the order of their offsets. Time is linear in the size of the file.

    ``buf`` is the whole file. Torn records are added to ``torn``; scanning starts at its ``end``.
    """
    file_id = CHECK.pack(header.file_id & FILE_ID_MASK)
    torn = TornRecords() if torn is None else torn
    old = OldContent(buf, header)
    start_of_record = re.compile(b"[" + _KINDS + b"]" + re.escape(file_id), re.DOTALL).search
    shapes = FRAME_LAYOUTS[header.version]
    check_at = CHECK.unpack_from
    end = len(buf)
    at = torn.end
    while match := start_of_record(buf, at):
        at = match.start()
        kind = buf[at]
        shape = shapes[kind]
        if at + shape.total <= end:
            head = shape.pick(shape.head.unpack_from(buf, at) + ABSENT)
            total = shape.total + head[4]
            if head[4] >= 0 and at + total <= end and check_at(buf, at + total - 4)[0] == total:
                yield JournalFrame(kind, at, total, at + shape.head.size, *head)
                if at > torn.end:
                    torn.note_gap(buf, torn.end, at)
                torn.records += 1
                torn.record_bytes += total
                at = torn.end = at + total
                torn.tail = False
                continue
        if not old.holds(at, torn.end) and (torn.tail or only_fill(buf, torn.end, at)):
            torn.add(at, str(frame_at(buf, at, header.version)))
            torn.tail = True
        at += 1
