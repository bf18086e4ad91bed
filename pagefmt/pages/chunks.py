"""A page file read in pieces of whole records: memory stays the same whatever the file's size."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from typing import Final

import numpy as np

from pagefmt.bytes.files import NotReadable, open_regular
from pagefmt.pages.gather import PADDING, PageBytes
from pagefmt.pages.record import END_MARK, FRAME, START_MARK
from pagefmt.pages.scan import PageFrames, scan

CHUNK: Final = 4 << 20
"""Larger ones take more memory, and no less time: what is read several times has to stay in the processor's cache."""
_HEAD: Final = Struct(">Bi")


@dataclass(frozen=True, slots=True)
class FilePart:
    """Part of a page file: from the record ``number`` at offset ``start`` on, up to ``end`` (None: the file's end)."""

    start: int = 0
    number: int = 0
    end: int | None = None


WHOLE_FILE: Final = FilePart()


def read_chunks(
    path: Path, piece: int = CHUNK, part: FilePart = WHOLE_FILE, *, reuse: bool = False
) -> Iterator[tuple[PageBytes, PageFrames]]:
    """The file's records, piece by piece. ``whole`` of the last one tells whether they end where the part does.

    With ``reuse`` each piece is read over the one before it: fresh memory costs more than filling it.

    The file's size is taken when it is opened: what a broker appends meanwhile is left for the next reading. Raises
    ``NotReadable``.
    """
    fd = open_regular(path)
    try:
        size = os.fstat(fd).st_size
        yield from _pieces(fd, size if part.end is None else min(size, part.end), piece, part, reuse)
    except OSError as err:
        raise NotReadable(f"{path}: cannot be read: {err.strerror or err}") from err
    finally:
        os.close(fd)


def _pieces(fd: int, size: int, piece: int, part: FilePart, reuse: bool) -> Iterator[tuple[PageBytes, PageFrames]]:
    base, number = min(part.start, size), part.number
    wanted = _share(size - base, piece)
    buffer = _room(0)
    while True:
        most = min(wanted, size - base)
        if not reuse or len(buffer) < most + PADDING:
            # a whole piece, though shares are smaller: the next may be a little larger
            buffer = _room(max(most, min(piece, size - base)) + PADDING)
        content = _read(fd, base, most, buffer)
        frames = scan(content, base, number)
        last = base + content.size >= size
        if not last and not frames.end and (larger := _cut(fd, base, size - base)) > wanted:
            # one record larger than a piece
            wanted = larger
            continue
        yield content, frames
        if last or not frames.end:
            return
        base, number = base + frames.end, number + len(frames.offset)
        wanted = _share(size - base, piece)


def _share(left: int, piece: int) -> int:
    """What to read next, so that all pieces have about the same size."""
    return -(-left // max(1, -(-left // piece)))


def _cut(fd: int, at: int, left: int) -> int:
    """The size of the record at ``at``, if that is the start of one and its end is in the file; else 0."""
    head = os.pread(fd, _HEAD.size, at)
    if len(head) < _HEAD.size:
        return 0
    mark, length = _HEAD.unpack(head)
    if mark != START_MARK or not 0 <= length <= left - FRAME or os.pread(fd, 1, at + length + 5) != bytes((END_MARK,)):
        return 0
    return int(length) + FRAME


def _room(size: int) -> memoryview:
    """Memory that nobody has filled: zeros would cost as much as a fifth of the reading."""
    return np.empty(size, np.uint8).data


def _read(fd: int, at: int, size: int, view: memoryview) -> PageBytes:
    got = 0
    while got < size:
        count = os.preadv(fd, [view[got:size]], at + got)
        if not count:
            break
        got += count
    view[got : got + PADDING] = bytes(PADDING)
    return PageBytes(view, got)
