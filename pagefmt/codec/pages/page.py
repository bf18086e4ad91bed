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
from dataclasses import replace
from itertools import islice
from pathlib import Path
from struct import Struct
from typing import Final, NamedTuple, cast

from pagefmt.codec.pages.frames import (
    Buffer,
    Damage,
    DamageKind,
    FrameScan,
    Reach,
    at_hand,
    end_of_records,
    find_behind,
)
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.page_in_memory import PageInMemory
from pagefmt.codec.pages.record import (
    END_MARK,
    FRAME,
    START_MARK,
    Layout,
    PageRecord,
    decode_prefix,
    decode_queues,
    layout_of,
)
from pagefmt.codec.pages.routes import Route, route_at, routed_exactly
from pagefmt.codec.wire import ByteReader, Undecodable
from pagefmt.editions import NEWEST, Edition
from pagefmt.quantities import count_text
from pagefmt.storage.files import FileWindow, NotReadable

LARGEST_FILE: Final = (1 << 31) - 1
LAYOUT_SAMPLE: Final = 64
_I32: Final = Struct(">i").unpack_from
_I64: Final = Struct(">q").unpack_from
_HEAD: Final = Struct(">qb").unpack_from


class OddRecord(NamedTuple):
    """A record that a broker hands out although it is not understood to its last byte.

    ``record``: the part of it that is understood, None if that is not enough for a message.
    """

    route: Route
    damage: Damage
    record: PageRecord | None


