"""All writing of compaction and restore: few operations, so that a test can cut the power between any two of them.

A file comes into being whole and synced under a name of its own, then takes the place of another one by a rename, then
its folder is synced. A failed sync is never tried again: the file is given up.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
BLOCK: Final = 1 << 24


class DiskSteps(Protocol):
    """What changes the disk. Paths are absolute; errors are ``OSError``."""

    def create(self, path: Path, parts: Iterable[bytes | memoryview], like: Path | None = None) -> None:
        """A new file with these contents, synced; owner, group and mode of ``like``. Gone again if that fails."""

    def append(self, path: Path, line: bytes) -> None:
        """Behind what the file holds, synced."""

    def link(self, path: Path, name: Path) -> None:
        """A second name; a synced copy where the file system has no links, or it is another one."""

    def replace(self, new: Path, old: Path) -> None: ...

    def remove(self, path: Path) -> None: ...

    def make_folder(self, path: Path) -> None:
        """With what is missing above it; each new name synced."""

    def remove_folder(self, path: Path) -> None: ...

    def sync_folder(self, path: Path) -> None: ...


class RealDisk:
    """The machine's own file system."""

    def create(self, path: Path, parts: Iterable[bytes | memoryview], like: Path | None = None) -> None:
        handle = os.open(path, _NEW, 0o600)
        try:
            try:
                for block in blocks(parts):
                    write_all(handle, block)
                take_after(handle, like)
                os.fsync(handle)
            finally:
                os.close(handle)
        except BaseException:
            with suppress(OSError):
                path.unlink()
            raise

    def append(self, path: Path, line: bytes) -> None:
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            write_all(handle, line)
            os.fsync(handle)
        finally:
            os.close(handle)

    def link(self, path: Path, name: Path) -> None:
        try:
            os.link(path, name, follow_symlinks=False)
        except FileExistsError:
            raise
        except OSError:
            fresh = name.with_name(name.name + ".copying")
            with suppress(FileNotFoundError):
                fresh.unlink()
            with path.open("rb") as source:
                self.create(fresh, iter(lambda: source.read(BLOCK), b""), like=path)
            fresh.replace(name)

    def replace(self, new: Path, old: Path) -> None:
        new.replace(old)

    def remove(self, path: Path) -> None:
        path.unlink()

    def make_folder(self, path: Path) -> None:
        if not path.is_dir():
            self.make_folder(path.parent)
            path.mkdir(mode=0o700)
            self.sync_folder(path.parent)

    def remove_folder(self, path: Path) -> None:
        path.rmdir()

    def sync_folder(self, path: Path) -> None:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def blocks(parts: Iterable[bytes | memoryview]) -> Iterable[bytes | memoryview]:
    """The parts joined to blocks: one write each, and most pages are one block (writing in small ones costs twice)."""
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
    view = memoryview(block)
    while view:
        view = view[os.write(handle, view) :]


def take_after(handle: int, like: Path | None) -> None:
    """Owner and group only where they differ: only root may give files away."""
    if like is None:
        return
    status, own = like.lstat(), os.fstat(handle)
    if (status.st_uid, status.st_gid) != (own.st_uid, own.st_gid):
        os.fchown(handle, status.st_uid, status.st_gid)
    os.fchmod(handle, status.st_mode & 0o7777)
