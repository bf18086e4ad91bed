"""Paths of files that are not local: below a URL, or inside a backup archive.

They join and compare as other paths, and read through a ``FileTree``. Anything that would pass one to the system is
refused, so that no local folder is ever mistaken for a URL, or created from one. Only the path of a URL is ever shown.
"""

from __future__ import annotations

import errno
import fnmatch
import os
import re
import stat
import weakref
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path, PosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

from pagefmt.errors import PageFmtError
from pagefmt.storage.file_trees import ARCHIVES, COMPRESSED, FarEntry, FileTree, LocalFile, OpenFile

if TYPE_CHECKING:
    from types import TracebackType

    from pagefmt.storage.archives import Archive, Unpacked
    from pagefmt.storage.stores.base import RemoteStore

_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+([^/]+?)(?:(/.*?)?)(?:\?([A-Za-z_][\w.-]*=.*))?")
_NAMELESS: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)://(?:[/?].*)?", re.DOTALL)
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


# What to do instead of giving a URL of a scheme that no class of ``pagefmt.storage.stores`` has.
_INSTEAD: Final = {
    **dict.fromkeys(("sftp", "ssh", "scp"), "mount it with sshfs, or copy the directory with rsync or scp"),
    **dict.fromkeys(("webhdfs", "swebhdfs"), "give hdfs://HOST:PORT/…, or copy the directory with `hdfs dfs -get`"),
    **dict.fromkeys(("smb", "cifs", "nfs"), "mount it, and give the path of the mounted folder"),
    **dict.fromkeys(("http", "https", "ftp", "ftps"), "download it (an archive is read as it is)"),
}


class NotLocal(PageFmtError):
    """Raised for a remote path if only a local one is possible."""


