"""Paths of files that are no local ones: below a URL, or inside of a backup archive, wherever that lies.

They join and compare as other paths, and ask a ``FileTree``. Whatever would hand one to the system is refused, so that
no local folder is ever taken for a URL, or made of one. No URL is shown with what stands in it beside the path.
"""

from __future__ import annotations

import errno
import fnmatch
import os
import re
import shutil
import stat
import tempfile
import weakref
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path, PosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

from pagefmt.bytes.object_stores import SETTINGS, ObjectStore, UnusableUrl, check_settings, fsspec_schemes
from pagefmt.bytes.trees import ARCHIVES, COMPRESSED, FarEntry, FileTree, LocalFile, OpenFile
from pagefmt.errors import PageFmtError

if TYPE_CHECKING:
    from pagefmt.bytes.archives import Archive, Unpacked

_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+([^/]+?)(?:(/.*?)?)(?:\?([A-Za-z_][\w.-]*=.*))?")
_NAMELESS: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://(?:[/?].*)?", re.DOTALL)
_SCHEMES: Final = frozenset((*SETTINGS, "s3a", "s3n", "gcs"))
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]+:")
_PATTERN: Final = re.compile(r"[*?[]")


class ArchiveFile(NamedTuple):
    """An archive as it is now: one that was written anew is another."""

    base: tuple[str, ...]
    size: int
    written: float


class SharedArchive(NamedTuple):
    """A compressed archive, and where a process has unpacked it."""

    archive: ArchiveFile
    unpacked: Unpacked


_kept: Final[list[Archive]] = []
_shared: Final[dict[ArchiveFile, Unpacked]] = {}
_MOST_SHARED: Final = 1000


class NotLocal(PageFmtError):
    """A path that is no local one, where only a local one will do."""


