"""Writing files that are old or new after a crash, and folders that appear whole or not at all.

A file is written beside its target under ``NEW_SUFFIX``, synced and renamed over it, then the folder is synced. A new
folder is filled under ``PARTIAL_SUFFIX``, synced and renamed. Both names are fixed, so that the next run recognises
and replaces what a killed run left; a lock keeps two runs from using one of them at the same time. A failed sync is
never repeated: the file is given up.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from pagefmt.errors import PageFmtError

NEW_SUFFIX: Final = ".pagectl-new"
"""Ends the name of a file that is being written; brokers look at ``.page`` and ``.msg`` only."""
PARTIAL_SUFFIX: Final = ".pagectl-partial"
"""Ends the name of a folder that is being filled."""
BLOCK: Final = 1 << 24
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_BESIDE: Final = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class TargetRefused(PageFmtError):
    """A new folder that cannot be made there: the name is taken, or lies inside what is being read."""


class Disk:
    """The steps that change a file system; tests cut the power between any two. Errors are ``OSError``."""

    def create(self, path: Path, parts: Iterable[bytes | memoryview], like: Path | None = None) -> None:
        """A new file with this content, synced, with owner, group and mode of ``like``. Removed if that fails."""
        handle = os.open(path, _CREATE, 0o600)
        try:
            try:
                for block in blocks(parts):
                    write_all(handle, block)
                if like is not None:
                    copy_owner_and_mode(handle, like)
                os.fsync(handle)
            finally:
                os.close(handle)
        except BaseException:
            with suppress(OSError):
                path.unlink()
            raise

    def write(
        self, path: Path, parts: Iterable[bytes | memoryview], like: Path | None = None,
        before_rename: Callable[[], object] = lambda: None,
    ) -> None:  # fmt: skip
        """Write a file, or replace it. ``before_rename`` is called when the new content is synced beside the old."""
        fresh = path.with_name(path.name + NEW_SUFFIX)
        if fresh.exists():
            self.remove(fresh)
        self.create(fresh, parts, like)
        try:
            before_rename()
            self.replace(fresh, path)
        except BaseException:
            with suppress(OSError):
                self.remove(fresh)
            raise
        self.sync_folder(path.parent)

    def append(self, path: Path, line: bytes) -> None:
        """Append to a file, which is made if it is not there; synced."""
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            write_all(handle, line)
            os.fsync(handle)
        finally:
            os.close(handle)

    def link(self, path: Path, name: Path) -> None:
        """A second name; a synced copy where the file system has no links, or ``name`` lies on another one."""
        try:
            os.link(path, name, follow_symlinks=False)
        except FileExistsError:
            raise
        except OSError:
            fresh = name.with_name(name.name + NEW_SUFFIX)
            with suppress(FileNotFoundError):
                fresh.unlink()
            with path.open("rb") as source:
                self.create(fresh, iter(lambda: source.read(BLOCK), b""), like=path)
            fresh.replace(name)

    def replace(self, new: Path, old: Path) -> None:
        """Rename a file over another, or a folder to a name that is free or an empty folder."""
        new.replace(old)

    def remove(self, path: Path) -> None:
        """Remove a file."""
        path.unlink()

    def make_folder(self, path: Path) -> None:
        """Make a folder and those above it that are missing; each new name is synced."""
        if not path.is_dir():
            self.make_folder(path.parent)
            path.mkdir(mode=0o700)
            self.sync_folder(path.parent)

    def remove_folder(self, path: Path) -> None:
        """Remove an empty folder."""
        path.rmdir()

    def sync_folder(self, path: Path) -> None:
        """Make the names in a folder durable."""
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


DISK: Final = Disk()


@contextmanager
def atomic_file(target: Path, new_mode: int | None = None) -> Iterator[Path]:
    """A path to write to, which replaces ``target`` when the block ends without an error, and is removed otherwise.

    A link is followed, the mode of an existing file is kept; ``new_mode`` is that of a new one (default: by the umask).
    Pipes and devices are written directly. Waits for another process that writes the same file. Raises ``OSError``.
    """
    if target.exists() and not target.is_file():
        yield target
        return
    target = Path(os.path.realpath(target))
    fresh = target.with_name(target.name + NEW_SUFFIX)
    try:
        handle = _open_locked(fresh)
        try:
            os.ftruncate(handle, 0)
            yield fresh
            mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else new_mode
            if mode is not None:
                os.fchmod(handle, mode)
            os.fsync(handle)
            fresh.replace(target)
            DISK.sync_folder(target.parent)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
        finally:
            os.close(handle)
    except OSError as err:
        if err.filename == str(fresh):
            err.filename = str(target)
        raise


def write_text(path: Path, text: str, new_mode: int | None = None) -> None:
    """Replace a small text file; as ``atomic_file``."""
    with atomic_file(path, new_mode) as fresh:
        fresh.write_text(text, "utf-8")


def _open_locked(fresh: Path) -> int:
    """The file beside the target, made or left over, once no other process holds it."""
    while True:
        handle = os.open(fresh, _BESIDE, 0o666)
        with suppress(OSError):  # some network file systems have no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), fresh.lstat()):
                return handle
        os.close(handle)  # the other process has renamed it meanwhile


def check_new_folder(target: Path, sources: Iterable[Path] = ()) -> None:
    """Raises ``TargetRefused`` where ``target`` exists (an empty folder may), or lies inside one of ``sources``."""
    if os.path.lexists(target) and not (target.is_dir() and not any(target.iterdir())):
        raise TargetRefused(f"{target}: exists already and is not an empty folder; name one that does not exist")
    for source in sources:
        if target.absolute().is_relative_to(source.resolve()):
            raise TargetRefused(f"{target}: lies inside {source}; name a folder elsewhere")


@contextmanager
def whole_folder(target: Path, sources: Iterable[Path] = (), disk: Disk = DISK) -> Iterator[Path]:
    """A folder to fill, which becomes ``target`` when the block ends without an error, and is removed otherwise.

    Its files have to be made with ``disk.create``; its folders are synced here. Raises ``TargetRefused`` before
    anything is written, ``OSError`` also when another process is filling it.
    """
    check_new_folder(target, sources)
    target = target.absolute()
    partial = target.with_name(target.name + PARTIAL_SUFFIX)
    if partial.exists():
        with _locked_folder(partial):
            shutil.rmtree(partial)
    disk.make_folder(target.parent)
    try:
        disk.make_folder(partial)
    except BaseException:
        with suppress(OSError):
            partial.rmdir()
        raise
    with _locked_folder(partial):
        try:
            yield partial
            for folder, _, _ in os.walk(partial, topdown=False):
                disk.sync_folder(Path(folder))
            disk.replace(partial, target)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
    disk.sync_folder(target.parent)


@contextmanager
def _locked_folder(folder: Path) -> Iterator[None]:
    handle = os.open(folder, _FOLDER)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as err:
        raise OSError(errno.EBUSY, "another process is writing it", str(folder)) from err
    finally:
        os.close(handle)


def blocks(parts: Iterable[bytes | memoryview]) -> Iterable[bytes | memoryview]:
    """The parts joined into blocks of up to ``BLOCK`` bytes: a write call for each small part takes twice the time."""
    waiting: list[bytes | memoryview] = []
    size = 0
    for part in parts:
        if waiting and size + len(part) > BLOCK:
            yield b"".join(waiting)
            waiting, size = [], 0
        if len(part) >= BLOCK:
            yield part
            continue
        waiting.append(part)
        size += len(part)
    if waiting:
        yield b"".join(waiting)


def write_all(handle: int, block: bytes | memoryview) -> None:
    """Write every byte, in as many calls as it takes."""
    view = memoryview(block)
    while view:
        view = view[os.write(handle, view) :]


def copy_owner_and_mode(handle: int, like: Path) -> None:
    """Owner and group are changed only where they differ: only root may give files away."""
    status, own = like.lstat(), os.fstat(handle)
    if (status.st_uid, status.st_gid) != (own.st_uid, own.st_gid):
        os.fchown(handle, status.st_uid, status.st_gid)
    os.fchmod(handle, status.st_mode & 0o7777)