class FarPath(PosixPath):
    """A path in an object store, in HDFS or in an archive.

    ``str`` shows it, ``uri`` identifies it. The parts of a URL are its scheme, its authority with settings, and names.
    """

    def _tree_and_name(self) -> tuple[FileTree, str]:
        return tree_of(self.parts)

    def __str__(self) -> str:
        parts = self.parts
        if not _SCHEME.fullmatch(parts[0]):
            return "/".join(parts).replace("//", "/", 1) if parts[0] == "/" else "/".join(parts)
        return f"{parts[0]}//" + "/".join((parts[1].partition("?")[0], *parts[2:]))

    @property
    def uri(self) -> str:
        """Return the text from which ``any_path`` makes an equal path."""
        query = self.parts[1].partition("?")[2] if _SCHEME.fullmatch(self.parts[0]) else ""
        return f"{self}?{query}" if query else str(self)

    def __fspath__(self) -> str:
        raise NotLocal(f"{self}: this works on local directories, not on URLs and archives")

    def __repr__(self) -> str:
        return f"FarPath({str(self)!r})"

    @property
    def parent(self) -> FarPath:
        """Return the folder above, never outside the archive or what the URL's authority names."""
        parts = self.parts
        at = _archive_at(parts)
        return self if len(parts) <= (2 if at is None else at + 1) else type(self)(*parts[:-1])

    @property
    def local_archive(self) -> Path | None:
        """Return the local archive that contains it, or None."""
        at = _archive_at(self.parts)
        return None if at is None or _SCHEME.fullmatch(self.parts[0]) else Path(*self.parts[: at + 1])

    @property
    def in_archive(self) -> bool:
        """Return whether it is an archive, or in one."""
        return _archive_at(self.parts) is not None

    @property
    def compressed(self) -> bool:
        """Return whether it is in an archive that can only be read from start to end."""
        at = _archive_at(self.parts)
        return at is not None and self.parts[at].lower().endswith(tuple(COMPRESSED))

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Return the status. Raise ``OSError``."""
        tree, inner = self._tree_and_name()
        return tree.status(inner)

    def lstat(self) -> os.stat_result:
        """Return the status. Raise ``OSError``."""
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
        """Return whether it exists. Raise ``OSError`` if unknown."""
        return self._mode() != 0

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Return whether it is a folder. Raise ``OSError`` if unknown."""
        return stat.S_ISDIR(self._mode())

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Return whether it is a regular file. Raise ``OSError`` if unknown."""
        return stat.S_ISREG(self._mode())

    def is_symlink(self) -> bool:
        """Return whether it is a symbolic link. Raise ``OSError`` if unknown."""
        return stat.S_ISLNK(self._mode())

    def entries(self) -> Iterator[FarEntry]:
        """Yield the entries of a folder. Raise ``OSError``."""
        tree, inner = self._tree_and_name()
        return tree.entries(inner)

    def iterdir(self) -> Iterator[FarPath]:  # type: ignore[override]
        """Yield the paths in a folder. Raise ``OSError``."""
        return (self / name for name in dict.fromkeys(entry.name for entry in self.entries()))

    def opened(self) -> OpenFile:
        """Open a regular file. Raise ``OSError``."""
        tree, inner = self._tree_and_name()
        return tree.opened(inner)

    def absolute(self) -> FarPath:
        """Return the absolute path; a URL is one already."""
        parts = self.parts
        return self if parts[0] == "/" or _SCHEME.fullmatch(parts[0]) else FarPath(Path.cwd(), *parts)

    def resolve(self, strict: bool = False) -> FarPath:
        """Return the absolute path. There are no links to follow."""
        return self.absolute()

    def matching(self) -> list[FarPath]:
        """Return the paths that match it as a pattern, name by name, in order. Raise ``OSError``."""
        parts = self.parts
        first = next((at for at, part in enumerate(parts) if _PATTERN.search(part) and at > 1), None)
        if first is None or self.exists():
            return [self]
        folder = FarPath(*parts[:first])
        names = sorted({entry.name for entry in folder.entries() if fnmatch.fnmatchcase(entry.name, parts[first])})
        below = parts[first + 1 :]
        matches = [entry for name in names for entry in FarPath(folder, name, *below).matching()]
        return (
            [entry for entry in matches if entry.exists()]
            if not below or not _PATTERN.search("".join(below))
            else matches
        )


def uri_of(path: object) -> str:
    """Return the text from which ``any_path`` makes an equal path."""
    return path.uri if isinstance(path, FarPath) else str(path)


def any_path(named: str | Path) -> Path:
    """Return a path as an operator names it. Raise ``UnusableUrl``.

    A URL and the inside of an archive become a ``FarPath``. ``named`` may be a ``Path``, which has lost a slash of its
    URL.
    """
    if isinstance(named, FarPath):
        return named
    text = str(named)
    if text.startswith("file:"):
        return any_path("/" + text.removeprefix("file:").lstrip("/"))
    url = _NAMELESS.fullmatch(text) or _URL.fullmatch(text)
    if url is not None:
        from pagefmt.storage.stores import STORES
        from pagefmt.storage.stores.base import UnusableUrl

        scheme, authority, inner, query = (part or "" for part in (*url.groups(), "", "", "")[:4])
        scheme = scheme.lower()
        if scheme in STORES:
            STORES[scheme].check_url(scheme, authority, query)
            names = [name for name in inner.split("/") if name]
            return FarPath(f"{scheme}:", f"{authority}?{query}" if query else authority, *names)
        if len(scheme) > 1 and not os.path.lexists(text.partition("/")[0]):
            instead = _INSTEAD.get(scheme, "copy the directory to this machine, or mount it")
            raise UnusableUrl(f"{scheme}://…: such URLs are not supported; s3, gs, abfs and hdfs are; {instead}")
    path = Path(text)
    return FarPath(path) if _archive_at(path.parts) is not None else path


def tree_of(parts: tuple[str, ...]) -> tuple[FileTree, str]:
    """Return the tree that contains a path, and its name in the tree. Raise ``OSError``, ``UnusableUrl``."""
    at = _archive_at(parts)
    if at is not None:
        return _archive(_archive_now(parts[: at + 1])), "/".join(parts[at + 1 :])
    if not _SCHEME.fullmatch(parts[0]):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
    return store_at(parts[:2]), "/".join(parts[2:])


def _archive_now(base: tuple[str, ...]) -> ArchiveFile:
    """Return the archive with its absolute path and current size and time."""
    path = _beneath(base).absolute()
    status = path.stat()
    return ArchiveFile(path.parts, status.st_size, status.st_mtime)


def _archive_at(parts: tuple[str, ...]) -> int | None:
    """Return the index of the part of a path that is an archive, or None."""
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
    """A file of an object store as it is, even if it is an archive."""

    def _tree_and_name(self) -> tuple[FileTree, str]:
        return store_at(self.parts[:2]), "/".join(self.parts[2:])


@lru_cache(64)
def store_at(base: tuple[str, ...]) -> RemoteStore:
    """Return the store of a URL's scheme and authority. Raises ``UnusableUrl`` and ``OSError``."""
    from pagefmt.storage.stores import STORES

    scheme, (authority, _, query) = base[0][:-1], base[1].partition("?")
    return STORES[scheme].at(scheme, authority, query)


