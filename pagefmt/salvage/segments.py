"""Recovering messages from damaged pages (docs/spec/page-files.md 5.3, 5.5).

A damaged page is split into segments. While each gap between whole records is exactly one record long, the numbers of
the records behind it are certain: marks are repaired, and a record that cannot be read is replaced by a stub, so that
acknowledgements keep their meaning. Behind a gap of unknown length records have no number. They go into new pages
behind the last one, where no acknowledgement names them; so do records that a page-complete record did not count.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from struct import Struct
from typing import Final

from pagefmt.bytes.wire import Undecodable
from pagefmt.pages.frames import Buffer, all_zero, find_behind
from pagefmt.pages.record import (
    END_MARK,
    FRAME,
    SMALLEST_PAYLOAD,
    START_MARK,
    Layout,
    PageRecord,
    decode_prefix,
    decode_record,
)
from pagefmt.pages.routes import Route, route_at
from pagefmt.pages.stubs import stub

_I32: Final = Struct(">i")


class SegmentOutcome(StrEnum):
    """What a segment of a page turned out to be."""

    WHOLE = "whole"
    MENDED = "mended"  # a mark or a length was wrong
    LOST = "lost"  # exactly one record, nothing to read in it
    GAP = "gap"  # bytes of unknown meaning: numbers behind it are not sure


@dataclass(frozen=True, slots=True)
class PageSegment:
    """Bytes ``start`` to ``end`` of the page. ``number`` where it is sure; ``data``: the record as it should be."""

    outcome: SegmentOutcome
    start: int
    end: int
    number: int | None
    data: bytes
    detail: str = ""
    queues: tuple[int, ...] = ()
    message: int = 0


@dataclass(slots=True)
class RebuiltPage:
    """A page taken apart."""

    segments: list[PageSegment] = field(default_factory=list)

    @property
    def numbered(self) -> list[PageSegment]:
        """Segments whose record number is certain."""
        return [segment for segment in self.segments if segment.number is not None]

    @property
    def unnumbered(self) -> list[PageSegment]:
        """Readable segments without a number."""
        return [
            segment for segment in self.segments if segment.number is None and segment.outcome is not SegmentOutcome.GAP
        ]

    @property
    def lost(self) -> list[PageSegment]:
        """Segments that no message could be read from."""
        return [segment for segment in self.segments if segment.outcome in (SegmentOutcome.LOST, SegmentOutcome.GAP)]

    @property
    def damaged(self) -> bool:
        """Whether anything is not as a broker wrote it."""
        return any(segment.outcome is not SegmentOutcome.WHOLE for segment in self.segments)


def rebuild(buf: Buffer, layout: Layout) -> RebuiltPage:
    """Take a page apart; ``layout`` for the stubs. Time is linear but for mending, which is bounded by the damage."""
    data = bytes(buf)
    found = RebuiltPage()
    at, number, sure = 0, 0, True
    while at < len(data):
        for segment in _next(data, at, layout):
            numbered = sure and segment.outcome is not SegmentOutcome.GAP
            if segment.outcome is SegmentOutcome.GAP:
                sure = False
            elif segment.outcome is SegmentOutcome.LOST and not sure:
                segment = _as_gap(segment)
                numbered = False
            found.segments.append(_numbered(segment, number) if numbered else segment)
            number += numbered
            at = segment.end
    return found


def _numbered(segment: PageSegment, number: int) -> PageSegment:
    return PageSegment(
        segment.outcome,
        segment.start,
        segment.end,
        number,
        segment.data,
        segment.detail,
        segment.queues,
        segment.message,
    )


def _as_gap(segment: PageSegment) -> PageSegment:
    return PageSegment(SegmentOutcome.GAP, segment.start, segment.end, None, b"", segment.detail)


def _next(data: bytes, at: int, layout: Layout) -> list[PageSegment]:
    route = _route(data, at)
    if route is not None:
        end = at + FRAME + route[2]
        return [PageSegment(SegmentOutcome.WHOLE, at, end, None, data[at:end], "", route[6], route[5])]
    return _swallowed(data, at, layout) or _one_record(data, at, layout) or [_gap(data, at)]


def _length(data: bytes, at: int) -> int | None:
    if at + FRAME + SMALLEST_PAYLOAD > len(data):
        return None
    length = int(_I32.unpack_from(data, at + 1)[0])
    return length if SMALLEST_PAYLOAD <= length <= len(data) - at - FRAME else None


def _route(data: bytes, at: int) -> Route | None:
    """A record as brokers read it: both marks, and fields that come out to the last byte of the payload."""
    length = _length(data, at)
    if length is None or data[at] != START_MARK or data[at + 5 + length] != END_MARK:
        return None
    try:
        return route_at(data, at, length)
    except Undecodable:
        return None


def _record(data: bytes, at: int) -> PageRecord | None:
    """A record that can be read in every detail: what is guessed to be one has to be."""
    if _route(data, at) is None:
        return None
    try:
        record = decode_record(data, at, int(_I32.unpack_from(data, at + 1)[0]))
        record.message.check()
    except Undecodable:
        return None
    return record


def _swallowed(data: bytes, at: int, layout: Layout) -> list[PageSegment]:
    """A length that reaches over whole records: the record with its true length; those it hid follow."""
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
    mended = data[at : at + 1] + _I32.pack(end - at - FRAME) + data[at + 5 : end]
    detail = "its length reached over the records behind it"
    return [PageSegment(SegmentOutcome.MENDED, at, end, None, mended, detail, record.queues, record.message.id)]


def _one_record(data: bytes, at: int, layout: Layout) -> list[PageSegment]:
    """The damage lies within one record: its length is right, so the next one starts where it says."""
    length = _length(data, at)
    if length is None or not _starts(data, at + FRAME + length):
        return []
    end = at + FRAME + length
    mended = bytes([START_MARK]) + data[at + 1 : end - 1] + bytes([END_MARK])
    record = _record(mended, 0)
    if record is not None and mended != data[at:end]:
        return [
            PageSegment(
                SegmentOutcome.MENDED, at, end, None, mended, "a mark was wrong", record.queues, record.message.id
            )
        ]
    return [PageSegment(SegmentOutcome.LOST, at, end, None, stub(layout, 0), "one record that cannot be read")]


def _starts(data: bytes, at: int) -> bool:
    """A whole record starts there, or the page ends there."""
    return at == len(data) or (at < len(data) and _record(data, at) is not None)


def _gap(data: bytes, at: int) -> PageSegment:
    """Up to the next whole record, or to the end."""
    behind = next(find_behind(data, at + 1), None)
    end = behind.offset if behind else len(data)
    what = "zero bytes" if all_zero(data[at:end], 0) else "bytes that make no record"
    return PageSegment(SegmentOutcome.GAP, at, end, None, b"", f"{end - at} {what}")
