"""How the page reader of a broker reads a page file, edition by edition (docs/spec/page-files.md 5.1, 5.2).

    2.8.0 and later     stops before fewer than 6 bytes; position of the suspect record and, from 2.12.0 on, its number
                        counted from 1 (before: from 0); decodes within the payload
    older               reads every remaining byte: a start mark followed by fewer than five bytes is skipped, so that
                        a torn head is suspect one byte later; decodes within the file and requires the end mark after
                        what it consumed

Lengths are 32-bit and unchecked in both. A negative one makes the newer reader look for the end mark inside its own
buffer, which is filled in chunks: ``_ChunkBuffer`` follows those, because its content decides between "suspect" and an
exception.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import Final

from pagefmt.codec.pages.broker_payload import walk_old_record, walk_payload
from pagefmt.codec.pages.frames import Buffer, Reach, at_hand
from pagefmt.codec.pages.record import END_MARK, FRAME, START_MARK
from pagefmt.codec.wire import ByteReader, Undecodable
from pagefmt.editions import Edition

_I32: Final = Struct(">i").unpack_from
CHUNK: Final = 4096
INT_MAX: Final = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class BrokerReading:
    """What a broker reads of a page.

    ``suspect``: (position, number as logged), None when the reader was content. ``error``: why it threw, or None.
    ``undeliverable``: the first record that it reads and cannot decode when a queue delivers it, and why, or None.
    """

    records: int
    bytes_read: int
    suspect: tuple[int, int] | None = None
    error: str | None = None
    undeliverable: str | None = None

    @property
    def whole(self) -> bool:
        """Return whether the reader accepted the whole file without complaint."""
        return self.suspect is None and self.error is None


def read_as_broker(buf: Buffer, edition: Edition, reach: Reach | None = None) -> BrokerReading:
    """Read a page as the edition's broker does. ``reach``: see ``Page.reach``."""
    if edition <= Edition.ARTEMIS_2_4:
        return _read_old(buf, edition, reach or at_hand)
    return _read_new(buf, edition, reach or at_hand)


def _read_old(buf: Buffer, edition: Edition, reach: Reach) -> BrokerReading:
    at = records = bytes_read = 0
    size = len(buf)
    while at < size and reach(at, min(at + FRAME, size)):
        if buf[at] != START_MARK:
            return BrokerReading(records, bytes_read, suspect=(at, records))
        if at + 5 >= size:
            at += 1
            continue
        length = _I32(buf, at + 1)[0]
        end_mark = at + 5 + length
        if end_mark < 0 or end_mark > INT_MAX:
            return _thrown(records, bytes_read, at, f"the length {length} points outside the file")
        if end_mark >= size or not reach(at, end_mark + 1) or buf[end_mark] != END_MARK:
            return BrokerReading(records, bytes_read, suspect=(at, records))
        try:
            *_, end = walk_old_record(buf, at, end_mark + 1, edition, reach)
        except Undecodable as err:
            return _thrown(records, bytes_read, at, str(err))
        records, at = records + 1, end
        bytes_read = at
    return BrokerReading(records, bytes_read)


def _read_new(buf: Buffer, edition: Edition, reach: Reach) -> BrokerReading:
    at = records = 0
    size = len(buf)
    first = 1 if edition >= Edition.ARTEMIS_2_17 else 0
    chunk = _ChunkBuffer(size)
    while size - at >= FRAME and reach(at, at + FRAME):
        chunk.need(at, FRAME)
        suspect = BrokerReading(records, at, suspect=(at, records + first))
        if buf[at] != START_MARK:
            return suspect
        length = _I32(buf, at + 1)[0]
        end = at + FRAME + length
        if end > INT_MAX:
            return _thrown(records, at, at, f"the length {length} exceeds 32 bits")
        if end > size:
            return suspect
        chunk.need(at + 5, length + 1)
        if length < 0:
            reach(min(at, max(0, end - 1)), at + FRAME)
            return _negative(buf, chunk, at, length, records) or suspect
        reach(at, end)
        if buf[end - 1] != END_MARK:
            return suspect
        try:
            walk_payload(ByteReader(buf, at + 5, end - 1), edition)
        except Undecodable as err:
            return _thrown(records, at, at, str(err))
        records, at = records + 1, end
    return BrokerReading(records, at)


def _negative(buf: Buffer, chunk: _ChunkBuffer, at: int, length: int, records: int) -> BrokerReading | None:
    """Return how a broker reads a record with negative length; None if it marks the page as suspect.

    It throws if the byte it takes for the end mark is before its buffer, or is an end mark.
    """
    place = at + 5 + length
    if place < chunk.base or buf[place] == END_MARK:
        return _thrown(records, at, at, f"the record's length is negative: {length}")
    return None


def _thrown(records: int, bytes_read: int, at: int, why: str) -> BrokerReading:
    return BrokerReading(records, bytes_read, error=f"record {records} at {at}: {why}")


class _ChunkBuffer:
    """Where in the file the reader's buffer starts: it is refilled only when more bytes are needed than it holds."""

    __slots__ = ("base", "capacity", "limit", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self.base = self.limit = 0
        self.capacity = min(size, CHUNK)

    def need(self, position: int, count: int) -> None:
        if count <= self.limit - position:
            return
        if self.capacity < count:
            self.capacity = max(count, CHUNK)
        self.base = position
        self.limit = min(self.size, position + self.capacity)
