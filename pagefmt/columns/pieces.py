"""A page file read in pieces of whole records: memory stays the same whatever the file's size."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from struct import Struct
from typing import Final

from pagefmt.columns.gather import PADDING, PageBytes
from pagefmt.columns.scan import FRAME, Frames, scan
from pagefmt.disk import open_regular

PIECE: Final = 16 << 20
_HEAD: Final = Struct(">Bi")
_START: Final = 0x7B


def pieces(path: Path, piece: int = PIECE) -> Iterator[tuple[PageBytes, Frames]]:
    """The file's records, piece by piece. ``whole`` of the last one tells whether they end where the file does.

    The file's size is taken when it is opened: what a broker appends meanwhile is left for the next reading. Raises
    ``NotReadable``.
    """
    fd = open_regular(path)
    try:
        yield from _pieces(fd, os.fstat(fd).st_size, piece)
    finally:
        os.close(fd)


def _pieces(fd: int, size: int, piece: int) -> Iterator[tuple[PageBytes, Frames]]:
    base = number = 0
    wanted = piece
    while True:
        content = _read(fd, base, min(wanted, size - base))
        frames = scan(content, base, number)
        last = base + content.size >= size
        if not last and not frames.end and _cut(content, size - base) > wanted:
            # one record larger than a piece
            wanted = _cut(content, size - base)
            continue
        yield content, frames
        if last or not frames.end:
            return
        base, number, wanted = base + frames.end, number + len(frames.offset), piece


def _cut(content: PageBytes, left: int) -> int:
    """The size of the record that begins the buffer, if the file has room for it; else 0."""
    mark, length = _HEAD.unpack_from(content.buffer, 0)
    return length + FRAME if mark == _START and 0 <= length <= left - FRAME else 0


def _read(fd: int, at: int, size: int) -> PageBytes:
    buffer = bytearray(size + PADDING)
    view, got = memoryview(buffer), 0
    while got < size:
        count = os.preadv(fd, [view[got:size]], at + got)
        if not count:
            break
        got += count
    if got < size:
        view[got:] = bytes(len(buffer) - got)
    return PageBytes(buffer, got)