class FarPath(PosixPath):
    """``str`` shows it, ``uri`` names it. The parts of a URL are its scheme, its authority with settings, names."""

    def _tree_and_name(self) -> tuple[FileTree, str]:
        return tree_of(self.parts)

    def __str__(self) -> str:
        parts = self.parts
        if not _SCHEME.fullmatch(parts[0]):
            return "/".join(parts).replace("//", "/", 1) if parts[0] == "/" else "/".join(parts)
        return f"{parts[0]}//" + "/".join((parts[1].partition("?")[0], *parts[2:]))

    @property
    def uri(self) -> str:
        """What ``any_path`` makes the same of."""
        query = self.parts[1].partition("?")[2] if _SCHEME.fullmatch(self.parts[0]) else ""
        return f"{self}?{query}" if query else str(self)

    def __fspath__(self) -> str:
        raise NotLocal(f"{self}: this works on local directories, not on URLs and archives")

    def __repr__(self) -> str:
        return f"FarPath({str(self)!r})"

    @property
    def parent(self) -> FarPath:
        """Never outside of the archive, or of what a URL's authority names."""
        parts = self.parts
        at = _archive_at(parts)
        return self if len(parts) <= (2 if at is None else at + 1) else type(self)(*parts[:-1])

    @property
    def local_archive(self) -> Path | None:
        """The local archive that it is inside of."""
        at = _archive_at(self.parts)
        return None if at is None or _SCHEME.fullmatch(self.parts[0]) else Path(*self.parts[: at + 1])

    @property
    def in_archive(self) -> bool:
        """Whether it is an archive, or in one."""
        return _archive_at(self.parts) is not None

    @property
    def compressed(self) -> bool:
        """Whether it is in an archive that can be read from start to end only."""
        at = _archive_at(self.parts)
        return at is not None and self.parts[at].lower().endswith(tuple(COMPRESSED))

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Raises ``OSError``."""
        tree, inner = self._tree_and_name()
        return tree.status(inner)

    def lstat(self) -> os.stat_result:
        """Raises ``OSError``."""
        return self.stat()

    def _mode(self) -> int:
        try:
            return self.stat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return 0
        except OSError as err:
            err.filename = err.filename or str(self)
            raise

    def exists(self, *, follow_symlinks: bool = True) -> bool:
        """Raises ``OSError`` where nobody knows."""
        return self._mode() != 0

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Raises ``OSError`` where nobody knows."""
        return stat.S_ISDIR(self._mode())

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Raises ``OSError`` where nobody knows."""
        return stat.S_ISREG(self._mode())

    def is_symlink(self) -> bool:
        """Raises ``OSError`` where nobody knows."""
        return stat.S_ISLNK(self._mode())

    def entries(self) -> Iterator[FarEntry]:
        """Of a folder. Raises ``OSError``."""
        tree, inner = self._tree_and_name()
        return tree.entries(inner)

    def iterdir(self) -> Iterator[FarPath]:  # type: ignore[override]
        """Of a folder. Raises ``OSError``."""
        return (self / name for name in dict.fromkeys(each.name for each in self.entries()))

    def opened(self) -> OpenFile:
        """A regular file. Raises ``OSError``."""
        tree, inner = self._tree_and_name()
        return tree.opened(inner)

    def absolute(self) -> FarPath:
        """A URL is."""
        parts = self.parts
        return self if parts[0] == "/" or _SCHEME.fullmatch(parts[0]) else FarPath(Path.cwd(), *parts)

    def resolve(self, strict: bool = False) -> FarPath:
        """There are no links."""
        return self.absolute()

    def matching(self) -> list[FarPath]:
        """What fits it as a pattern, name by name, in order. Raises ``OSError``."""
        parts = self.parts
        first = next((at for at, part in enumerate(parts) if _PATTERN.search(part) and at > 1), None)
        if first is None or self.exists():
            return [self]
        folder = FarPath(*parts[:first])
        names = sorted({each.name for each in folder.entries() if fnmatch.fnmatchcase(each.name, parts[first])})
        rest = parts[first + 1 :]
        found = [each for name in names for each in FarPath(folder, name, *rest).matching()]
        return [each for each in found if each.exists()] if not rest or not _PATTERN.search("".join(rest)) else found


def uri_of(path: object) -> str:
    """What ``any_path`` makes the same of."""
    return path.uri if isinstance(path, FarPath) else str(path)


def any_path(given: str | Path) -> Path:
    """A path as an operator names it: a URL and what is inside of an archive as ``FarPath``.

    A path has lost a slash of its URL. Raises ``UnusableUrl``.
    """
    if isinstance(given, FarPath):
        return given
    text = str(given)
    if text.startswith("file:"):
        return any_path("/" + text.removeprefix("file:").lstrip("/"))
    if (nameless := _NAMELESS.fullmatch(text)) is not None and _is_read(nameless[1].lower(), text):
        check_settings(nameless[1].lower(), "", "")
    url = _URL.fullmatch(text)
    scheme = url[1].lower() if url is not None else ""
    if url is not None and _is_read(scheme, text):
        authority, path, query = (part or "" for part in url.groups()[1:])
        check_settings(scheme, authority, query)
        names = [name for name in path.split("/") if name]
        return FarPath(f"{scheme}:", f"{authority}?{query}" if query else authority, *names)
    path = Path(text)
    if url is not None and len(scheme) > 1 and not os.path.lexists(path.parts[0]):
        raise UnusableUrl(
            f"{scheme}://…: such URLs are not supported; s3, gs, abfs and hdfs are, and with fsspec also its "
            "protocols (pip install fsspec)"
        )
    return FarPath(path) if _archive_at(path.parts) is not None else path


def _is_read(scheme: str, text: str) -> bool:
    return scheme in _SCHEMES or (scheme in fsspec_schemes() and not Path(text).exists())


def tree_of(parts: tuple[str, ...]) -> tuple[FileTree, str]:
    """What tells of a path, and its name there. Raises ``OSError``, ``UnusableUrl``."""
    at = _archive_at(parts)
    if at is not None:
        return _archive(_archive_now(parts[: at + 1])), "/".join(parts[at + 1 :])
    if not _SCHEME.fullmatch(parts[0]):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    return store_at(parts[:2]), "/".join(parts[2:])


def _archive_now(base: tuple[str, ...]) -> ArchiveFile:
    """With its path in full."""
    path = _beneath(base).absolute()
    status = path.stat()
    return ArchiveFile(path.parts, status.st_size, status.st_mtime)


def _archive_at(parts: tuple[str, ...]) -> int | None:
    """Which part of a path is an archive."""
    named = (at for at, part in enumerate(parts) if part.lower().endswith(ARCHIVES))
    return next((at for at in named if _is_file(parts[: at + 1])), None)


def _is_file(parts: tuple[str, ...]) -> bool:
    return _is_object(parts) if _SCHEME.fullmatch(parts[0]) else os.path.isfile(Path(*parts))  # noqa: PTH113 (no error)


@lru_cache(4096)
def _is_object(parts: tuple[str, ...]) -> bool:
    return len(parts) > 2 and _Bare(*parts).is_file()


def _beneath(parts: tuple[str, ...]) -> Path:
    return _Bare(*parts) if _SCHEME.fullmatch(parts[0]) else Path(*parts)


class _Bare(FarPath):
    """A file of an object store, whatever it holds."""

    def _tree_and_name(self) -> tuple[FileTree, str]:
        return store_at(self.parts[:2]), "/".join(self.parts[2:])


@lru_cache(64)
def store_at(base: tuple[str, ...]) -> ObjectStore:
    """The store of a URL's scheme and authority. Raises ``UnusableUrl``."""
    authority, _, query = base[1].partition("?")
    return ObjectStore.at(base[0][:-1], authority, query)


