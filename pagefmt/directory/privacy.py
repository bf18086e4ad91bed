"""The mode of files that are made from the pages of a place."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pagefmt.directory.locate import DataLocation, stores
from pagefmt.storage.remote_paths import FarPath
from pagefmt.storage.writing import without_list


def private_mode(place: DataLocation | None) -> int:
    """Return the mode of a file made from pages: only users who may read every one of them may read it.

    For an archive, the archive's mode decides; data of an object store is for its owner alone.
    """
    mode = 0o666
    if place is not None and isinstance(place.given, FarPath):
        archive = place.given.local_archive
        mode = 0 if archive is None else _readers(archive)
    elif place is not None:
        for store in stores(place):
            for page in store.pages:
                mode &= _readers(page.path)
            if store.pages:
                mode &= _readers(store.folder)
    return mode | 0o600


@contextmanager
def hidden_as(mode: int) -> Iterator[str]:
    """Make new files and folders inside the context as private as ``mode``, which ``private_mode`` returned.

    That holds for programs that are started inside, too. Yield the mask in octal digits.
    """
    hidden = sum(0o7 << shift for shift in (0, 3) if not mode >> shift & 0o4)
    before = os.umask(0o077)
    os.umask(before | hidden)
    try:
        yield f"{before | hidden:03o}"
    finally:
        os.umask(before)


def _readers(path: Path) -> int:
    """Who may read it, as the bits for reading and writing. Another group is not ours."""
    status = path.lstat()
    mode = without_list(status.st_mode, path)
    reads = (mode if stat.S_ISDIR(mode) else mode >> 2) & 0o111
    if status.st_gid != os.getegid():
        reads &= 0o707 | (reads & 0o001) << 3
    return reads << 2 | reads << 1
