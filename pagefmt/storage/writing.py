"""Writing files that are old or new after a crash, and folders that appear whole or not at all.

A file is written beside its target under ``NEW_SUFFIX``, synced and renamed over it, then the folder is synced. A new
folder is filled under ``PARTIAL_SUFFIX``, synced and renamed. Both names are fixed, so that the next run recognises
and removes what a killed run left; a lock keeps two runs from using one of them at the same time. A failed sync is
never repeated: the file is given up.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from pagefmt.errors import PageFmtError
from pagefmt.storage.opened_inputs import was_read

NEW_SUFFIX: Final = ".pagectl-new"  # ending of a file that is being written; brokers only read ``.page`` and ``.msg``
PARTIAL_SUFFIX: Final = ".pagectl-partial"  # ending of a folder that is being filled
BLOCK: Final = 1 << 22
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_BESIDE: Final = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ACCESS: Final = "system.posix_acl_access"
_LABEL: Final = "security.selinux"
_ATTRIBUTES: Final = ("system.", "user.", _LABEL)
_GROUP_ENTRY: Final = 4


class TargetRefused(PageFmtError):
    """Raised for an output that cannot be written: the name is taken, or inside what is being read."""


class LinkRefused(PageFmtError):
    """Raised for a symbolic link, or a file with other names, that would be written or removed."""


class Disk:
    """The steps that change a file system; tests cut the power between any two. Errors are ``OSError``.

    Each change is made ``below`` a folder that was named, which may be a link itself. It is held open, and everything
    below it is reached from there, folder by folder, through no link (``LinkRefused``): other users who may write there
    cannot redirect a change.
    """

    def __init__(self) -> None:
        self._named: dict[Path, int] = {}
        self._filling: dict[Path, Path] | None = None  # folders that get the rights of another one when they are filled

    @contextmanager
    def below(self, *folders: Path) -> Iterator[None]:
        """Allow changes below these folders until the block ends.

        For a missing folder, changes below its first existing parent are allowed.
        """
        opened: list[Path] = []
        try:
            for folder in map(_first_there, folders):
                if folder not in self._named:
                    self._named[folder] = os.open(folder, _FOLDER & ~os.O_NOFOLLOW)
                    opened.append(folder)
            yield
        finally:
            for folder in opened:
                os.close(self._named.pop(folder))

    @contextmanager
    def _at(self, path: Path) -> Iterator[tuple[int, str]]:
        """Yield the descriptor of the folder that contains a path, and its name there. Errors name the final path."""
        path = path.absolute()
        named = next(folder for folder in (path, *path.parents) if folder in self._named)
        *folders, name = path.relative_to(named).parts or (".",)
        handle, opened = self._named[named], -1
        try:
            for folder_name in folders:
                deeper = _open_folder(folder_name, handle, path)
                if opened >= 0:
                    os.close(opened)
                handle = opened = deeper
            yield handle, name
        except OSError as err:
            err.filename, err.filename2 = str(path).replace(PARTIAL_SUFFIX, "").removesuffix(NEW_SUFFIX), None
            raise
        finally:
            if opened >= 0:
                os.close(opened)

    def mode(self, path: Path) -> int:
        """Return type and permissions; 0 if there is nothing. A link is not followed."""
        with self._at(path) as (folder, name):
            try:
                return os.lstat(name, dir_fd=folder).st_mode
            except FileNotFoundError:
                return 0

    def create(self, path: Path, parts: Iterable[bytes | memoryview], like: Path | None = None) -> None:
        """Create a file with this content and the rights of ``like``, and sync it. Remove it if that fails."""
        with self._at(path) as (folder, name):
            handle = os.open(name, _CREATE, 0o600, dir_fd=folder)
            try:
                try:
                    for block in blocks(parts):
                        write_all(handle, block)
                    if like is not None:
                        copy_rights(handle, like)
                    os.fsync(handle)
                finally:
                    os.close(handle)
            except BaseException:
                with suppress(OSError):
                    os.unlink(name, dir_fd=folder)
                raise

    def write(
        self,
        path: Path,
        parts: Iterable[bytes | memoryview],
        like: Path | None = None,
        before_rename: Callable[[], object] = lambda: None,
    ) -> None:
        """Write a file, or replace it. ``before_rename`` is called when the new content is synced beside the old.

        Owner and group are those of ``like``, or nothing is written.
        """
        fresh = path.with_name(path.name + NEW_SUFFIX)
        self.remove_left_over(fresh)
        self.create(fresh, parts, like)
        try:
            if like is not None:
                self.check_owner(fresh, like)
            before_rename()
            self.replace(fresh, path)
        except BaseException:
            with suppress(OSError):
                self.remove(fresh)
            raise
        self.sync_folder(path.parent)

    def check_owner(self, path: Path, like: Path) -> None:
        """Raise ``PermissionError`` if only another user could give the file the owner and group of ``like``."""
        if owner(path) != owner(like):
            raise PermissionError(
                errno.EPERM, "only its owner or root can replace it; run this as one of them", str(like)
            )

    def append(self, path: Path, line: bytes) -> None:
        """Append to a file, creating it if it is missing, and sync it."""
        with self._at(path) as (folder, name):
            handle = os.open(name, _BESIDE | os.O_APPEND, 0o600, dir_fd=folder)
            try:
                _refuse_shared(os.fstat(handle), path)
                write_all(handle, line)
                os.fsync(handle)
            finally:
                os.close(handle)

    def link(self, path: Path, name: Path) -> None:
        """Give a file a second name. Without hard links, or across file systems, write a synced copy instead."""
        with self._at(path) as (source, old), self._at(name) as (folder, new):
            try:
                os.link(old, new, src_dir_fd=source, dst_dir_fd=folder, follow_symlinks=False)
            except FileExistsError:
                raise
            except OSError:
                self._copy(os.open(old, _READ, dir_fd=source), path, name)

    def _copy(self, source: int, path: Path, name: Path) -> None:
        fresh = name.with_name(name.name + NEW_SUFFIX)
        with os.fdopen(source, "rb") as file:
            if self.mode(fresh):
                self.remove(fresh)
            self.create(fresh, iter(lambda: file.read(BLOCK), b""), like=path)
        with self._at(name) as (folder, new):
            os.rename(fresh.name, new, src_dir_fd=folder, dst_dir_fd=folder)

    def replace(self, new: Path, old: Path) -> None:
        """Rename a file over another, or a folder to a name that is free or an empty folder."""
        with self._at(new) as (source, name), self._at(old) as (folder, wanted):
            os.rename(name, wanted, src_dir_fd=source, dst_dir_fd=folder)

    def remove(self, path: Path) -> None:
        with self._at(path) as (folder, name):
            os.unlink(name, dir_fd=folder)

    def remove_left_over(self, path: Path) -> None:
        """Remove a file that a killed run left under a temporary name. Raise ``LinkRefused`` if it is anything else."""
        mode = self.mode(path)
        if mode and not stat.S_ISREG(mode):
            raise LinkRefused(f"{path}: a link, or not a file: pagectl did not make it; see what it is and remove it")
        if mode:
            self.remove(path)

    def make_folder(self, path: Path, like: Path | None = None) -> None:
        """Make a folder and those above it that are missing; each new name is synced."""
        path = path.absolute()
        if path in self._named:
            return
        self.make_folder(path.parent)
        mode = self.mode(path)
        if stat.S_ISDIR(mode):
            return
        if mode:
            raise _not_a_folder(mode, path)
        self.mkdir(path)
        if like is not None:
            self.give_rights(path, like)
        self.sync_folder(path.parent)

    def mkdir(self, path: Path) -> None:
        """Create a folder that only this user can access."""
        with self._at(path) as (folder, name):
            os.mkdir(name, 0o700, dir_fd=folder)

    def give_rights(self, path: Path, like: Path) -> None:
        """Give a folder the rights of another, in a new folder once that is filled: a mode may forbid writing."""
        if self._filling is None:
            self._copy_rights(path, like)
        else:
            self._filling[path.absolute()] = like

    @contextmanager
    def filling(self) -> Iterator[None]:
        """Keep new folders private until the block ends; then set their rights, the deepest folders first."""
        self._filling = {}
        try:
            yield
            for path, like in sorted(self._filling.items(), key=lambda item: len(item[0].parts), reverse=True):
                self._copy_rights(path, like)
        finally:
            self._filling = None

    def _copy_rights(self, path: Path, like: Path) -> None:
        """Give a folder owner, rights and attributes of ``like``, as far as user and system permit."""
        with self._at(path) as (folder, name):
            handle = _open_folder(name, folder, path)
            try:
                copy_rights(handle, like)
            finally:
                os.close(handle)

    def remove_folder(self, path: Path) -> None:
        with self._at(path) as (folder, name):
            os.rmdir(name, dir_fd=folder)

    def sync_folder(self, path: Path) -> None:
        """Sync a folder, which makes the names in it durable."""
        with self._at(path) as (folder, name):
            handle = _open_folder(name, folder, path)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def _first_there(folder: Path) -> Path:
    folder = folder.absolute()
    return next(ancestor for ancestor in (folder, *folder.parents) if ancestor.is_dir())


def _open_folder(name: str, at: int, path: Path) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=at)
    except NotADirectoryError:
        raise _not_a_folder(os.lstat(name, dir_fd=at).st_mode, path) from None


def _not_a_folder(mode: int, path: Path) -> Exception:
    if stat.S_ISLNK(mode):
        return LinkRefused(
            f"{path}: is a symbolic link or is reached through one; nothing is written or removed through links"
        )
    return NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))


def _refuse_shared(status: os.stat_result, path: Path) -> None:
    if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1:
        raise LinkRefused(f"{path}: not a file of its own: it has {status.st_nlink} names; nothing is written to it")


def refuse_links(folder: Path) -> None:
    """Raise ``LinkRefused`` if a folder, or anything below it, is a symbolic link."""
    if folder.is_symlink():
        raise LinkRefused(f"{folder}: is a symbolic link; nothing is written or removed through links")
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.is_file(follow_symlinks=False):
                path = Path(entry.path)
                if entry.is_symlink() or entry.is_dir(follow_symlinks=False):
                    refuse_links(path)


def is_stream(target: Path) -> bool:
    """Return whether the target is a pipe or device, also by its name below ``/dev``; it is then written directly."""
    if target.is_symlink() and os.readlink(target).startswith("/proc/self/fd/"):  # noqa: PTH115 (text is wanted)
        return True
    return target.exists() and not target.is_file()


def refuse_linked_file(target: Path) -> None:
    """Raise ``TargetRefused`` if a file to write is a link; the name of a pipe or device below ``/dev`` may be one."""
    if target.is_symlink() and not is_stream(target):
        raise TargetRefused(f"{target}: is a symbolic link; name the file itself")


@contextmanager
def atomic_file(
    target: Path,
    new_mode: int | None = None,
    *,
    at_most: int = 0o666,
    updated: bool = False,
    before_rename: Callable[[], object] = lambda: None,
) -> Iterator[Path]:
    """Yield a path to write to. It replaces ``target`` when the block ends without an error, else it is removed.

    An existing file keeps its rights. ``new_mode`` is the mode of a new one (default: ``at_most``, with the umask). A
    link is refused, and so is a file that the same call reads, unless it is ``updated``: read in order to be written
    again. Pipes and devices are written directly. Waits while another process writes the same file. ``before_rename``
    is called after the new content is synced. Raises ``TargetRefused`` and ``OSError``.
    """
    fresh = target.with_name(target.name + NEW_SUFFIX)
    disk = Disk()
    try:
        if is_stream(target):
            yield target
            return
        refuse_linked_file(target)
        if not updated:
            refuse_input(target)
        handle = _open_locked(fresh, target, at_most)
        try:
            yield fresh
            if target.exists():
                copy_rights(handle, target)
            elif new_mode is not None:
                os.fchmod(handle, new_mode)
            os.fsync(handle)
            if not updated:
                refuse_input(target)
            with disk.below(target.parent):
                before_rename()
                disk.replace(fresh, target)
                disk.sync_folder(target.parent)
        except BaseException:
            fresh.unlink(missing_ok=True)
            raise
        finally:
            os.close(handle)
    except OSError as err:
        if err.filename in (None, str(fresh)):
            err.filename = str(target)
        raise


def refuse_input(target: Path) -> None:
    """Raise ``TargetRefused`` if a file to write is one that this call reads."""
    if was_read(target):
        raise TargetRefused(f"{target}: is an input of this command; name another file to write")


def write_text(path: Path, text: str, new_mode: int | None = None, *, updated: bool = False) -> None:
    """Replace a small text file; as ``atomic_file``."""
    write_bytes(path, text.encode(), new_mode, updated=updated)


def write_bytes(
    path: Path,
    content: bytes,
    new_mode: int | None = None,
    *,
    updated: bool = False,
    at_most: int = 0o666,
    before_rename: Callable[[], object] = lambda: None,
) -> None:
    """Replace a small file; as ``atomic_file``."""
    with atomic_file(path, new_mode, updated=updated, at_most=at_most, before_rename=before_rename) as fresh:
        fresh.write_bytes(content)


def _open_locked(fresh: Path, target: Path, mode: int) -> int:
    """Create and lock the new file beside the target, waiting for another process that writes it.

    Remove a left-over one.
    """
    users = {os.geteuid()}
    if target.exists():
        mode = target.stat().st_mode & 0o666
        users.add(target.stat().st_uid)  # killed after it was given away
    # Another process may rename or remove its new file between our open and our lock. The lock therefore counts only
    # if the name still leads to the locked inode; otherwise the loop starts again.
    while True:
        try:
            handle, is_new = os.open(fresh, _CREATE, mode), True
        except FileExistsError:
            handle, is_new = _left_over(fresh, users), False
        if handle < 0:
            continue
        mine = False
        try:
            with suppress(OSError):  # some network file systems have no locks
                fcntl.flock(handle, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):  # else the other process has renamed it meanwhile
                if os.path.samestat(os.fstat(handle), fresh.lstat()):
                    mine = is_new
                    if mine:
                        return handle
                    fresh.unlink()
        finally:
            if not mine:
                os.close(handle)


def _left_over(fresh: Path, users: set[int]) -> int:
    """Open the new file that another run left, and return its descriptor, or -1 if the file is gone.

    Raises ``TargetRefused`` if it is not this user's, or is a second name of another file.
    """
    with suppress(FileNotFoundError):
        status = fresh.lstat()
        if stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and status.st_uid in users:
            return os.open(fresh, _READ)
        raise TargetRefused(f"{fresh}: in the way, and not left by a run of this user; see what it is and remove it")
    return -1


def check_new_folder(target: Path, sources: Iterable[Path] = ()) -> None:
    """Raise ``TargetRefused`` if ``target`` exists and is no empty folder, or is inside one of ``sources``."""
    if os.path.lexists(target) and (target.is_symlink() or not target.is_dir() or any(target.iterdir())):
        raise TargetRefused(f"{target}: exists already and is not an empty folder; name one that does not exist")
    for source in sources:
        if Path(os.path.realpath(target)).is_relative_to(source.resolve()):
            raise TargetRefused(f"{target}: is inside {source}; name a folder elsewhere")


@contextmanager
def whole_folder(
    target: Path, sources: Iterable[Path] = (), disk: Disk | None = None, like: Path | None = None
) -> Iterator[tuple[Path, Disk]]:
    """Yield a folder to fill and the disk to do it with. It becomes ``target`` when the block ends without an error.

    Its files have to be created with ``disk.create``; its folders are synced here, and it gets the rights of ``like``.
    It is removed if that fails. Raises ``TargetRefused`` before anything is written; ``OSError``, also if another
    process is filling it.
    """
    check_new_folder(target, sources)
    target = target.absolute()
    partial = target.with_name(target.name + PARTIAL_SUFFIX)
    disk = disk or Disk()
    with disk.below(target.parent):
        disk.make_folder(target.parent)
        if disk.mode(partial):
            with locked_folder(partial) as handle:
                if os.fstat(handle).st_uid not in (os.geteuid(), like.stat().st_uid if like else -1):
                    raise TargetRefused(f"{partial}: in the way, and not left by a run of this user; remove it")
                shutil.rmtree(partial)
        try:
            disk.make_folder(partial)
        except BaseException:
            with suppress(OSError):
                partial.rmdir()
            raise
        with locked_folder(partial):
            try:
                with disk.filling():
                    yield partial, disk
                for folder, _, _ in os.walk(partial, topdown=False):
                    disk.sync_folder(Path(folder))
                if like is not None:
                    disk.give_rights(partial, like)
                disk.replace(partial, target)
            except BaseException:
                shutil.rmtree(partial, ignore_errors=True)
                raise
        disk.sync_folder(target.parent)


@contextmanager
def locked_folder(folder: Path) -> Iterator[int]:
    """Keep other pagectl processes from writing a folder inside. Yield its descriptor.

    Raises ``LinkRefused`` and ``OSError``.
    """
    if folder.is_symlink():
        raise LinkRefused(f"{folder}: is a symbolic link; nothing is written or removed through links")
    handle = os.open(folder, _FOLDER)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield handle
    except BlockingIOError as err:
        raise OSError(errno.EBUSY, "another process is writing it", str(folder)) from err
    finally:
        os.close(handle)


def sync_files(folder: Path) -> None:
    """Make the content of every file below a folder durable."""
    for path in folder.rglob("*"):
        if path.is_file():
            handle = os.open(path, _READ)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def blocks(parts: Iterable[bytes | memoryview]) -> Iterable[bytes | memoryview]:
    """Yield the parts joined into blocks of up to ``BLOCK`` bytes: a write call for each part takes twice as long."""
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


def owner(path: Path) -> tuple[int, int]:
    """Return user id and group id."""
    status = path.lstat()
    return status.st_uid, status.st_gid


def copy_rights(handle: int, like: Path) -> None:
    """Copy owner, group, access list, labels, extended attributes and mode, as far as user and system permit.

    If some of them cannot be copied, no user gets more rights than before: not the members of another group, nor a
    group for which the mode shows the mask of an access list that is lost.
    """
    status, own = like.lstat(), os.fstat(handle)
    mode = stat.S_IMODE(status.st_mode)
    for user, group in ((status.st_uid, -1), (-1, status.st_gid)):
        if user not in (-1, own.st_uid) or group not in (-1, own.st_gid):
            with suppress(PermissionError):
                os.fchown(handle, user, group)
    if os.fstat(handle).st_gid != status.st_gid:
        mode &= ~(stat.S_ISGID | stat.S_IRWXG) | (mode & stat.S_IRWXO) << 3
    if hasattr(os, "listxattr") and not _copy_attributes(handle, like):
        mode = without_list(mode, like)
    os.fchmod(handle, mode)


def _copy_attributes(handle: int, like: Path) -> bool:
    """Make the extended attributes equal to those of ``like``, as far as permitted.

    Return False if the access list may differ: the file system has no attributes, or refuses the list. A security label
    is copied but never removed.
    """
    try:
        theirs, ours = set(os.listxattr(like, follow_symlinks=False)), set(os.listxattr(handle))
    except OSError:  # a file system without any
        return False
    done = True
    for name in sorted(theirs | ours):
        if not name.startswith(_ATTRIBUTES):
            continue
        try:
            if name in theirs:
                os.setxattr(handle, name, os.getxattr(like, name, follow_symlinks=False))
            elif name != _LABEL:
                os.removexattr(handle, name)
        except OSError:
            done = done and name != _ACCESS
    return done


def without_list(mode: int, path: Path) -> int:
    """Return a mode whose group bits are the group's own. With an access list they are the list's mask."""
    try:
        entries = struct.iter_unpack("<HHI", os.getxattr(path, _ACCESS, follow_symlinks=False)[4:])
    except (OSError, AttributeError):
        return mode
    own = next((bits for tag, bits, _ in entries if tag == _GROUP_ENTRY), 0)
    return mode & (~stat.S_IRWXG | own << 3)