class Page:
    """A page or a part of one, read record by record.

    ``buf``: the file's bytes, or a part of them that starts at the file offset ``base``. Of a large file, only the
    bytes for which ``reach`` was called are there; it is None if all are.

    After an iteration is exhausted, ``count``, ``bytes_read`` and ``damage`` describe it.
    """

    __slots__ = ("_file", "_layout", "base", "buf", "bytes_read", "count", "damage", "odd", "path", "reach")

    def __init__(self, buf: Buffer, path: Path | None = None, file: FileWindow | None = None, base: int = 0) -> None:
        self.buf = buf
        self.path = path
        self.base = base
        self._file = file
        self._layout: tuple[Layout | None] | None = None
        self.reach: Reach | None = file.reach if file is not None and file.windowed else None
        self.count = 0
        self.bytes_read = 0
        self.damage: Damage | None = None
        self.odd: Damage | None = None

    @property
    def size(self) -> int:
        """Return the bytes of the file."""
        return len(self.buf) if self._file is None else self._file.size

    @property
    def unreadable(self) -> NotReadable | None:
        """Return the error that kept bytes of the file from being read so far, or None."""
        return None if self._file is None else self._file.problem

    def layout(self) -> Layout | None:
        """Return the layout, determined from the first ordinary records.

        None if there are none: large records look the same in both. One record in the old layout decides: no new one
        fits it by accident, but a damaged old one may not fit.
        """
        if self._layout is None:
            self._layout = (self._found_layout(),)
        return self._layout[0]

    def of_layout(self, layout: Layout | None) -> Page:
        """Set the layout that the start of the page has determined, for a later part. Return the page."""
        self._layout = (layout,)
        return self

    def _found_layout(self) -> Layout | None:
        layout, first = None, True
        for offset, length in islice(FrameScan(self.buf, self.reach), LAYOUT_SAMPLE):
            if length > 9 and self.buf[offset + 13] == 0:
                layout = layout_of(self.buf, offset + 5, length)
                if layout is Layout.OLD or (first and self._only_old_reads(offset, length)):
                    return Layout.OLD
                first = False
        return layout

    def _only_old_reads(self, offset: int, length: int) -> bool:
        """Return whether the record's length is wrong, which only the old reader ignores."""
        return not routed_exactly(self.buf, offset) and self._read_by_fields(offset, length) is not None

    def strict_layout(self) -> Layout | None:
        """Return the layout for ``record``: old if the page is; otherwise None, as each record determines its own."""
        return Layout.OLD if self.layout() is Layout.OLD else None

    def frames(self) -> Iterator[tuple[int, int, int]]:
        """Yield number, offset and payload length of every record with valid marks, whatever its payload."""
        scan = FrameScan(self.buf, self.reach)
        for number, (offset, length) in enumerate(scan):
            yield number, offset, length
        self._finish(scan)

    def records(self) -> Iterator[tuple[int, PageRecord | Damage]]:
        """Yield every framed record with its number, or ``Damage`` in the place of one that is not understood."""
        scan = FrameScan(self.buf, self.reach)
        layout = self.strict_layout()
        for number, (offset, length) in enumerate(scan):
            yield number, self.record(number, offset, length, layout)
        self._finish(scan)

    def routes(self) -> Iterator[Route]:
        """Yield the routes that a broker hands out, quickly. Stop at the first payload on which it throws.

        Reads only the fields it needs: ``verify`` finds other damage.
        """
        return cast(Iterator[Route], self._walk(0, 0, beyond=False))

    def handed_out(self, at: int = 0, number: int = 0) -> Iterator[Route | Damage]:
        """Yield the routes from the record ``number`` at ``at`` on.

        A payload on which a broker throws comes as ``Damage``, and reading continues after it.
        """
        return self._walk(at, number, beyond=True)

    def _walk(self, at: int, number: int, *, beyond: bool) -> Iterator[Route | Damage]:
        """Yield the routes from the record ``number`` at the offset ``at`` on, up to the first frame that is not whole.

        ``beyond``: a payload that cannot be decoded is yielded as ``Damage``, and reading continues after it; otherwise
        reading stops there. A record that only brokers read is yielded as a route; ``odd`` keeps the first of these.
        """
        buf, reach, size = self.buf, self.reach, len(self.buf)
        self.damage = self.odd = None
        if reach is not None:
            self.layout()  # before anything else, because it reads the start of the page
        while size - at >= FRAME and (reach is None or reach(at, at + FRAME)) and buf[at] == START_MARK:
            length = _I32(buf, at + 1)[0]
            end = at + FRAME + length
            if length < 0 and not self._old_end(end):
                break
            if end > size or not (reach is None or reach(at, end)) or buf[end - 1] != END_MARK:
                break
            try:
                yield route_at(buf, at, length, number)
            except Undecodable as err:
                odd = self._odd_route(at, length, number)
                if odd is not None:
                    end = at + FRAME + odd[2]
                    self.odd = self.odd or Damage(DamageKind.SWALLOWED, at, number, err.detail)
                    yield odd
                elif length < 0:
                    break
                elif beyond:
                    yield self.undecodable(at, number, err)
                else:
                    self.damage = self.undecodable(at, number, err)
                    break
            at, number = end, number + 1
        self.count, self.bytes_read = number, at
        if self.damage is None:
            self.damage = self.stopped(at, number)

    def undecodable(self, offset: int, number: int, err: Undecodable) -> Damage:
        """Return the damage for a payload that cannot be decoded."""
        where = f"at {err.offset + self.base}: {err.detail}"
        return Damage(DamageKind.UNDECODABLE, offset + self.base, number, where)

    def stopped(self, at: int, number: int) -> Damage | None:
        """Return what is wrong where the next record should start, or None at the end of the file."""
        buf, problem = self.buf, self.unreadable
        if problem is not None and self._file is not None:
            buf = buf[: self._file.readable]
        return end_of_records(buf, at, number, problem, self.reach)

    def route(self, number: int, offset: int, length: int) -> Route | Damage:
        """Return the route that a broker reads from the frame at ``offset``, or damage if it throws."""
        try:
            return route_at(self.buf, offset, length, number)
        except Undecodable as err:
            return self._odd_route(offset, length, number) or self.undecodable(offset, number, err)

    def _odd_route(self, offset: int, length: int, number: int) -> Route | None:
        """Return the route of a payload that does not end at its last byte but that a broker reads, or None.

        Its length is what the broker's reader consumes, which may differ from the stated length.
        """
        if self.layout() is Layout.OLD:
            old = self._read_by_fields(offset, length)
            if old is None:
                return None
            message_id, queues, behind = old
            length = behind - offset - FRAME
        else:
            from pagefmt.codec.pages.broker_payload import walk_payload

            try:
                message_id, queues = walk_payload(ByteReader(self.buf, offset + 5, offset + 5 + length), NEWEST)
            except Undecodable:
                return None
        tx, large_type = _HEAD(self.buf, offset + 5)
        routed = tuple(dict.fromkeys(decode_queues(ByteReader(self.buf, queues))))
        return number, offset, length, tx, large_type, _I64(self.buf, message_id)[0], routed

    def _read_by_fields(self, offset: int, length: int) -> tuple[int, int, int] | None:
        """Read a record by its fields, as the old reader does, whatever length its frame states.

        Return the offset of the message id, that of the queue count, and that after the last queue id; None if the old
        reader throws.
        """
        from pagefmt.codec.pages.broker_payload import walk_old_record

        try:
            return walk_old_record(
                self.buf, offset, offset + FRAME + length, Edition.ARTEMIS_1_5, self.reach or at_hand
            )
        except Undecodable:
            return None

    def _old_end(self, end: int) -> bool:
        """Return whether the old reader accepts a negative length because it leads to an end mark."""
        if end < 1 or self.layout() is not Layout.OLD:
            return False
        return (self.reach is None or self.reach(end - 1, end)) and self.buf[end - 1] == END_MARK

    def understood(self, route: Route) -> PageRecord | OddRecord:
        """Return the record that a broker hands out as ``route``."""
        number, offset, length, *_ = route
        decoded = self.record(number, offset, length, self.strict_layout())
        if isinstance(decoded, PageRecord):
            stated = _I32(self.buf, offset + 1)[0]
            if stated == length:
                return decoded
            what = f"its stated length is {stated}, but it has {length} bytes"
            return OddRecord(route, Damage(DamageKind.SWALLOWED, offset + self.base, number, what), decoded)
        try:
            record, _ = decode_prefix(self.buf, offset, length, self.strict_layout())
        except Undecodable:
            record = None
        return OddRecord(route, decoded, record)

    def recovered(self, offset: int | None = None) -> Iterator[PageRecord]:
        """Yield valid records after the damage, or from ``offset`` on; the broker has no number for them."""
        start = self.damage.offset if offset is None and self.damage else offset or 0
        return self.behind(start)

    def damage_in_messages(self) -> Damage | None:
        """Return ``damage``, extended by the number of valid messages after it that no broker hands out."""
        behind = 0 if self.damage is None else sum(1 for _ in self.recovered())
        if self.damage is None or not behind:
            return self.damage
        what = f"{behind} whole message{'s' * (behind > 1)} after it that no broker delivers"
        return self.damage._replace(detail=f"{self.damage.detail}; {what}: 'pagectl pages salvage' gets them back")

    def behind(self, start: int, end: int | None = None) -> Iterator[PageRecord]:
        """Yield valid records from ``start`` on, at any offset."""
        return find_behind(self.buf, start, end, *(() if self.reach is None else (self.reach,)))

    def record(self, number: int, offset: int, length: int, layout: Layout | None) -> PageRecord | Damage:
        """Decode the framed record at ``offset`` of ``buf`` to its last byte. Offsets in it are those of the file."""
        try:
            record, left = decode_prefix(self.buf, offset, length, layout)
        except Undecodable as err:
            return self.undecodable(offset, number, err)
        try:
            record.message.check()
        except Undecodable as err:
            # it counts from the start of a part, which is the last thing of its kind in front of the queue ids
            end = offset + 5 + length - left - 4 - 8 * len(record.queues)
            part = bytes(self.buf[offset:end]).rfind(record.message.read_late)
            return self.undecodable(offset, number, Undecodable(err.offset + offset + part, err.detail))
        if left:
            return swallowed(self.buf, number, offset, length, left, self.base)
        return replace(record, offset=offset + self.base) if self.base else record

    def _finish(self, scan: FrameScan) -> None:
        if not scan.count and not scan.damage:
            for _ in scan:
                pass
        self.count, self.bytes_read = scan.count, scan.bytes_read
        self.damage = scan.damage if self.unreadable is None else self.stopped(scan.bytes_read, scan.count)


def swallowed(buf: Buffer, number: int, offset: int, length: int, left: int, base: int = 0) -> Damage:
    """Return the damage for a payload longer than its fields need, in which whole records may lie."""
    behind = offset + 5 + length - left
    inside = sum(1 for _ in find_behind(buf, behind, offset + FRAME + length))
    what = f"{left} bytes more than its fields need" + (
        f", with {count_text(inside, 'whole record')} inside" if inside else ""
    )
    return Damage(DamageKind.SWALLOWED, offset + base, number, what)


@contextmanager
def open_page(file: Path | PageFile | PageInMemory) -> Iterator[Page]:
    """Open a page. Bytes that the system cannot read are damage of the page: nothing is raised.

    A ``PageFile`` is read up to the size that it had when it was listed.
    """
    if isinstance(file, PageInMemory):
        yield Page(file.content)
        return
    path, upto = (file, None) if isinstance(file, Path) else (file.path, file.size)
    with FileWindow(path, LARGEST_FILE, upto) as window:
        yield Page(window.buf, path, window)
