"""Opening files below a broker's directories: regular files only, never through a symbolic link.

Links, FIFOs and devices are not followed or read: names in a data directory are not trusted.
"""

from __future__ import annotations

import errno
import mmap
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, Final

from pagefmt.errors import PageFmtError
from pagefmt.storage.file_trees import SECTOR, FarEntry, LocalFile, OpenFile, form_of
from pagefmt.storage.remote_paths import FarPath

WHOLE: Final = 32 << 20  # bytes; larger pages are read in parts
MOST_HELD: Final = 2 * WHOLE  # largest total of bytes of the files that a ``HeldFolder`` keeps in memory
_AHEAD: Final = 1 << 20
_MISSING_RIGHTS: Final = (errno.EACCES, errno.EPERM)
_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class NotReadable(PageFmtError):
    """Raised for a file that cannot be read, or that is not regular. ``reason``: without its path."""

    def __init__(self, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.reason = message if reason is None else reason


class FileGone(NotReadable):
    """Raised for a file that was listed and is missing when it is opened: a running broker deletes finished files."""


class NotPermitted(NotReadable):
    """A local file or folder that this user may not read: nothing is known of it, and nothing is wrong with it."""


def utf8_name(name: str) -> str:
    """Return the name of a file or queue with bytes escaped that are not UTF-8."""
    return name.encode("utf-8", "backslashreplace").decode()


def open_regular(path: Path) -> int:
    """Return a descriptor of a local regular file, which the caller closes. Raise ``NotReadable``."""
    try:
        fd = os.open(path, _FLAGS)
    except OSError as err:
        raise _refused(path, err) from err
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        why = "not a regular file, so it is not read; links, pipes and devices are left alone"
        raise NotReadable(f"{path}: {why}", why)
    return fd


def open_stream(path: Path) -> BinaryIO:
    """Open a local regular file of a data directory or a backup as a stream. Raises ``NotReadable``."""
    return os.fdopen(open_regular(path), "rb")


def _refused(path: Path, err: OSError) -> NotReadable:
    why = "it is a symbolic link" if err.errno == errno.ELOOP else (err.strerror or str(err))
    if err.errno in _MISSING_RIGHTS and not isinstance(path, FarPath):
        reason = not_permitted(why)
        return NotPermitted(f"{path}: {reason}", reason)
    kind = FileGone if err.errno == errno.ENOENT else NotReadable
    return kind(f"{path}: cannot be read: {why}", f"cannot be read: {why}")


def not_listed(folder: Path, err: OSError) -> NotReadable:
    """Return the error for a folder that cannot be listed."""
    why = err.strerror or str(err)
    if err.errno in _MISSING_RIGHTS and not isinstance(folder, FarPath):
        reason = not_permitted(why)
        return NotPermitted(f"{folder}: {reason}", reason)
    return NotReadable(f"{folder}: cannot be listed: {why}", f"cannot be listed: {why}")


def not_permitted(why: str = os.strerror(errno.EACCES)) -> str:
    """Return the words for what this user may not read. ``why``: the system's words."""
    return f"cannot be read as {_user_name()} ({why})"


def _user_name() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return f"user {os.geteuid()}"


class _HeldFile(OpenFile):
    """A file of a ``HeldFolder``, read from memory."""

    __slots__ = ("_content",)

    def __init__(self, content: bytes) -> None:
        self._content = content

    def size(self) -> int:
        return len(self._content)

    def read_at(self, count: int, at: int) -> bytes:
        return self._content[at : at + count]


class HeldFolder(FarPath):
    """A folder below a URL. A file that ``hold`` has read opens from memory, without a request, until ``let_go``."""

    contents: dict[str, bytes]

    @classmethod
    def of(cls, folder: FarPath) -> HeldFolder:
        """Return the folder with no files held."""
        held = cls(*folder.parts)
        held.contents = {}
        return held

    def __truediv__(self, name: str | os.PathLike[str]) -> FarPath:  # type: ignore[override]
        """Return the path of a file of the folder."""
        path = _HeldPath(*self.parts, name)
        path.contents = self.contents
        return path

    def hold(self, name: str, size: int) -> bool:
        """Read a file of about ``size`` bytes into memory, and return whether it was read.

        Files in an archive are not, and none are while ``MOST_HELD`` bytes are held. Raises ``NotReadable``.
        """
        if self.in_archive or size + sum(map(len, self.contents.values())) > MOST_HELD:
            return False
        with MappedFile(self / name) as whole:
            self.contents[name] = whole.buf
        return True

    def let_go(self, name: str) -> None:
        """Drop the bytes of a file, if they are held."""
        self.contents.pop(name, None)


class _HeldPath(FarPath):
    """A file of a ``HeldFolder``."""

    contents: Mapping[str, bytes] = MappingProxyType({})

    def opened(self) -> OpenFile:
        content = self.contents.get(self.name)
        return super().opened() if content is None else _HeldFile(content)


def open_file(path: Path) -> OpenFile:
    """Open a regular file, local or remote, which the caller closes. Raise ``NotReadable``."""
    if not isinstance(path, FarPath):
        return LocalFile(open_regular(path))
    try:
        return path.opened()
    except OSError as err:
        raise _refused(path, err) from err


def listed(folder: Path) -> AbstractContextManager[Iterator[os.DirEntry[str] | FarEntry]]:
    """Return the entries of a folder, local or remote, in the system's order. Raise ``OSError``, also later."""
    return nullcontext(folder.entries()) if isinstance(folder, FarPath) else os.scandir(folder)


def read_start(path: Path, limit: int) -> bytes:
    """Return at most ``limit`` bytes from the start of the file. Raise ``NotReadable`` if none can be read."""
    file = open_file(path)
    try:
        content = bytearray(min(limit, file.size()))
        count, problem = fill(file, memoryview(content), 0)
    finally:
        file.close()
    if problem is not None and not count:
        raise NotReadable(f"{path}: {problem}", problem)
    return bytes(content[:count])


def packed_form(path: Path) -> str | None:
    """Return the format that packs a file, by its first bytes; None if no known one does. Raise ``NotReadable``."""
    return form_of(read_start(path, SECTOR))


class MappedFile:
    """All bytes of one file while the context is open. Raises ``NotReadable`` if not all of them can be read."""

    __slots__ = ("buf", "path", "size")

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self.buf: bytes = b""

    def __enter__(self) -> MappedFile:
        file = open_file(self.path)
        try:
            self.size = file.size()
            self.buf, problem = _read_all(file, self.size)
        finally:
            file.close()
        if problem is not None:
            raise NotReadable(f"{self.path}: {problem}", problem)
        return self

    def __exit__(self, *_: object) -> None:
        self.buf = b""


class FileStretches:
    """A file while the context is open; a slice of it is read when it is asked for. Raises ``NotReadable``."""

    __slots__ = ("_file", "path", "size")

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0

    def __enter__(self) -> FileStretches:
        self._file = open_file(self.path)
        self.size = self._file.size()
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, part: slice[int, int, None]) -> bytearray:
        content = bytearray(part.stop - part.start)
        _, problem = fill(self._file, memoryview(content), part.start)
        if problem is not None:
            raise NotReadable(f"{self.path}: {problem}", problem)
        return content


