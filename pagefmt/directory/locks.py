"""The locks of a running broker, which pagectl holds while it changes files.

=======================  =========================================================================
``journal/serverlock.1``  Artemis 2.x: the whole file
``journal/server.lock``   HornetQ and Artemis 1.x: byte 1
``lock/cli.lock``         of the instance: held by the command line of Artemis while the broker runs
=======================  =========================================================================

They are POSIX record locks, as Java uses them; ``flock`` does not see those. A process loses such a lock when it closes
any descriptor of the file; on Linux, our lock belongs to the open file alone and still conflicts with Java's. Missing
files are not created: no broker has ever run there. A replicating backup takes no such lock, so files are checked
before each step that changes them.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final
from uuid import UUID

from pagefmt.errors import PageFmtError
from pagefmt.storage.files import NotReadable, read_start
from pagefmt.storage.remote_paths import FarPath

_FLAGS: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FLOCK: Final = struct.Struct("hhqqi4x")  # Linux, 64 bit: type, whence, start, length, pid


class BrokerRuns(PageFmtError):
    """Another process holds a lock of a running broker."""


@contextmanager
def hold_off_brokers(
    journal: Path | None, instance: Path | None = None, untaken: list[str] | None = None
) -> Iterator[dict[Path, int]]:
    """Hold all existing locks and yield their descriptors. Raise ``BrokerRuns`` with the process that holds one.

    ``untaken``: for readers; gets a line for each lock that this user may not take, or that is on a read-only file
    system. If None, such a lock raises ``BrokerRuns`` as well.
    """
    with ExitStack() as stack:
        handles = {
            path: _take(stack, path, start, length, untaken) for path, start, length in _locks(journal, instance)
        }
        yield {path: handle for path, handle in handles.items() if handle >= 0}


def running_broker(journal: Path | None, instance: Path | None = None) -> int | None:
    """Return the process that holds one of the locks, or None. Nothing is locked or opened for writing.

    None also if locks cannot be seen: in an archive and in an object store, which have none.
    """
    if isinstance(journal, FarPath):
        return None
    for path, start, length in _locks(journal, instance):
        try:
            process = _holder_of(path, start, length)
        except OSError:
            continue
        if process is not None:
            return process
    return None


def _holder_of(path: Path, start: int, length: int) -> int | None:
    """Return the holder of a lock, opening its file for reading. Raise ``OSError``."""
    handle = os.open(path, os.O_RDONLY | _FLAGS)
    try:
        return holder(handle, start, length)
    finally:
        os.close(handle)


def node_id(journal: Path | None) -> str | None:
    """Return the id of the broker's node, which ``server.lock`` has after three bytes; None if unknown or all zero."""
    if journal is None:
        return None
    try:
        raw = read_start(journal / "server.lock", 3 + 16)[3:]
    except NotReadable:
        return None
    return str(UUID(bytes=raw)) if len(raw) == 16 and any(raw) else None


def _locks(journal: Path | None, instance: Path | None) -> Iterator[tuple[Path, int, int]]:
    if journal is not None:
        folder = journal.absolute() if journal.is_dir() else journal.absolute().parent
        yield folder / "serverlock.1", 0, 0
        yield folder / "server.lock", 1, 1
    if instance is not None:
        yield instance / "lock" / "cli.lock", 0, 0


def _take(stack: ExitStack, path: Path, start: int, length: int, untaken: list[str] | None) -> int:
    """Lock a range of a file until the stack closes. Return the descriptor, or -1 if nothing was locked.

    Nothing is locked if the file is missing, or if this user may not take the lock: then ``untaken`` gets a line. Raise
    ``BrokerRuns`` if the lock is held, or cannot be taken and ``untaken`` is None.
    """
    try:
        handle = os.open(path, os.O_RDWR | _FLAGS)
    except FileNotFoundError:
        return -1
    except OSError as err:
        if untaken is not None and err.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            untaken.append(f"{path}: {err.strerror}: {_describe_holder(path, start, length)}")
            return -1
        raise BrokerRuns(f"{path}: {err.strerror}; the lock cannot be taken, so nothing is changed") from err
    stack.callback(os.close, handle)
    try:
        _lock(handle, start, length)
    except OSError as err:
        raise _held(path, holder(handle, start, length)) from err
    return handle


def _held(path: Path, process: int | None) -> BrokerRuns:
    by = f" (process {process})" if process else ""
    return BrokerRuns(f"{path}: held by a running broker{by}, or by another pagectl; stop it first")


def _describe_holder(path: Path, start: int, length: int) -> str:
    """Return a sentence on whether a broker holds a lock that cannot be taken. Raise ``BrokerRuns`` if one does."""
    try:
        process = _holder_of(path, start, length)
    except OSError:
        return "it is not known whether a broker holds this lock"
    if process is not None:
        raise _held(path, process)
    return "no broker holds this lock now"


def _lock(handle: int, start: int, length: int) -> None:
    if sys.platform.startswith("linux"):
        try:
            fcntl.fcntl(handle, fcntl.F_OFD_SETLK, _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, start, length, 0))
            return
        except OSError as err:
            if err.errno != errno.EINVAL:  # a file system that knows the locks of processes only
                raise
    fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB, length, start)


def holder(handle: int, start: int, length: int) -> int | None:
    """Return the process that holds a lock on the range; None if none does, or the system does not say.

    0: a process that is not visible from here, such as one of another container.
    """
    if not sys.platform.startswith("linux"):
        return None
    request = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
    kind, _, _, _, pid = _FLOCK.unpack(fcntl.fcntl(handle, fcntl.F_GETLK, request))
    return int(pid) if kind != fcntl.F_UNLCK and pid >= 0 else None
