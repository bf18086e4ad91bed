"""Records that columns read to their last byte, many at once: the strict reader would find nothing wrong with them.

What lines can be made of at once is understood in full, and is what the strict reader says it is; tests hold the two
together on golden, damaged and generated pages. What is not proven here is not thereby damaged.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import numpy as np

from pagefmt.pages.chunks import CHUNK
from pagefmt.pages.page import Page

if TYPE_CHECKING:
    from pagefmt.pages.gather import Ints, PageBytes
    from pagefmt.pages.record import Layout
    from pagefmt.pages.scan import PageFrames

PLAIN: Final = 4 << 20
"""Bytes that are looked at record by record in less time than Arrow is imported."""
_SMALL: Final = 64 << 10
"""Bytes of a page that are looked at record by record in less time than as columns."""
_looked_at: Final = [0]
"""Bytes of pages, since the program began: what is found does not depend on it."""


class SoundRecords:
    """Of a page that is read from its start to its end."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._lengths: dict[int, int] = {}
        _looked_at[0] += page.size
        many = page.size >= _SMALL and _looked_at[0] > PLAIN
        self._end = 0 if many else page.size

    def hold(self, offset: int, length: int) -> bool:
        """Whether the record that stands there is proven to be sound."""
        if offset >= self._end:
            self._look(offset)
        return self._lengths.get(offset) == length

    def _look(self, start: int) -> None:
        """At the records from there on, as far as one chunk has them."""
        from pagefmt.pages.gather import PageBytes
        from pagefmt.pages.scan import scan

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
    from pagefmt.columns.amqp.regular_lines import regular_lines
    from pagefmt.columns.core.line_parts import LineSource
    from pagefmt.describe.message_json import MessageOptions

    source = LineSource("", None, 0, None, MessageOptions(), json.dumps)
    every = np.arange(len(frames.offset))
    found = regular_lines(content, frames, every, layout, lambda *_: True, source)
    return np.concatenate([every[:0], *(rows for rows, _ in found)])
