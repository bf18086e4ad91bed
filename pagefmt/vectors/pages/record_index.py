"""Where the records of a page file begin, found while somebody looks at it already.

``scan`` goes through the file a chunk at a time; ``frame`` and ``at`` answer for what it has passed. Memory does not
grow with the file: the offset of every so many records is kept, and of fewer the more there are.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from struct import Struct
from typing import Final, NamedTuple

from pagefmt.arrays import Ints
from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page import Page, open_page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.record import FRAME, Layout
from pagefmt.storage.files import open_regular
from pagefmt.vectors.pages.chunks import read_chunks

# Offsets kept at most; with more records, each mark covers twice as many of them.
MARKS: Final = 4096
_HEADS: Final = 1 << 16
_SEARCHED: Final = 1 << 20
_LENGTH: Final = Struct(">xi")


class _Marks(NamedTuple):
    """Offsets of the records 0, ``step``, 2 ``step`` and so on."""

    step: int
    offsets: list[int]


class RecordIndex:
    """An index of the records of a page, built chunk by chunk.

    ``count`` records in ``passed`` bytes so far.

    When ``done``: ``damage`` is what reading stopped at, and ``behind`` how many whole records follow it.
    """

    def __init__(self, page: PageFile) -> None:
        self.page = page
        self.count = self.passed = self.behind = 0
        self.done = False
        self.damage: Damage | None = None
        self._layout: tuple[Layout | None] | None = None
        self._marks = _Marks(1, [])
        self._last = (0, 0)

    def scan(self) -> Iterator[None]:
        """Index the file, one step per chunk. Raises nothing: bytes that the system does not return become damage."""
        whole = True
        for _, frames in read_chunks(self.page, reuse=True):
            self._take(frames.number, frames.offset + frames.base)
            self.count, self.passed = frames.number + len(frames.offset), frames.base + frames.end
            whole = frames.whole
            yield
        if not whole:
            with open_page(self.page) as opened:
                self.damage = opened.damage = opened.stopped(self.passed, self.count)
                for _ in opened.recovered() if self.damage else ():
                    self.behind += 1
                    yield
        self.done = True

    def _take(self, first: int, offsets: Ints) -> None:
        step, marks = self._marks
        marks = [*marks, *offsets[-first % step :: step].tolist()]
        while len(marks) > MARKS:
            step, marks = 2 * step, marks[::2]
        self._marks = _Marks(step, marks)

    def frame(self, number: int) -> tuple[int, int]:
        """Offset and payload length of a record below ``count``. Raises ``OSError`` and ``NotReadable``."""
        step, marks = self._marks
        near = (number - number % step, marks[number // step])
        return self._walk(max(near, self._last) if self._last[0] <= number else near, lambda n, _: n == number)[1:]

    def at(self, offset: int) -> int:
        """Return the number of the record that contains the byte at ``offset``, which the scan has passed.

        Raises ``OSError`` and ``NotReadable``.
        """
        step, marks = self._marks
        mark = bisect_right(marks, offset) - 1
        return self._walk((mark * step, marks[mark]), lambda _, end: end > offset)[0]

    def _walk(self, start: tuple[int, int], is_match: Callable[[int, int], bool]) -> tuple[int, int, int]:
        number, at = start
        heads, base = b"", at
        while True:
            if at - base + FRAME > len(heads):
                heads, base = self.read(at, _HEADS), at
            length = _LENGTH.unpack_from(heads, at - base)[0]
            if is_match(number, at + length + FRAME):
                self._last = (number, at)
                return number, at, length
            number, at = number + 1, at + length + FRAME

    def read(self, offset: int, size: int) -> bytes:
        """Return bytes of the file, fewer at its end. Raises ``OSError`` and ``NotReadable``."""
        fd = open_regular(self.page.path)
        try:
            return os.pread(fd, max(0, min(size, self.page.size - offset)), offset)
        finally:
            os.close(fd)

    def record(self, number: int) -> Page:
        """Return the part of the page that is one record. Raises ``OSError`` and ``NotReadable``."""
        offset, length = self.frame(number)
        if self._layout is None:
            with open_page(self.page) as opened:
                self._layout = (opened.layout(),)
        return Page(self.read(offset, length + FRAME), self.page.path, base=offset).of_layout(self._layout[0])

    def find(self, needles: Sequence[bytes], start: int, going: Callable[[], bool]) -> int | None:
        """Return the first offset from ``start`` on with one of the texts.

        None if there is none, or if ``going`` returns False.

        Raises ``OSError`` and ``NotReadable``.
        """
        overlap = max(map(len, needles)) - 1
        while start < self.page.size and going():
            piece = self.read(start, _SEARCHED + overlap)
            places = [place for needle in needles if (place := piece.find(needle)) >= 0]
            if places:
                return start + min(places)
            if not piece:
                break
            start += _SEARCHED
        return None