class FileWindow:
    """A file that is read from start to end while the context is open, as far as it can be read.

    ``buf`` contains all bytes of a file of usual size. A larger one is read as far as ``reach`` requests, so that
    memory does not grow with it; it is not mapped, because a mapped file that shrinks or fails ends the process.
    ``readable``: offset up to which it can be read, ``problem``: why no further; both are known at once for a file of
    usual size. ``upto``: size at which to stop, if data may be appended.
    """

    __slots__ = ("_file", "_high", "_largest", "_low", "_memory", "_upto", "buf", "path", "problem", "readable", "size")

    def __init__(self, path: Path, largest: int, upto: int | None = None) -> None:
        self.path = path
        self.size = self.readable = 0
        self.buf: bytes | memoryview = b""
        self.problem: NotReadable | None = None
        self._upto = upto
        self._file: OpenFile | None = None
        self._largest = largest
        self._memory: mmap.mmap | None = None
        self._low = self._high = 0

    def __enter__(self) -> FileWindow:
        try:
            self._file = open_file(self.path)
        except NotReadable as err:
            self.problem = err
            return self
        self.size = size_upto(self._file, self._upto)
        if self.size > self._largest:
            self._stop(f"{self.size} bytes; no broker reads a page of 2 GiB or more")
        elif self.size <= WHOLE:
            self.buf, problem = _read_all(self._file, self.size)
            self.readable = len(self.buf)
            self._stop(problem)
        else:
            self._memory = mmap.mmap(-1, self.size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            self.buf = memoryview(self._memory)
            self.readable = self.size
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
        self.buf, self._memory = b"", None

    @property
    def windowed(self) -> bool:
        """Return whether ``buf`` contains only the bytes announced to ``reach``."""
        return self._memory is not None

    def reach(self, start: int, end: int) -> bool:
        """Read ``start`` to ``end``, if possible; other parts of ``buf`` are undefined afterwards."""
        if self._memory is None or self._file is None:
            return end <= len(self.buf)
        if not self._low <= start <= self._high:
            self._drop(self._low, self._high)
            self._low = self._high = start - start % mmap.PAGESIZE
        elif start - self._low >= _AHEAD:
            self._drop(self._low, start)
            self._low = start - start % mmap.PAGESIZE
        if end > self._high and end <= self.readable:
            upto = min(self.readable, max(end, self._high + _AHEAD))
            count, problem = fill(self._file, memoryview(self.buf)[self._high : upto], self._high)
            self._high += count
            if problem is not None:
                self.readable = self._high
                self._stop(problem)
        return end <= self._high

    def _stop(self, reason: str | None) -> None:
        if reason is not None:
            self.problem = NotReadable(f"{self.path}: {reason}", reason)

    def _drop(self, start: int, end: int) -> None:
        start += -start % mmap.PAGESIZE
        end -= end % mmap.PAGESIZE
        if self._memory is not None and end > start and hasattr(mmap, "MADV_DONTNEED"):
            self._memory.madvise(mmap.MADV_DONTNEED, start, end - start)


def file_pieces(path: Path) -> Iterator[bytes]:
    """Yield the whole file in pieces. Raise ``NotReadable``, also if it shrinks meanwhile."""
    file = open_file(path)
    try:
        size = file.size()
        for at in range(0, size, _AHEAD):
            piece = bytearray(min(_AHEAD, size - at))
            _, problem = fill(file, memoryview(piece), at)
            if problem is not None:
                raise NotReadable(f"{path}: {problem}", problem)
            yield bytes(piece)
    finally:
        file.close()


def size_upto(file: OpenFile, upto: int | None) -> int:
    """Return the bytes of an open file, at most ``upto``."""
    size = file.size()
    return size if upto is None else min(size, upto)


def fill(file: OpenFile, view: memoryview, at: int) -> tuple[int, str | None]:
    """Read into ``view`` from the offset ``at`` on, up to the last sector that can be read.

    Returns the number of bytes, and why they are too few, or None.
    """
    got, step = 0, len(view)
    while got < len(view):
        try:
            count = file.read_into(view[got : got + step], at + got)
        except OSError as err:
            sector = file.sector - (at + got) % file.sector
            if min(step, len(view) - got) <= sector:
                return got, f"cannot be read from offset {at + got}: {err.strerror or err}"
            step = max(min(step, len(view) - got) // 2, sector)
            continue
        if not count:
            return got, f"ends at offset {at + got}: it became shorter while it was read; is it being written?"
        got += count
    return got, None


def _read_all(file: OpenFile, size: int) -> tuple[bytes, str | None]:
    try:
        content = file.read_at(size, 0)
    except OSError:
        content = b""
    if len(content) == size:
        return content, None
    buffer = bytearray(size)
    count, problem = fill(file, memoryview(buffer), 0)
    return bytes(buffer[:count]), problem
