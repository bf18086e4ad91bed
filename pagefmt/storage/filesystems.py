"""File systems of the broker's directories, as the system reports them. Uses the standard library only.

The broker monitors file systems, not directories, and equal ones once (docs/spec/disk-monitor.md 2). For a JVM on
Linux, two are equal if the same device is mounted at the same place; a bind mount of it is another.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pagefmt.errors import PageFmtError


class ProbeError(PageFmtError):
    """A directory exists (or may exist) but the system does not say how full its file system is."""


class FileSystem(NamedTuple):
    """One file system at one moment. Sizes in bytes: ``usable`` by this process, ``free`` with reserved blocks.

    ``names`` are the broker's directories on it. ``inodes`` is 0 if the file system does not count them.
    """

    mount: str
    names: tuple[str, ...]
    usable: int
    free: int
    total: int
    inodes: int
    inodes_usable: int

    @property
    def reserved(self) -> int:
        """Return the free bytes that this process may not use: used for the broker, not for ``df``."""
        return max(0, self.free - self.usable)

    @property
    def df_percent(self) -> int | None:
        """Return the Use% that ``df`` prints: used / (used + usable), rounded up; None if the file system is empty."""
        used = self.total - self.free
        size = used + self.usable
        return None if size <= 0 else -(-100 * used // size)

    @property
    def inodes_percent(self) -> float | None:
        """Share of the inodes that is taken."""
        return None if self.inodes <= 0 else 100.0 * (1 - self.inodes_usable / self.inodes)


def file_systems(directories: Mapping[str, Path]) -> tuple[list[FileSystem], list[str]]:
    """Return the distinct file systems of these directories, in order, and the names of missing directories.

    Links are followed, as the broker does. Raises ``ProbeError`` if the system does not give the information.
    """
    places: dict[tuple[int, str], list[str]] = {}
    paths: dict[tuple[int, str], str] = {}
    missing = []
    for name, directory in directories.items():
        try:
            real = os.path.realpath(directory, strict=True)
            place = mount_point(real)
        except FileNotFoundError:
            missing.append(name)
            continue
        except OSError as err:
            raise ProbeError(f"{directory}: {err.strerror or err}: its file system cannot be determined") from err
        places.setdefault(place, []).append(name)
        paths.setdefault(place, real)
    return [_probe(paths[place], place[1], tuple(names)) for place, names in places.items()], missing


def _probe(path: str, mount: str, names: tuple[str, ...]) -> FileSystem:
    try:
        stats = os.statvfs(path)
    except OSError as err:
        raise ProbeError(
            f"{path}: {err.strerror or err}: the free space of its file system cannot be determined"
        ) from err
    size = stats.f_frsize
    return FileSystem(
        mount, names, stats.f_bavail * size, stats.f_bfree * size, stats.f_blocks * size, stats.f_files, stats.f_favail
    )


def mount_point(real: str) -> tuple[int, str]:
    """Device number, and the highest folder above a resolved path that is still on that device."""
    device = os.stat(real).st_dev  # noqa: PTH116 (a str all the way: this runs at each scan)
    while True:
        parent = os.path.dirname(real)  # noqa: PTH120
        if parent == real or os.stat(parent).st_dev != device:  # noqa: PTH116
            return device, real
        real = parent
