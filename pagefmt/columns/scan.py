"""Record starts of a page, and the check of all its frames at once (spec/page-files.md 3, 5)."""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import Final

import numpy as np

from pagefmt.columns.gather import Ints, PageBytes

_LENGTH: Final = Struct(">I").unpack_from
FRAME: Final = 6
_START, _END = 0x7B, 0x7D


@dataclass(frozen=True, slots=True)
class Frames:
    """Offsets and payload lengths of the records in a buffer, and whether they fill it to its last byte.

    Where the buffer is a piece of a page: ``base`` is its offset in the file, ``number`` that of its first record.
    """

    offset: Ints
    length: Ints
    whole: bool
    base: int = 0
    number: int = 0

    @property
    def end(self) -> int:
        """Offset in the buffer behind the last sound record."""
        return int(self.offset[-1] + self.length[-1]) + FRAME if len(self.offset) else 0


def scan(page: PageBytes, base: int = 0, number: int = 0) -> Frames:
    """Follow the lengths from the first byte on; any doubt ends the scan with ``whole`` false."""
    buf, size = page.buffer, page.size
    starts: list[int] = []
    append = starts.append
    at = 0
    # read as unsigned: a negative length leads far outside and ends the loop
    while at + FRAME <= size:
        append(at)
        at += _LENGTH(buf, at + 1)[0] + FRAME
    offset = np.array(starts, np.int64)
    length = page.i32(offset + 1)
    end = offset + FRAME + length
    good = (page.byte(offset) == _START) & (length >= 0) & (end <= size)
    good &= page.byte(np.where(good, end - 1, 0)) == _END
    if not good.all():
        kept = int(np.argmin(good))
        return Frames(offset[:kept], length[:kept], False, base, number)
    return Frames(offset, length, at == size, base, number)
