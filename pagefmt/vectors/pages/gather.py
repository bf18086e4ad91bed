"""A page in memory, read at many positions at once.

All numbers in pages are big-endian and unaligned. A view with a stride of one byte makes every offset an element, so
that a vector of positions is one fancy index. ``PADDING`` zero bytes behind the page let a reader run over a record's
end without running over the buffer's; whoever gathers checks afterwards that the positions were inside.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from pagefmt.arrays import Bytes, Fields, Ints, Mask

PADDING: Final = 64
# Bytes that may be read at a wild position after it is clamped into the buffer.
_WIDEST: Final = 32


class PageBytes:
    """The bytes of one page file with padding behind. ``size`` is the file's size, padding not counted."""

    __slots__ = ("_f32", "_f64", "_i16", "_i32", "_i64", "_limit", "buffer", "size", "u8")

    def __init__(self, content: bytes | bytearray | memoryview, size: int | None = None) -> None:
        if size is None:
            size = len(content)
            content = bytes(content) + bytes(PADDING)
        assert len(content) >= size + PADDING and not isinstance(content, memoryview)
        self.buffer = content
        self.size = size
        self._limit = np.uint64(size + PADDING - _WIDEST)
        self.u8: Bytes = np.frombuffer(content, np.uint8)
        self._i16 = self._view(">i2")
        self._i32 = self._view(">i4")
        self._i64 = self._view(">i8")
        self._f32 = self._view(">f4")
        self._f64 = self._view(">f8")

    def _view(self, kind: str) -> npt.NDArray[np.generic]:
        width = np.dtype(kind).itemsize
        return np.ndarray((len(self.buffer) - width + 1,), dtype=kind, buffer=self.buffer, strides=(1,))

    def find(self, mark: bytes, at: int) -> int:
        """Return the first position of the bytes from ``at`` on, padding excluded, or -1."""
        return self.buffer.find(mark, at, self.size)

    def views(self, at: Ints, size: Ints) -> Iterator[memoryview]:
        """Return the bytes of each piece, without copying them."""
        # all in C: a generator would take as long as what is done with a kilobyte
        return map(memoryview(self.buffer).__getitem__, map(slice, at.tolist(), (at + size).tolist()))

    def window(self, at: Ints, width: int) -> Bytes:
        """Return a row of ``width`` bytes for each position. They have to lie inside the buffer."""
        # Overlapping windows with a stride of one byte: indexing copies whole windows at once.
        windows = np.ndarray((len(self.buffer) - width + 1,), dtype=f"V{width}", buffer=self.buffer, strides=(1,))
        return windows[at].view(np.uint8).reshape(-1, width)

    def fields(self, at: Ints, layout: np.dtype[np.void]) -> Fields:
        """Return a structure for each position: a window of a record costs hardly more than one of its fields."""
        return self.window(at, layout.itemsize).view(layout).reshape(-1)

    def i32_inside(self, at: Ints) -> Ints:
        """Return signed 32-bit integers at positions that lie inside."""
        return self._i32[at].astype(np.int64)

    def inside(self, at: Ints) -> Ints:
        """Return positions forced into the buffer: a wild one reads something, which its owner's check finds."""
        # a negative one is a huge unsigned one
        return np.minimum(at.view(np.uint64), self._limit).view(np.int64)

    def byte(self, at: Ints) -> Bytes:
        """Return the unsigned byte at each position."""
        return self.u8.take(at, mode="clip")

    def i8(self, at: Ints) -> Ints:
        """Return the signed byte at each position."""
        return self.byte(at).view(np.int8).astype(np.int64)

    def i16(self, at: Ints) -> Ints:
        """Return the signed 16-bit integer at each position."""
        return self._i16[self.inside(at)].astype(np.int64)

    def i32(self, at: Ints) -> Ints:
        """Return the signed 32-bit integer at each position."""
        return self._i32[self.inside(at)].astype(np.int64)

    def i64(self, at: Ints) -> Ints:
        """Return the signed 64-bit integer at each position."""
        return self._i64[self.inside(at)].astype(np.int64)

    def f32(self, at: Ints) -> npt.NDArray[np.float64]:
        """Return the float at each position, widened to a double."""
        return doubles(self._f32[self.inside(at)])

    def f64(self, at: Ints) -> npt.NDArray[np.float64]:
        """Return the double at each position."""
        return self._f64[self.inside(at)].astype(np.float64)


def doubles(singles: npt.NDArray[np.generic]) -> npt.NDArray[np.float64]:
    """Widen floats to doubles, without a warning for signalling NaNs."""
    with np.errstate(invalid="ignore"):
        return singles.astype(np.float64)


def fits_old_layout(page: PageBytes, payload: Ints, length: Ints) -> Mask:
    """Apply the test of docs/spec/page-files.md 4.3, step 1."""
    message = page.i32(payload + 9)
    body_end = page.i32(payload + 13)
    fits = (body_end >= 17) & (body_end - 9 <= message) & (message >= 0) & (13 + message + 4 <= length)
    at = np.where(fits, payload, 0)
    message, body_end = np.where(fits, message, 0), np.where(fits, body_end, 17)
    queues = page.i32(at + 13 + message)
    total = page.i32(at + body_end)
    whole: Mask = fits & (queues >= 0) & (total == message + 13) & (13 + message + 4 + 8 * queues == length)
    return whole


def queue_counts(page: PageBytes, parts_end: Ints, record_end: Ints, ok: Mask) -> tuple[Ints, Mask]:
    """Return the number of queue ids of each record, and whether they end with the payload."""
    count = page.i32(parts_end)
    fine = ok & (count >= 0) & (parts_end + 4 + 8 * count == record_end)
    return np.where(fine, count, 0), fine


def repeated_longs(page: PageBytes, first: Ints, count: Ints) -> tuple[Ints, Ints]:
    """Return values and offsets of runs of ``i64``: ``count[k]`` of them from ``first[k]`` on."""
    offsets = np.concatenate(([0], np.cumsum(count)))
    if offsets[-1] == len(count) and bool((count == 1).all()):
        return page.i64(first), offsets
    row = np.repeat(np.arange(len(count)), count)
    within = np.arange(offsets[-1]) - offsets[row]
    return page.i64(first[row] + 8 * within), offsets
