"""What files are read through, wherever they lie: a file that is open, and a tree of files that is no local one."""

from __future__ import annotations

import errno
import io
import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

SECTOR: Final = 512
_ALL: Final = 1 << 62
# endings of archives that are read from start to end → codec; case is ignored
COMPRESSED: Final = {
    ".tar.gz": "gzip",
    ".tgz": "gzip",
    ".tar.bz2": "bz2",
    ".tbz2": "bz2",
    ".tar.zst": "zstd",
    ".tzst": "zstd",
    ".tar.xz": "xz",
    ".txz": "xz",
}
ARCHIVES: Final = (".tar", ".zip", *COMPRESSED)  # endings of all archives
# format → offset and bytes that identify it; a record of a page begins with {
_PACKED: Final = {
    "tar": (257, b"ustar"), "zip": (0, b"PK\3\4"), "gzip": (0, b"\x1f\x8b"), "zstd": (0, b"\x28\xb5\x2f\xfd"),
    "xz": (0, b"\xfd7zXZ\0"), "bz2": (0, b"BZh"), "lz4": (0, b"\x04\x22\x4d\x18"), "7-Zip": (0, b"7z\xbc\xaf"),
    "compress": (0, b"\x1f\x9d"), "rar": (0, b"Rar!\x1a\x07"),
}  # fmt: skip


class OpenFile(ABC):
    """A file read at offsets. What the system refuses is an ``OSError``.

    ``sector``: what cannot be read as a whole is tried in parts down to this size.
    """

    __slots__ = ()
    sector = _ALL

    @abstractmethod
    def size(self) -> int:
        """Return the current size in bytes."""

    @abstractmethod
    def read_at(self, count: int, at: int) -> bytes:
        """Return this many bytes from ``at`` on; fewer at the end of the file."""

    def read_into(self, view: memoryview, at: int) -> int:
        """Fill ``view`` with the bytes at ``at``. Return how many there were, 0 at the end."""
        content = self.read_at(len(view), at)
        view[: len(content)] = content
        return len(content)

    def filled(self, upto: int) -> Iterator[tuple[int, int]]:
        """Yield (start, end) of stretches before ``upto`` that contain data, ascending; between them are only zeros."""
        yield 0, upto

    def close(self) -> None:  # noqa: B027 (most have nothing to give back)
        """Release the file."""


class LocalFile(OpenFile):
    """A file descriptor, closed with the file."""

    __slots__ = ("fd",)
    sector = SECTOR

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def size(self) -> int:
        return os.fstat(self.fd).st_size

    def read_at(self, count: int, at: int) -> bytes:
        return os.pread(self.fd, count, at)

    def read_into(self, view: memoryview, at: int) -> int:
        """Fill ``view`` without a copy. Return the number of bytes."""
        return os.preadv(self.fd, [view], at)

    def filled(self, upto: int) -> Iterator[tuple[int, int]]:
        """Without the holes of a sparse file; the last byte always, so that one that is not there is met."""
        at = 0
        while at < upto:
            try:
                start = os.lseek(self.fd, at, os.SEEK_DATA)
                end = os.lseek(self.fd, start, os.SEEK_HOLE)
            except OSError as err:
                start, end = (upto - 1 if err.errno == errno.ENXIO else at), upto
            start, at = min(start, upto - 1), min(end, upto)
            yield start, at

    def close(self) -> None:
        os.close(self.fd)


class FileStream(io.RawIOBase):
    """An open file as Python's own libraries take it."""

    def __init__(self, file: OpenFile) -> None:
        super().__init__()
        self._file, self._at = file, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, at: int, whence: int = os.SEEK_SET) -> int:
        self._at = at + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._file.size()}[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        content = self._file.read_at(len(view), self._at)
        view[: len(content)] = content
        self._at += len(content)
        return len(content)


class FarEntry(NamedTuple):
    """What a folder of a tree holds, as ``os.DirEntry``. Links are never followed."""

    name: str
    status: os.stat_result

    def is_dir(self, *, follow_symlinks: bool = False) -> bool:
        return stat.S_ISDIR(self.status.st_mode) and not follow_symlinks

    def is_file(self, *, follow_symlinks: bool = False) -> bool:
        """Return whether this is a regular file."""
        return stat.S_ISREG(self.status.st_mode) and not follow_symlinks

    def is_symlink(self) -> bool:
        return stat.S_ISLNK(self.status.st_mode)

    def stat(self, *, follow_symlinks: bool = False) -> os.stat_result:
        """Return the status at the time when the folder was listed."""
        assert not follow_symlinks
        return self.status


class FileTree(ABC):
    """Files below names with slashes, empty for the top. All raise ``OSError``, as for local files."""

    @abstractmethod
    def status(self, inner: str) -> os.stat_result:
        """Return mode, size and times."""

    @abstractmethod
    def entries(self, inner: str) -> Iterator[FarEntry]:
        """Yield the entries of a folder."""

    @abstractmethod
    def opened(self, inner: str) -> OpenFile:
        """Open a regular file."""


def form_of(start: bytes) -> str | None:
    """Return the format that packs a file starting with these bytes; None if no known one does."""
    return next((form for form, (at, mark) in _PACKED.items() if start.startswith(mark, at)), None)


def status_of(mode: int, size: int = 0, modified: float = 0.0, changed: float = 0.0) -> os.stat_result:
    """Return the status of a file without an inode. ``changed``: when its container was written."""
    times = {"st_mtime": modified, "st_mtime_ns": int(modified * 1e9), "st_ctime": changed}
    times["st_ctime_ns"] = int(changed * 1e9)
    return os.stat_result((mode, 0, 0, 1, os.geteuid(), os.getegid(), size, 0, int(modified), int(changed)), times)