@lru_cache(2)
def _archive(now: ArchiveFile) -> Archive:
    from pagefmt.bytes.archives import archive_of, unpacked_archive

    given = _shared.get(now)
    if given is not None and (there := unpacked_archive(given, now.written)) is not None:
        return there
    path = _beneath(now.base)
    if isinstance(path, FarPath):
        return archive_of(path.name, path.opened(), now.written)
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "not a regular file")
    file = LocalFile(fd)
    try:
        found = archive_of(path.name, file, now.written)
    except BaseException:
        os.close(fd)
        raise
    weakref.finalize(found, os.close, fd)
    return found


def archive_now(path: Path) -> ArchiveFile | None:
    """The archive that holds a path. Raises ``OSError``."""
    at = _archive_at(path.parts) if isinstance(path, FarPath) else None
    return None if at is None else _archive_now(path.parts[: at + 1])


def share_archive(path: Path, *, keep: bool = False) -> SharedArchive | None:
    """A compressed archive that holds a path, for other processes of this machine, so that it is unpacked once.

    ``keep``: until ``forget_archives``; of temporary files no more than as many bytes as stay free. None beyond that,
    and where it is no such archive. Raises ``OSError``.
    """
    now = archive_now(path) if isinstance(path, FarPath) and path.compressed else None
    if now is None:
        return None
    found = _archive(now)
    unpacked = found.unpacked()
    if unpacked is None:
        return None
    if keep:
        every = sum(each.unpacked_bytes for each in (*_kept, found))
        if every > shutil.disk_usage(tempfile.gettempdir()).free:
            return None
        _kept.append(found)
        _shared[now] = unpacked
    return SharedArchive(now, unpacked)


def take_archive(given: SharedArchive) -> None:
    """From now on it is read where another process has unpacked it, as long as that is there."""
    if len(_shared) >= _MOST_SHARED:
        _shared.clear()
    _shared[given.archive] = given.unpacked


def forget_archives() -> None:
    """Give back what is kept of compressed archives."""
    _kept.clear()
    _shared.clear()
    _archive.cache_clear()
