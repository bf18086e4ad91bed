"""Several small pages of a store in one buffer, so that their records are read as those of one page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pagefmt.arrays import Ints, Mask
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.record import END_MARK, FRAME, START_MARK
from pagefmt.storage.files import NotReadable, fill, open_file, size_upto
from pagefmt.vectors.pages.gather import PADDING, PageBytes, fits_old_layout
from pagefmt.vectors.pages.scan import PageFrames, RecordPlaces, followed


@dataclass(frozen=True, slots=True)
class ConcatenatedPages:
    """Records of several pages in one buffer.

    ``frames``: the records of the pages that are ``sound``: read whole, filled by frames, and of the layout of 2.x.
    ``first``: the index of the first record of each page in ``frames``, then the number of all records.
    """

    content: PageBytes
    frames: PageFrames
    sound: Mask
    first: Ints


def read_together(pages: Sequence[PageFile]) -> ConcatenatedPages:
    """Read pages into one buffer, each up to the size that it had when it was listed."""
    room = bytearray(sum(page.size for page in pages) + PADDING)
    buffer = memoryview(room)
    sound = np.zeros(len(pages), bool)
    edges: list[int] = []
    ends: list[int] = []
    counts: list[int] = []
    end = 0
    for n, page in enumerate(pages):
        # Each page is read behind the previous one; the few unsound pages are read again by themselves.
        start, (end, sound[n]) = end, _read(page, buffer, end)
        page_edges = followed(buffer[:end], start)
        edges += page_edges
        ends.append(end)
        counts.append(len(page_edges))
    buffer[end : end + PADDING] = bytes(PADDING)
    content = PageBytes(room, end)
    edge, count = np.array(edges, np.int64), np.array(counts)
    last = np.cumsum(count) - 1
    sound &= edge[last] == ends
    owner = np.repeat(np.arange(len(pages)), count - 1)
    at = np.delete(np.arange(len(edge)), last)
    _keep_sound(content, sound, owner, edge[at], edge[at + 1])
    kept = sound[owner]
    at, owner = at[kept], owner[kept]
    first = np.searchsorted(owner, np.arange(len(pages) + 1))
    starts = np.array([0, *ends[:-1]], np.int64)
    numbers = np.array([page.number for page in pages], np.int64)
    places = RecordPlaces(numbers, owner, np.arange(len(owner)) - first[owner], edge[at] - starts[owner])
    frames = PageFrames(edge[at], edge[at + 1] - edge[at] - FRAME, whole=True, places=places)
    return ConcatenatedPages(content, frames, sound, first)


def _read(page: PageFile, buffer: memoryview, at: int) -> tuple[int, bool]:
    """Read a page into the buffer. Return the position after it, and whether it was read whole."""
    try:
        file = open_file(page.path)
    except NotReadable:
        return at, False
    try:
        got, problem = fill(file, buffer[at : at + size_upto(file, page.size)], 0)
    finally:
        file.close()
    return at + got, problem is None


def _keep_sound(content: PageBytes, sound: Mask, owner: Ints, start: Ints, behind: Ints) -> None:
    """Clear ``sound`` of pages with a frame that is none, or with a record that may be an old one."""
    inside = sound[owner]
    owner, start, behind = owner[inside], start[inside], behind[inside]
    framed = (content.u8[start] == START_MARK) & (content.u8[behind - 1] == END_MARK)
    large = content.byte(start + 13) != 0
    new = large | ~fits_old_layout(content, start + 5, behind - start - FRAME)
    sound[owner[~(framed & new)]] = False