# Archives that something in this process has open, so that none is read or unpacked twice meanwhile. State of the
# process, because a path is a name alone; it keeps no archive by itself.
_open_archives: Final[weakref.WeakValueDictionary[ArchiveFile, Archive]] = weakref.WeakValueDictionary()


def _archive(now: ArchiveFile) -> Archive:
    return _open_archives.get(now) or _opened_archive(now)


@lru_cache(2)
def _opened_archive(now: ArchiveFile) -> Archive:
    from pagefmt.storage.archives import archive_of

    path = _beneath(now.base)
    if isinstance(path, FarPath):
        archive = archive_of(path.name, path.opened(), now.written)
    else:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            os.close(fd)
            raise OSError(errno.EINVAL, "not a regular file")
        try:
            archive = archive_of(path.name, LocalFile(fd), now.written)
        except BaseException:
            os.close(fd)
            raise
        weakref.finalize(archive, os.close, fd)
    _open_archives[now] = archive
    return archive


def archive_now(path: Path) -> ArchiveFile | None:
    """Return the archive that holds a path, or None. Raises ``OSError``."""
    at = _archive_at(path.parts) if isinstance(path, FarPath) else None
    return None if at is None else _archive_now(path.parts[: at + 1])


def share_archive(path: Path) -> SharedArchive | None:
    """Return the compressed archive that holds a path, for other processes of this machine while it is open here.

    Return None if there is no such archive. Raises ``OSError``.
    """
    now = archive_now(path) if isinstance(path, FarPath) and path.compressed else None
    if now is None:
        return None
    unpacked = _archive(now).unpacked()
    return None if unpacked is None else SharedArchive(now, unpacked)


def take_archive(shared: SharedArchive) -> Archive | None:
    """Return an archive that another process has unpacked; while the caller has it, its paths are read there.

    Return None if it is gone, or on another machine.
    """
    from pagefmt.storage.archives import unpacked_archive

    now = shared.archive
    archive = _open_archives.get(now) or unpacked_archive(shared.unpacked, now.written)
    if archive is not None:
        _open_archives[now] = archive
    return archive


class UnpackedArchives:
    """Compressed archives that stay unpacked while the context is open, so that each is unpacked once."""

    def __init__(self) -> None:
        self._archives: list[Archive] = []

    def __enter__(self) -> UnpackedArchives:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._archives.clear()
        _opened_archive.cache_clear()

    def share(self, path: Path) -> SharedArchive | None:
        """Keep and return the compressed archive that holds a path, as ``share_archive``.

        Return None if the temporary files would take more bytes than stay free.
        """
        import shutil
        import tempfile

        shared = share_archive(path)
        if shared is None:
            return None
        archive = _archive(shared.archive)
        size = sum(kept.unpacked_bytes for kept in (*self._archives, archive))
        if size > shutil.disk_usage(tempfile.gettempdir()).free:
            return None
        self._archives.append(archive)
        return shared
