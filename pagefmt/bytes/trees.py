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
"""Endings of archives that are read from start to end, with their codecs; capitals make no difference."""
ARCHIVES: Final = (".tar", ".zip", *COMPRESSED)
"""Endings of all archives."""
_PACKED: Final = {
    "tar": (257, b"ustar"), "zip": (0, b"PK\3\4"), "gzip": (0, b"\x1f\x8b"), "zstd": (0, b"\x28\xb5\x2f\xfd"),
    "xz": (0, b"\xfd7zXZ\0"), "bz2": (0, b"BZh"), "lz4": (0, b"\x04\x22\x4d\x18"), "7-Zip": (0, b"7z\xbc\xaf"),
    "compress": (0, b"\x1f\x9d"), "rar": (0, b"Rar!\x1a\x07"),
}  # fmt: skip
"""Offset and bytes that mark what packs a file; a record of a page begins with {."""


class OpenFile(ABC):
    """A file read at offsets. What the system refuses is an ``OSError``.

    ``sector``: what cannot be read as a whole is tried in parts down to this size.
    """

    __slots__ = ()
    sector = _ALL

    @abstractmethod
    def size(self) -> int:
        """Bytes."""

    @abstractmethod
    def read_at(self, count: int, at: int) -> bytes:
        """So many bytes from ``at`` on; fewer where the file ends."""

    def read_part(self, count: int, at: int) -> bytes:
        """The same for who asks ``require_same`` when all is read."""
        return self.read_at(count, at)

    def require_same(self) -> None:  # noqa: B027 (most cannot be replaced while they are open)
        """Raises ``OSError`` where the file was replaced since it was opened."""

    def read_into(self, view: memoryview, at: int) -> int:
        """Fill ``view`` with what stands at ``at``: how many bytes it was, 0 at the end."""
        found = self.read_at(len(view), at)
        view[: len(found)] = found
        return len(found)

    def filled(self, upto: int) -> Iterator[tuple[int, int]]:
        """Stretches in front of ``upto`` outside of which there are zeros alone, in rising order."""
        yield 0, upto

    def close(self) -> None:  # noqa: B027 (most have nothing to give back)
        """Give it back."""


class LocalFile(OpenFile):
    """A file descriptor, closed with the file."""

    __slots__ = ("fd",)
    sector = SECTOR

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def size(self) -> int:
        """Now."""
        return os.fstat(self.fd).st_size

    def read_at(self, count: int, at: int) -> bytes:
        """As one call gives them."""
        return os.pread(self.fd, count, at)

    def read_into(self, view: memoryview, at: int) -> int:
        """Without a copy."""
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
        """Close the descriptor."""
        os.close(self.fd)


class FileStream(io.RawIOBase):
    """An open file as Python's own libraries take it; who has read it asks whether it is still the same."""

    def __init__(self, file: OpenFile) -> None:
        super().__init__()
        self._file, self._at = file, 0

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def seek(self, at: int, whence: int = os.SEEK_SET) -> int:
        """From where to read on."""
        self._at = at + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._file.size()}[whence]
        return self._at

    def readinto(self, buffer: Any) -> int:
        """The next bytes."""
        view = memoryview(buffer)
        found = self._file.read_part(len(view), self._at)
        view[: len(found)] = found
        self._at += len(found)
        return len(found)


class FarEntry(NamedTuple):
    """What a folder of a tree holds, as ``os.DirEntry``. Links are never followed."""

    name: str
    status: os.stat_result

    def is_dir(self, *, follow_symlinks: bool = False) -> bool:
        """Whether it is a folder."""
        return stat.S_ISDIR(self.status.st_mode) and not follow_symlinks

    def is_file(self, *, follow_symlinks: bool = False) -> bool:
        """Whether it is a regular file."""
        return stat.S_ISREG(self.status.st_mode) and not follow_symlinks

    def is_symlink(self) -> bool:
        """Whether it is a link."""
        return stat.S_ISLNK(self.status.st_mode)

    def stat(self, *, follow_symlinks: bool = False) -> os.stat_result:
        """As it was when the folder was listed."""
        assert not follow_symlinks
        return self.status


class FileTree(ABC):
    """Files below names with slashes, empty for the top. All raise ``OSError``, as for local files."""

    @abstractmethod
    def status(self, inner: str) -> os.stat_result:
        """Mode, size and time."""

    @abstractmethod
    def entries(self, inner: str) -> Iterator[FarEntry]:
        """What is in a folder."""

    @abstractmethod
    def opened(self, inner: str) -> OpenFile:
        """A regular file, open."""


def form_of(start: bytes) -> str | None:
    """What packs a file that starts with these bytes; None: nothing that is known."""
    return next((form for form, (at, mark) in _PACKED.items() if start.startswith(mark, at)), None)


def status_of(mode: int, size: int = 0, modified: float = 0.0, changed: float = 0.0) -> os.stat_result:
    """A status of a file that no inode stands for. ``changed``: when what holds it was written."""
    times = {"st_mtime": modified, "st_mtime_ns": int(modified * 1e9), "st_ctime": changed}
    times["st_ctime_ns"] = int(changed * 1e9)
    return os.stat_result((mode, 0, 0, 1, os.geteuid(), os.getegid(), size, 0, int(modified), int(changed)), times)
