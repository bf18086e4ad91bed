"""Recovering messages from damaged pages (docs/spec/page-files.md 5.3, 5.5).

A damaged page is split into segments. As long as each gap between whole records is exactly one record long, the numbers
of the records after it are certain: marks are repaired, and a record that cannot be read is replaced by a stub, so that
acknowledgements keep their meaning. After a gap of unknown length, records have no number. They go into new pages after
the last one, which no acknowledgement names; so do records that a page-complete record did not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from struct import Struct
from typing import Final

from pagefmt.change.salvage.quick_check import proves_sound
from pagefmt.codec.pages.broker_payload import walk_old_record, walk_payload
from pagefmt.codec.pages.frames import Buffer, all_zero, at_hand, find_behind
from pagefmt.codec.pages.record import (
    END_MARK,
    FRAME,
    SMALLEST_PAYLOAD,
    START_MARK,
    Layout,
    PageRecord,
    decode_prefix,
    decode_record,
    stated_id,
)
from pagefmt.codec.pages.routes import Route, route_at
from pagefmt.codec.pages.stubs import stub
from pagefmt.codec.wire import ByteReader, Undecodable
from pagefmt.editions import NEWEST, Edition

# bytes of the smallest record that a queue waits for: AMQP, no stored address, a null value
SMALLEST_MESSAGE: Final = 53
_I32: Final = Struct(">i")


class SegmentOutcome(StrEnum):
    """What a segment of a page turned out to be."""

    WHOLE = "whole"
    MENDED = "mended"  # a mark or a length was wrong
    LOST = "lost"  # exactly one record, nothing to read in it
    GAP = "gap"  # bytes of unknown meaning: numbers behind it are not sure


@dataclass(frozen=True, slots=True)
class Hole:
    """Bytes of a file that the system cannot read, replaced by zeros."""

    start: int
    end: int
    reason: str


@dataclass(slots=True)
class PageSegment:
    """Bytes ``start`` to ``end`` of the page. ``data``: the record as it should be.

    ``number``: set if it is certain. ``likely``: also set if it follows from how many messages the gaps seem to have
    contained. ``message``: its id, or 0 if it cannot be read. ``fewest``, ``most``: number of messages lost in it.
    """

    outcome: SegmentOutcome
    start: int
    end: int
    data: bytes | memoryview = b""
    detail: str = ""
    queues: tuple[int, ...] = ()
    message: int = 0
    fewest: int = 0
    most: int = 0
    number: int | None = None
    likely: int | None = None


@dataclass(slots=True)
class RebuiltPage:
    """A page divided into segments: whole, mended and lost records, and gaps."""

    segments: list[PageSegment] = field(default_factory=list)

    @property
    def numbered(self) -> list[PageSegment]:
        """Return the segments whose record number is certain."""
        return [segment for segment in self.segments if segment.number is not None]

    @property
    def unnumbered(self) -> list[PageSegment]:
        """Return the readable segments whose record number is not certain."""
        return [
            segment for segment in self.segments if segment.number is None and segment.outcome is not SegmentOutcome.GAP
        ]

    @property
    def lost(self) -> list[PageSegment]:
        """Return the segments without a readable message."""
        return [segment for segment in self.segments if segment.outcome in (SegmentOutcome.LOST, SegmentOutcome.GAP)]

    @property
    def damaged(self) -> bool:
        """Return whether anything differs from what a broker wrote."""
        return any(segment.outcome is not SegmentOutcome.WHOLE for segment in self.segments)


def rebuild(buf: Buffer, holes: Sequence[Hole], layout: Layout) -> RebuiltPage:
    """Divide a page into segments. ``layout`` is used for stubs.

    The time is linear, except for mending, which is bounded by the damage.
    """
    data = memoryview(buf)
    rebuilt = RebuiltPage()
    at, sure = 0, True
    likely: int | None = 0
    while at < len(data):
        for segment in _next(data, at, layout):
            if holes:
                _note_holes(segment, holes, layout)
            if segment.outcome is SegmentOutcome.LOST and not sure:
                segment.outcome, segment.data = SegmentOutcome.GAP, b""
            gap = segment.outcome is SegmentOutcome.GAP
            sure = sure and not gap
            segment.number, segment.likely = likely if sure else None, likely
            if likely is not None:
                likely = likely + (segment.fewest if gap else 1) if segment.fewest == segment.most else None
            rebuilt.segments.append(segment)
            at = segment.end
    return rebuilt


def _note_holes(segment: PageSegment, holes: Sequence[Hole], layout: Layout) -> None:
    """Note the first hole that a segment overlaps, if any.

    A record becomes a lost one, even if both of its marks are right: zeros stand in for its bytes. A gap counts as at
    least one lost message.
    """
    hit = next((hole for hole in holes if hole.start < segment.end and segment.start < hole.end), None)
    if hit is None:
        return
    segment.detail = f"{segment.detail}: {hit.reason}".removeprefix(": ")
    if segment.outcome is SegmentOutcome.GAP:
        segment.fewest = max(segment.fewest, min(segment.most, 1))
    else:
        segment.outcome, segment.data, segment.queues = SegmentOutcome.LOST, stub(layout, segment.message), ()
        segment.fewest = segment.most = 1


def _next(data: memoryview, at: int, layout: Layout) -> list[PageSegment]:
    route = _route(data, at)
    if route is not None and broker_decodes(data, at, route[2], layout):
        end = at + FRAME + route[2]
        whole = data[at:end]
        return [PageSegment(SegmentOutcome.WHOLE, at, end, whole, queues=route[6], message=route[5])]
    return _swallowed(data, at, layout) or _one_record(data, at, layout) or [_gap(data, at, layout)]


def broker_decodes(buf: Buffer, at: int, length: int, layout: Layout | None) -> bool:
    """Return whether a broker reads and delivers a routed record without throwing at what its message holds."""
    if proves_sound(buf, at, length):
        return True
    try:
        if layout is Layout.OLD:
            walk_old_record(buf, at, at + FRAME + length, Edition.ARTEMIS_1_5, at_hand)
        else:
            walk_payload(ByteReader(buf, at + 5, at + 5 + length), NEWEST, late=True)
    except Undecodable:
        return False
    return True


def _length(data: memoryview, at: int) -> int | None:
    if at + FRAME + SMALLEST_PAYLOAD > len(data):
        return None
    length = int(_I32.unpack_from(data, at + 1)[0])
    return length if SMALLEST_PAYLOAD <= length <= len(data) - at - FRAME else None


def _route(data: memoryview, at: int) -> Route | None:
    """Return the route of a record as brokers read it, or None.

    Both marks must be right, and the fields must end exactly with the payload.
    """
    length = _length(data, at)
    if length is None or data[at] != START_MARK or data[at + 5 + length] != END_MARK:
        return None
    try:
        return route_at(data, at, length)
    except Undecodable:
        return None


def _record(data: memoryview, at: int) -> PageRecord | None:
    """Return a record that can be read in every detail, or None. A guessed record has to pass this."""
    if _route(data, at) is None:
        return None
    try:
        record = decode_record(data, at, int(_I32.unpack_from(data, at + 1)[0]))
        record.message.check()
    except Undecodable:
        return None
    return record


def _swallowed(data: memoryview, at: int, layout: Layout) -> list[PageSegment]:
    """Return the record whose length is so wrong that it covers whole records after it, with its true length.

    Empty if this is not the damage. The covered records follow as segments of their own.
    """
    length = _length(data, at)
    if length is None or data[at] != START_MARK:
        return []
    try:
        record, left = decode_prefix(data, at, length, layout if layout is Layout.OLD else None)
    except Undecodable:
        return []
    end = at + FRAME + length - left
    if left < 1 or data[end - 1] != END_MARK or not _starts(data, end):
        return []
    mended = bytes(data[at : at + 1]) + _I32.pack(end - at - FRAME) + data[at + 5 : end]
    detail = "its length reached into the records after it"
    return [PageSegment(SegmentOutcome.MENDED, at, end, mended, detail, record.queues, record.message.id)]


def _one_record(data: memoryview, at: int, layout: Layout) -> list[PageSegment]:
    """Return the segment of a record whose length is right although something within it is damaged; else empty."""
    length = _length(data, at)
    if length is None or not _starts(data, at + FRAME + length):
        return []
    end = at + FRAME + length
    mended = bytes([START_MARK]) + data[at + 1 : end - 1] + bytes([END_MARK])
    record = _record(memoryview(mended), 0)
    if record is not None and mended != data[at:end]:
        what = "a mark was wrong"
        return [PageSegment(SegmentOutcome.MENDED, at, end, mended, what, record.queues, record.message.id)]
    message = stated_id(data, at, end, layout) or 0
    what = "one record that cannot be read"
    return [PageSegment(SegmentOutcome.LOST, at, end, stub(layout, message), what, message=message, fewest=1, most=1)]


def _starts(data: memoryview, at: int) -> bool:
    """Return whether a whole record starts at the offset, or the page ends there."""
    return at == len(data) or (at < len(data) and _record(data, at) is not None)


def _gap(data: memoryview, at: int, layout: Layout) -> PageSegment:
    """Return the gap that starts at the offset and extends to the next whole record, or to the end of the page.

    A gap that begins like a record and states a length that fills it is exactly that record. Zeros at the end may be
    space that a file system preallocated, so they may contain no message.
    """
    behind = next(find_behind(data, at + 1), None)
    end = behind.offset if behind else len(data)
    size = end - at
    zero = all_zero(data[at:end], 0)
    what = f"{size} {'zero bytes' if zero else 'bytes that are not a record'}"
    if data[at] == START_MARK and size > FRAME and _I32.unpack_from(data, at + 1)[0] >= size - FRAME:
        message = stated_id(data, at, end, layout)
        if message is not None:
            return PageSegment(SegmentOutcome.GAP, at, end, detail=what, message=message, fewest=1, most=1)
    most = size // SMALLEST_MESSAGE
    fewest = 0 if zero and behind is None else min(most, 1)
    cut = int(behind is None and not zero)
    return PageSegment(SegmentOutcome.GAP, at, end, detail=what, fewest=fewest, most=max(most, cut))
