"""Opening files below a broker's directories: regular files only, never through a symbolic link.

Links, FIFOs and devices are not followed or read there: what is named in a data directory is not trusted.
"""

from __future__ import annotations

import errno
import mmap
import os
import stat
from pathlib import Path
from typing import Final

from pagefmt.errors import PageFmtError

WHOLE: Final = 32 << 20
"""Files up to this size are read whole; larger ones are mapped."""
_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class NotReadable(PageFmtError):
    """A file that cannot be read, or is none that may be read here."""


def open_regular(path: Path) -> int:
    """A descriptor, for the caller to close. Raises ``NotReadable``."""
    try:
        fd = os.open(path, _FLAGS)
    except OSError as err:
        why = "it is a symbolic link" if err.errno == errno.ELOOP else (err.strerror or str(err))
        raise NotReadable(f"{path}: cannot be read: {why}") from err
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise NotReadable(f"{path}: not a regular file, it is not read; links, pipes and devices are left alone")
    return fd


def read_start(path: Path, limit: int) -> bytes:
    """At most ``limit`` bytes from the start of the file."""
    fd = open_regular(path)
    try:
        with os.fdopen(fd, "rb") as file:
            return file.read(limit)
    except OSError as err:
        raise NotReadable(f"{path}: cannot be read: {err.strerror or err}") from err


class MappedFile:
    """The bytes of one file while the context is open. Large files are mapped, and given back page by page."""

    __slots__ = ("_fd", "_forgotten", "_map", "buf", "path", "size")

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self.buf: bytes | memoryview = b""
        self._fd = -1
        self._map: mmap.mmap | None = None
        self._forgotten = 0

    def __enter__(self) -> MappedFile:
        self._fd = open_regular(self.path)
        try:
            self.size = os.fstat(self._fd).st_size
            if self.size <= WHOLE:
                self.buf = _read_all(self._fd, self.size)
            else:
                self._map = mmap.mmap(self._fd, self.size, prot=mmap.PROT_READ)
                self.buf = memoryview(self._map)
        except (OSError, ValueError) as err:
            os.close(self._fd)
            raise NotReadable(f"{self.path}: cannot be read: {getattr(err, 'strerror', None) or err}") from err
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)
        if isinstance(self.buf, memoryview):
            self.buf.release()
        if self._map is not None:
            self._map.close()
        self.buf = b""

    def forget(self, before: int) -> None:
        """This pass is done with what lies before the offset: its memory may go. Another pass reads it anew."""
        if before < self._forgotten:
            self._forgotten = 0
        if self._map is None or before - self._forgotten < WHOLE // 2:
            return
        upto = before - before % mmap.PAGESIZE
        if hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED, self._forgotten, upto - self._forgotten)
        self._forgotten = upto


def _read_all(fd: int, size: int) -> bytes:
    chunks, left = [], size
    while left > 0 and (chunk := os.read(fd, left)):
        chunks.append(chunk)
        left -= len(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)
