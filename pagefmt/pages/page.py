"""Reading one page file, at two depths: routes (who gets which message) and records (all that is in it).

    with open_page(path) as page:
        for number, record in page.records():   # PageRecord, or Damage in the place of one
            ...
        page.damage                              # what the reading stopped at, or None

The number is the ordinal that acknowledgements use. Reading stops where a broker of 2.8.0 or later stops, or where the
system gives no more bytes: a page that cannot be opened is one that is damaged at offset 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from struct import Struct
from typing import Final

from pagefmt.bytes.files import FileWindow
from pagefmt.bytes.wire import ByteReader, Undecodable
from pagefmt.editions import NEWEST, Edition
from pagefmt.pages.frames import Buffer, Damage, DamageKind, FrameScan, Reach, end_of_records, find_behind
from pagefmt.pages.record import (
    END_MARK,
    FRAME,
    START_MARK,
    Layout,
    PageRecord,
    decode_prefix,
    decode_queues,
    layout_of,
)
from pagefmt.pages.routes import Route, route_at

LARGEST_FILE: Final = (1 << 31) - 1
LAYOUT_SAMPLE: Final = 64
_I32: Final = Struct(">i").unpack_from
_I64: Final = Struct(">q").unpack_from
_HEAD: Final = Struct(">qb").unpack_from


class Page:
    """``buf``: the file's bytes; of a large file what ``reach`` was told of.

    After an iteration is exhausted: ``count``, ``bytes_read``, ``damage``.
    """

    __slots__ = ("_file", "buf", "bytes_read", "count", "damage", "odd", "path", "reach")

    def __init__(self, buf: Buffer, path: Path | None = None, file: FileWindow | None = None) -> None:
        self.buf = buf
        self.path = path
        self._file = file
        self.reach: Reach | None = file.reach if file is not None and file.windowed else None
        self.count = 0
        self.bytes_read = 0
        self.damage: Damage | None = None
        self.odd: Damage | None = None

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return len(self.buf) if self._file is None else self._file.size

    @property
    def unreadable(self) -> str | None:
        """Why the system does not give all bytes, as far as this is known."""
        return None if self._file is None else self._file.problem

    def layout(self) -> Layout | None:
        """By the first ordinary records; None where there are none (large records look the same in both).

        One that fits the old layout settles it: no new one does by accident, but a damaged old one may not.
        """
        found = None
        for offset, length in islice(FrameScan(self.buf, self.reach), LAYOUT_SAMPLE):
            if length > 9 and self.buf[offset + 13] == 0:
                found = layout_of(self.buf, offset + 5, length)
                if found is Layout.OLD:
                    return found
        return found

    def strict_layout(self) -> Layout | None:
        """What ``record`` is told: in an old page everything is old; elsewhere each record shows its own."""
        return Layout.OLD if self.layout() is Layout.OLD else None

    def frames(self) -> Iterator[tuple[int, int, int]]:
        """Number, offset and payload length of every record whose marks are good, whatever its payload holds."""
        scan = FrameScan(self.buf, self.reach)
        for number, (offset, length) in enumerate(scan):
            yield number, offset, length
        self._finish(scan)

    def records(self) -> Iterator[tuple[int, PageRecord | Damage]]:
        """Every framed record with its number; one that is not understood comes as ``Damage``, and reading goes on."""
        scan = FrameScan(self.buf, self.reach)
        layout = self.strict_layout()
        for number, (offset, length) in enumerate(scan):
            yield number, self.record(number, offset, length, layout)
        self._finish(scan)

    def routes(self) -> Iterator[Route]:
        """Fast. Stops at the first payload whose lengths do not add up, unless a broker reads it all the same.

        Looks at no field that is not needed: what else would make a broker throw is for ``verification`` to find.
        """
        buf, reach, size, at, number = self.buf, self.reach, len(self.buf), 0, 0
        self.damage = self.odd = None
        while size - at >= FRAME and (reach is None or reach(at, at + FRAME)) and buf[at] == START_MARK:
            length = _I32(buf, at + 1)[0]
            end = at + FRAME + length
            if length < 0 or end > size or not (reach is None or reach(at, end)) or buf[end - 1] != END_MARK:
                break
            try:
                route = route_at(buf, at, length, number)
            except Undecodable as err:
                odd = self._odd_route(at, length, number)
                if odd is None:
                    self.damage = Damage(DamageKind.UNDECODABLE, at, number, err.detail)
                    break
                route = odd
                self.odd = self.odd or Damage(DamageKind.SWALLOWED, at, number, err.detail)
            yield route
            at, number = end, number + 1
        self.count, self.bytes_read = number, at
        if self.damage is None:
            self.damage = self.stopped(at, number)

    def stopped(self, at: int, number: int) -> Damage | None:
        """What is wrong where the next record should start; None where the file ends there."""
        buf, problem = self.buf, self.unreadable
        if problem is not None and self._file is not None:
            buf = buf[: self._file.readable]
        return end_of_records(buf, at, number, problem, self.reach)

    def _odd_route(self, offset: int, length: int, number: int) -> Route | None:
        """A payload that does not come out to its last byte, and that the broker of its layout reads all the same."""
        from pagefmt.pages.broker_payload import walk_payload

        layout = self.layout()
        reader = ByteReader(self.buf, offset + 5, offset + 5 + length)
        try:
            message_id, queues = walk_payload(reader, Edition.ARTEMIS_1_5 if layout is Layout.OLD else NEWEST)
        except Undecodable:
            return None
        if layout is Layout.OLD and reader.left():
            return None  # the old reader insists on the end mark behind what it consumed
        tx, large_type = _HEAD(self.buf, offset + 5)
        routed = decode_queues(ByteReader(self.buf, queues, reader.pos))
        return number, offset, length, tx, large_type, _I64(self.buf, message_id)[0], routed

    def recovered(self, offset: int | None = None) -> Iterator[PageRecord]:
        """Valid records behind the damage (or from ``offset`` on); the broker has no number for them."""
        start = self.damage.offset if offset is None and self.damage else offset or 0
        return self.behind(start)

    def behind(self, start: int, end: int | None = None) -> Iterator[PageRecord]:
        """Valid records from ``start`` on, wherever they stand."""
        return find_behind(self.buf, start, end, *(() if self.reach is None else (self.reach,)))

    def record(self, number: int, offset: int, length: int, layout: Layout | None) -> PageRecord | Damage:
        """The framed record at ``offset``, read to its last byte."""
        try:
            record, left = decode_prefix(self.buf, offset, length, layout)
            record.message.check()
        except Undecodable as err:
            return Damage(DamageKind.UNDECODABLE, offset, number, f"at {err.offset}: {err.detail}")
        if left:
            return swallowed(self.buf, number, offset, length, left)
        return record

    def _finish(self, scan: FrameScan) -> None:
        if not scan.count and not scan.damage:
            for _ in scan:
                pass
        self.count, self.bytes_read = scan.count, scan.bytes_read
        self.damage = scan.damage if self.unreadable is None else self.stopped(scan.bytes_read, scan.count)


def swallowed(buf: Buffer, number: int, offset: int, length: int, left: int) -> Damage:
    """A payload longer than its fields need: whole records may lie inside."""
    behind = offset + 5 + length - left
    inside = sum(1 for _ in find_behind(buf, behind, offset + FRAME + length))
    what = f"{left} bytes more than its fields need" + (f", with {inside} whole records inside" if inside else "")
    return Damage(DamageKind.SWALLOWED, offset, number, what)


@contextmanager
def open_page(path: Path) -> Iterator[Page]:
    """Whatever the system does not give is damage of the page: nothing is raised."""
    with FileWindow(path, LARGEST_FILE) as file:
        yield Page(file.buf, path, file)
