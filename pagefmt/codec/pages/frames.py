"""Frames: records lie back to back, each between two marks (docs/spec/page-files.md 3, 5).

    0        7B     start mark
    1        i32    N, payload length
    5        N      payload
    5 + N    7D     end mark

The scan follows the rules of 2.8.0 and later. It stops at the first bad byte, because no number is ever given to
anything behind it; what it stopped at is a ``Damage``. ``find_behind`` looks for records after that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from struct import Struct
from typing import Final, NamedTuple

from pagefmt.codec.pages.record import END_MARK, FRAME, SMALLEST_PAYLOAD, START_MARK, PageRecord, decode_record
from pagefmt.codec.pages.routes import routed_exactly
from pagefmt.codec.wire import Undecodable
from pagefmt.storage.files import FileGone, NotPermitted, NotReadable

Buffer = bytes | memoryview
# Called before bytes ``start`` to ``end`` of a buffer are read; returns False if they cannot be read.
Reach = Callable[[int, int], bool]
_I32: Final = Struct(">i")
SEARCH_FACTOR: Final = 16
_WINDOW: Final = 1 << 20


class DamageKind(StrEnum):
    """A kind of damage: where reading stops (5.3), or in a payload within valid marks (4.4).

    ``UNREADABLE``: the system does not give the bytes (a failing disk, a file that was cut).
    ``NOT_PERMITTED``: this user may not read the file; nothing is known of it, and nothing is wrong with it.
    ``GONE``: the file was listed and is not there any more.
    """

    FRAGMENT = "fragment"
    TORN = "torn"
    BAD_START = "bad-start"
    BAD_END = "bad-end"
    BAD_LENGTH = "bad-length"
    ZERO_TAIL = "zero-tail"
    SWALLOWED = "swallowed"
    UNDECODABLE = "undecodable"
    UNREADABLE = "unreadable"
    NOT_PERMITTED = "not-permitted"
    GONE = "gone"


NO_BYTES: Final = frozenset((DamageKind.UNREADABLE, DamageKind.NOT_PERMITTED, DamageKind.GONE))
PAYLOAD_DAMAGE: Final = frozenset((DamageKind.SWALLOWED, DamageKind.UNDECODABLE))
# Kinds of damage that an early end of the bytes causes, whatever follows.
_LIKE_AN_END: Final = (None, DamageKind.FRAGMENT, DamageKind.TORN, DamageKind.ZERO_TAIL)


class Damage(NamedTuple):
    """What stops a reader within a page.

    ``offset`` in the file, of the record's start; ``number`` that the record has or would have.
    """

    kind: DamageKind
    offset: int
    number: int
    detail: str


def at_hand(start: int, end: int) -> bool:
    """Return True: all of the buffer is in memory."""
    return True


class FrameScan:
    """An iterable over (offset, payload length) of the frames from the start to the first bad one.

    After its one iteration, ``count``, ``bytes_read`` and ``damage`` describe it.
    """

    __slots__ = ("_buf", "_reach", "bytes_read", "count", "damage")

    def __init__(self, buf: Buffer, reach: Reach | None = None) -> None:
        self._buf = buf
        self._reach = reach
        self.count = 0
        self.bytes_read = 0
        self.damage: Damage | None = None

    def __iter__(self) -> Iterator[tuple[int, int]]:
        buf, reach, size, at = self._buf, self._reach, len(self._buf), 0
        while size - at >= FRAME and (reach is None or reach(at, at + FRAME)) and buf[at] == START_MARK:
            length = _I32.unpack_from(buf, at + 1)[0]
            end = at + FRAME + length
            if length < 0 or end > size or not (reach is None or reach(at, end)) or buf[end - 1] != END_MARK:
                break
            self.bytes_read, self.count = end, self.count + 1
            yield at, length
            at = end
        if at < size:
            self.damage = stopped_at(buf, at, self.count, reach)


def stopped_at(buf: Buffer, at: int, number: int, reach: Reach | None = None) -> Damage:
    """Return the damage at the position where the next record should start (5.3)."""
    reach = reach or at_hand
    reach(at, min(at + FRAME, len(buf)))
    left = len(buf) - at
    if left < FRAME:
        return Damage(DamageKind.FRAGMENT, at, number, f"{left} bytes are left, too few for a record")
    if buf[at] != START_MARK:
        if all_zero(buf, at, reach):
            return Damage(DamageKind.ZERO_TAIL, at, number, f"{left} zero bytes to the end of the file")
        return Damage(DamageKind.BAD_START, at, number, f"0x{buf[at]:02x} where a record should start with 0x7b")
    length = _I32.unpack_from(buf, at + 1)[0]
    if length < 0:
        return Damage(DamageKind.BAD_LENGTH, at, number, f"the record's length is negative: {length}")
    if length + FRAME > left:
        return Damage(DamageKind.TORN, at, number, f"the record needs {length + FRAME} bytes, {left} are left")
    reach(at, at + FRAME + length)
    mark = buf[at + 5 + length]
    return Damage(
        DamageKind.BAD_END, at, number, f"0x{mark:02x} where a record of length {length} should end with 0x7d"
    )


def end_of_records(
    buf: Buffer, at: int, number: int, problem: NotReadable | None, reach: Reach | None = None
) -> Damage | None:
    """Return what ``stopped_at`` does, or None at the end of the bytes. ``problem``: why no more could be read."""
    damage = stopped_at(buf, at, number, reach) if at < len(buf) else None
    if problem is not None and (damage and damage.kind) in _LIKE_AN_END:
        return no_bytes(problem, at, number)
    return damage


def no_bytes(problem: NotReadable, at: int = 0, number: int = 0) -> Damage:
    """Return the damage at the offset from which on a page cannot be read."""
    kind = DamageKind.UNREADABLE
    if isinstance(problem, FileGone):
        kind = DamageKind.GONE
    elif isinstance(problem, NotPermitted):
        kind = DamageKind.NOT_PERMITTED
    return Damage(kind, at, number, problem.reason)


def all_zero(buf: Buffer, at: int, reach: Reach = at_hand) -> bool:
    """Return whether every byte from ``at`` to the end is zero.

    Bytes that cannot be read, and those after them, count as zero.
    """
    zeros = bytes(_WINDOW)
    for start in range(at, len(buf), _WINDOW):
        if not reach(start, min(start + _WINDOW, len(buf))):
            return True
        if not zeros.startswith(bytes(buf[start : start + _WINDOW])):
            return False
    return True


def find_behind(buf: Buffer, start: int, end: int | None = None, reach: Reach = at_hand) -> Iterator[PageRecord]:
    """Yield valid records from ``start`` on: the frame closes and the payload decodes to its last byte.

    The broker gives them no number. Takes time linear in the bytes: candidates are refused by fixed fields, and the
    effort of failed decoding is bounded.
    """
    view = buf if end is None else buf[:end]
    resume, wasted = start, 0
    for at in _start_marks(view, start, reach):
        if wasted > SEARCH_FACTOR * len(view):
            return
        if at < resume or not _frame_fits(view, at, reach) or not routed_exactly(view, at):
            continue
        record = _record_at(view, at)
        if record is not None:
            yield record
            resume = record.end
        else:
            wasted += _I32.unpack_from(view, at + 1)[0]


def _start_marks(buf: Buffer, start: int, reach: Reach) -> Iterator[int]:
    """Yield the offset of every byte that could start a record.

    Works in windows, so that a large page is not copied.
    """
    for base in range(start, len(buf), _WINDOW):
        if not reach(base, min(base + _WINDOW, len(buf))):
            return
        window = bytes(buf[base : base + _WINDOW])
        at = window.find(START_MARK)
        while at >= 0:
            yield base + at
            at = window.find(START_MARK, at + 1)


def _frame_fits(data: Buffer, at: int, reach: Reach) -> bool:
    if len(data) - at < FRAME + SMALLEST_PAYLOAD or not reach(at, at + FRAME):
        return False
    length = _I32.unpack_from(data, at + 1)[0]
    end = at + 5 + length
    return bool(length >= SMALLEST_PAYLOAD and end < len(data) and reach(at, end + 1) and data[end] == END_MARK)


def _record_at(data: Buffer, at: int) -> PageRecord | None:
    try:
        record = decode_record(data, at, _I32.unpack_from(data, at + 1)[0])
        record.message.check()
    except Undecodable:
        return None
    return record
