"""Records that columns read to their last byte, many at once: the strict reader would find nothing wrong with them.

What lines can be made of at once is understood in full, and is what the strict reader says it is; tests hold the two
together on golden, damaged and generated pages. What is not proven here is not thereby damaged.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import numpy as np

from pagefmt.codec.pages.page import Page
from pagefmt.vectors.pages.chunks import CHUNK

if TYPE_CHECKING:
    from pagefmt.arrays import Ints
    from pagefmt.codec.pages.record import Layout
    from pagefmt.vectors.pages.gather import PageBytes
    from pagefmt.vectors.pages.scan import PageFrames

# Bytes that are checked record by record in less time than the import of Arrow takes.
PLAIN: Final = 4 << 20
# Bytes of a page that are checked record by record in less time than as columns.
_SMALL: Final = 64 << 10


class SoundRecords:
    """The proven records of a page that is read from its start to its end.

    ``bytes_before``: of the pages that the caller has verified before. Only the time depends on it.
    """

    def __init__(self, page: Page, bytes_before: int = 0) -> None:
        self._page = page
        self._lengths: dict[int, int] = {}
        many = page.size >= _SMALL and bytes_before + page.size > PLAIN
        self._end = 0 if many else page.size

    def hold(self, offset: int, length: int) -> bool:
        """Return whether the record at ``offset`` is proven to be sound."""
        if offset >= self._end:
            self._look(offset)
        return self._lengths.get(offset) == length

    def _look(self, start: int) -> None:
        """Prove the records from ``start`` on, as far as one chunk has them."""
        from pagefmt.vectors.pages.gather import PageBytes
        from pagefmt.vectors.pages.scan import scan

        page = self._page
        end = min(start + CHUNK, len(page.buf))
        self._lengths, self._end = {}, end
        if page.reach is not None and not page.reach(start, end):
            return
        content = PageBytes(page.buf[start:end])
        frames = scan(content)
        if len(frames.offset):
            self._end = start + frames.end
            rows = _sound(content, frames, page.strict_layout())
            self._lengths = dict(zip((frames.offset[rows] + start).tolist(), frames.length[rows].tolist(), strict=True))


def _sound(content: PageBytes, frames: PageFrames, layout: Layout | None) -> Ints:
    from pagefmt.describe.message_json import MessageOptions
    from pagefmt.vectors.core.line_parts import LineSource
    from pagefmt.vectors.ordinary_records import regular_lines

    source = LineSource("", None, 0, None, MessageOptions(), json.dumps)
    every = np.arange(len(frames.offset))
    results = regular_lines(content, frames, every, layout, lambda *_: True, source)
    return np.concatenate([every[:0], *(rows for rows, _ in results)])
