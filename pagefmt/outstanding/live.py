"""Whether a broker is at work on a directory: it holds a lock in the journal folder. Nothing is locked here."""

from __future__ import annotations

import fcntl
import os
import struct
import sys
from pathlib import Path
from typing import Final

_FLOCK: Final = struct.Struct("hhqqi4x")  # Linux, 64 bit: type, whence, start, length, pid
_LOCKS: Final = (("serverlock.1", 0, 0), ("server.lock", 1, 1))


def broker_runs(journal: Path | None) -> bool:
    """Asked of the system, on Linux. Not for a process that holds such a lock: closing the file would drop it."""
    if journal is None or not sys.platform.startswith("linux"):
        return False
    return any(_held(journal / name, start, length) for name, start, length in _LOCKS)


def _held(path: Path, start: int, length: int) -> bool:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        asked = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
        found: int = _FLOCK.unpack(fcntl.fcntl(handle, fcntl.F_GETLK, asked))[0]
        return found != fcntl.F_UNLCK
    finally:
        os.close(handle)
