"""Record starts of a page, and the check of all its frames at once (docs/spec/page-files.md 3, 5)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat
from struct import Struct, error
from typing import Final

import numpy as np

from pagefmt.arrays import Ints
from pagefmt.codec.pages.record import END_MARK, FRAME, START_MARK
from pagefmt.storage.files import NotReadable
from pagefmt.vectors.pages.gather import PageBytes

_LENGTH: Final = Struct(">xI").unpack_from
_AT_ONCE: Final = 1 << 15


@dataclass(frozen=True, slots=True)
class RecordPlaces:
    """The places of records of several pages: the page (``owner``), the number and the offset in it.

    ``numbers``: of the pages.
    """

    numbers: Ints
    owner: Ints
    number: Ints
    offset: Ints


@dataclass(frozen=True, slots=True)
class PageFrames:
    """Offsets and payload lengths of the records in a buffer, and whether they fill it to its last byte.

    If the buffer is a chunk of a page, ``base`` is its offset in the file, ``number`` that of its first record, and
    ``unreadable`` why nothing after it can be read. If it holds several pages, ``places`` are those of the records.
    """

    offset: Ints
    length: Ints
    whole: bool
    base: int = 0
    number: int = 0
    unreadable: NotReadable | None = None
    places: RecordPlaces | None = None

    @property
    def end(self) -> int:
        """Return the offset in the buffer after the last sound record."""
        return int(self.offset[-1] + self.length[-1]) + FRAME if len(self.offset) else 0


def scan(page: PageBytes, base: int = 0, number: int = 0) -> PageFrames:
    """Return the sound records from the first byte on. Anything unusual ends the scan, with ``whole`` false.

    ``base``: offset of the buffer in the file. ``number``: that of its first record.
    """
    # Following the lengths is a loop, but one that reads a length per record and nothing else; the marks of up to
    # ``_AT_ONCE`` records are then checked at once.
    parts: list[Ints] = []
    at = 0
    while page.size - at >= FRAME:
        edges = np.array(followed(memoryview(page.buffer)[: page.size], at), np.int64)
        sound = _sound(page, edges)
        parts.append(edges[: sound + 1] if sound else edges[:0])
        at = int(edges[sound])
        if sound < len(edges) - 1:
            break
    starts = [edges[:-1] for edges in parts]
    lengths = [np.diff(edges) - FRAME for edges in parts]
    return PageFrames(_joined(starts), _joined(lengths), at == page.size, base, number)


def followed(view: memoryview, at: int) -> list[int]:
    """Return the offsets of the next records, found by their lengths alone, and the offset after the last one."""
    edges = [at]
    append = edges.append
    try:
        for _ in repeat(None, _AT_ONCE):
            at += _LENGTH(view, at)[0] + FRAME
            append(at)
    except error:
        pass
    return edges


def _sound(page: PageBytes, edges: Ints) -> int:
    """Return how many records between the edges are sound, counted from the first one."""
    inside = edges if edges[-1] <= page.size else edges[:-1]
    good = (page.u8[inside[:-1]] == START_MARK) & (page.u8[inside[1:] - 1] == END_MARK)
    return len(good) if good.all() else int(np.argmin(good))


def _joined(parts: list[Ints]) -> Ints:
    return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, np.int64), *parts])
