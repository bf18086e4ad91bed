"""Opening files below a broker's directories: regular files only, never through a symbolic link.

Links, FIFOs and devices are not followed or read there: what is named in a data directory is not trusted.
"""

from __future__ import annotations

import errno
import mmap
import os
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Final

from pagefmt.bytes.far_paths import FarPath
from pagefmt.bytes.trees import SECTOR, FarEntry, LocalFile, OpenFile, form_of
from pagefmt.errors import PageFmtError

WHOLE: Final = 32 << 20
"""Pages up to this size are read whole, larger ones a part at a time."""
MOST_HELD: Final = 2 * WHOLE
"""Bytes of files that are kept by ``hold``."""
_AHEAD: Final = 1 << 20
_MISSING_RIGHTS: Final = (errno.EACCES, errno.EPERM)
_FLAGS: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class NotReadable(PageFmtError):
    """A file that cannot be read, or is none that may be read here. ``reason``: without its path."""

    def __init__(self, message: str, reason: str | None = None) -> None:
        super().__init__(message)
        self.reason = message if reason is None else reason


class FileGone(NotReadable):
    """A file that was listed, and is not there when it is opened: a running broker deletes what it is done with."""


class NotPermitted(NotReadable):
    """A local file or folder that this user may not read: nothing is known of it, and nothing is wrong with it."""


def utf8_name(name: str) -> str:
    """The name of a file or queue; what is no UTF-8 in it is escaped."""
    return name.encode("utf-8", "backslashreplace").decode()


def open_regular(path: Path) -> int:
    """A descriptor of a local file, for the caller to close. Raises ``NotReadable``."""
    try:
        fd = os.open(path, _FLAGS)
    except OSError as err:
        raise _refused(path, err) from err
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        why = "not a regular file, so it is not read; links, pipes and devices are left alone"
        raise NotReadable(f"{path}: {why}", why)
    return fd


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
    """What is kept of a file below a URL."""

    __slots__ = ("_content",)

    def __init__(self, content: bytes) -> None:
        self._content = content

    def size(self) -> int:
        return len(self._content)

    def read_at(self, count: int, at: int) -> bytes:
        return self._content[at : at + count]


_held: Final[dict[Path, bytes]] = {}


def hold(path: Path, size: int) -> bool:
    """Read a file below a URL now, so that all who open it until ``let_go`` get the same bytes, without a request.

    ``size``: about its bytes. Whether it is held; not where many bytes are already. Raises ``NotReadable``.
    """
    if not isinstance(path, FarPath) or path.in_archive or size + sum(map(len, _held.values())) > MOST_HELD:
        return False
    with MappedFile(path) as whole:
        _held[path] = whole.buf
    return True


def let_go(path: Path) -> None:
    """Of what may be held."""
    _held.pop(path, None)


def open_file(path: Path) -> OpenFile:
    """A regular file wherever it lies, for the caller to close. Raises ``NotReadable``."""
    if not isinstance(path, FarPath):
        return LocalFile(open_regular(path))
    if path in _held:
        return _HeldFile(_held[path])
    try:
        return path.opened()
    except OSError as err:
        raise _refused(path, err) from err


def listed(folder: Path) -> AbstractContextManager[Iterator[os.DirEntry[str] | FarEntry]]:
    """What is in a folder wherever it lies, in the system's order. Raises ``OSError``, also on the way."""
    return nullcontext(folder.entries()) if isinstance(folder, FarPath) else os.scandir(folder)


def read_start(path: Path, limit: int) -> bytes:
    """At most ``limit`` bytes from the start of the file."""
    file = open_file(path)
    try:
        found = bytearray(min(limit, file.size()))
        count, problem = fill(file, memoryview(found), 0)
    finally:
        file.close()
    if problem is not None and not count:
        raise NotReadable(f"{path}: {problem}", problem)
    return bytes(found[:count])


def packed_form(path: Path) -> str | None:
    """What packs a file, by its first bytes; None: nothing that is known. Raises ``NotReadable``."""
    return form_of(read_start(path, SECTOR))


class MappedFile:
    """All bytes of one file while the context is open. Raises ``NotReadable`` where not all of them can be read."""

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
        found = bytearray(part.stop - part.start)
        _, problem = fill(self._file, memoryview(found), part.start)
        if problem is not None:
            raise NotReadable(f"{self.path}: {problem}", problem)
        return found


class FileWindow:
    """A file that is looked at from start to end while the context is open, as far as it can be read.

    ``buf`` are all bytes of a file of usual size. A larger one is read where ``reach`` is told to, so that memory does
    not grow with it; it is not mapped, because a mapped file that is cut or fails ends the process. ``readable``:
    offset up to which it can be read, ``problem``: why no further, both known at once for a file of usual size.
    ``upto``: what was appended behind so many bytes is not looked at.
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
        """Whether only what ``reach`` was told of is in ``buf``."""
        return self._memory is not None

    def reach(self, start: int, end: int) -> bool:
        """Read ``start`` to ``end``, if that can be done; what lies elsewhere in ``buf`` is undefined afterwards."""
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
    """The whole file, a part at a time. Raises ``NotReadable``, also where it is cut meanwhile."""
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
    """Bytes of an open file, ``upto`` at most."""
    size = file.size()
    return size if upto is None else min(size, upto)


def fill(file: OpenFile, view: memoryview, at: int) -> tuple[int, str | None]:
    """Read into ``view`` what stands in the file from ``at`` on, down to the last sector that can be read.

    How many bytes these are, and why they are too few, or None.
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
