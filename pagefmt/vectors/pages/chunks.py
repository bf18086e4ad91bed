"""A page file read in chunks of whole records: memory does not grow with the file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from struct import Struct
from typing import Final

from pagefmt.codec.pages.file_part import WHOLE_FILE, FilePart
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.codec.pages.page_in_memory import PageInMemory
from pagefmt.codec.pages.record import END_MARK, FRAME, START_MARK
from pagefmt.storage.file_trees import OpenFile
from pagefmt.storage.files import NotReadable, fill, open_file, size_upto
from pagefmt.vectors.pages.gather import PADDING, PageBytes
from pagefmt.vectors.pages.scan import PageFrames, scan

# Bytes of a chunk. Larger ones are not faster: a chunk is read several times and should stay in the cache.
CHUNK: Final = 2 << 20
_HEAD: Final = Struct(">Bi")


def read_chunks(
    file: Path | PageFile | PageInMemory, chunk: int = CHUNK, part: FilePart = WHOLE_FILE, *, reuse: bool = False
) -> Iterator[tuple[PageBytes, PageFrames]]:
    """Yield the records of a file in chunks. ``whole`` of the last one: the records end exactly where the part ends.

    With ``reuse`` a chunk is read into the memory of the previous one. The file's size is that of a page when it was
    listed, else its size when it is opened; what a broker appends later is not read. If the system does not return all
    bytes, the last chunk's ``unreadable`` says why.
    """
    if isinstance(file, PageInMemory):
        whole = PageBytes(file.content)
        yield whole, scan(whole)
        return
    path, upto = (file, part.end) if isinstance(file, Path) else (file.path, part.end or file.size)
    try:
        opened = open_file(path)
    except NotReadable as err:
        nothing = PageBytes(b"")
        yield nothing, replace(scan(nothing, part.start, part.number), whole=False, unreadable=err)
        return
    try:
        for content, frames, problem in _chunks(opened, size_upto(opened, upto), chunk, part, reuse):
            if problem is not None:
                why = NotReadable(f"{path}: {problem}", problem)
                frames = replace(frames, whole=False, unreadable=why)
            yield content, frames
    finally:
        opened.close()


def _chunks(
    file: OpenFile, size: int, chunk: int, part: FilePart, reuse: bool
) -> Iterator[tuple[PageBytes, PageFrames, str | None]]:
    base, number = min(part.start, size), part.number
    wanted = _share(size - base, chunk)
    buffer = _room(0)
    while True:
        most = min(wanted, size - base)
        if not reuse or len(buffer) < most + PADDING:
            # allocated for a full chunk: the next share may be a little larger
            buffer = _room(max(most, min(chunk, size - base)) + PADDING)
        content, problem = _read(file, base, most, buffer)
        frames = scan(content, base, number)
        if problem is not None:
            yield content, frames, problem
            return
        last = base + content.size >= size
        if not last and not frames.end and (larger := _cut(file, base, size - base)) > wanted:
            # one record is larger than a chunk
            wanted = larger
            continue
        yield content, frames, None
        if last or not frames.end:
            return
        base, number = base + frames.end, number + len(frames.offset)
        wanted = _share(size - base, chunk)


def _share(left: int, chunk: int) -> int:
    """Return the bytes to read next, so that all chunks have about the same size."""
    return -(-left // max(1, -(-left // chunk)))


def _cut(file: OpenFile, at: int, left: int) -> int:
    """Return the size of the record at ``at``, or 0 if no record starts there or its end is not in the file."""
    head = bytearray(_HEAD.size)
    if fill(file, memoryview(head), at)[1] is not None:
        return 0
    mark, length = _HEAD.unpack(head)
    end = bytearray(1)
    if mark != START_MARK or not 0 <= length <= left - FRAME:
        return 0
    return int(length) + FRAME if not fill(file, memoryview(end), at + length + 5)[1] and end[0] == END_MARK else 0


def _room(size: int) -> bytearray:
    """Memory that can be searched where it is; a memoryview would have to be copied first."""
    return bytearray(size)


def _read(file: OpenFile, at: int, size: int, room: bytearray) -> tuple[PageBytes, str | None]:
    got, problem = fill(file, memoryview(room)[:size], at)
    room[got : got + PADDING] = bytes(PADDING)
    return PageBytes(room, got), problem
