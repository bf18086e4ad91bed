"""Detection of files that change while a command reads them.

A broker's lock keeps out other brokers, but not rsync, a restore that is still running, or a replicating backup.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from pagefmt.errors import PageFmtError

Fingerprint: TypeAlias = tuple[int, int, int]  # size in bytes, modification time in ns, inode


class SourceChanged(PageFmtError):
    """A file changed between the plan of a copy and its end. Nothing was written."""


def fingerprint(path: Path) -> Fingerprint:
    """Return what changes whenever a process writes or replaces the file. Raises ``OSError``."""
    status = path.lstat()
    return status.st_size, status.st_mtime_ns, status.st_ino


@dataclass(frozen=True, slots=True)
class FileSnapshot:
    """The fingerprint of each file in some folders, taken before the first of them is read."""

    roots: tuple[Path, ...]
    files: Mapping[Path, Fingerprint]

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Raise ``SourceChanged`` at the end of the block if a file was changed, added or removed.

        It also replaces an error inside the block, because a file that shrinks after it was planned makes the code that
        copies it fail in any way.
        """
        try:
            yield
        except Exception:
            self._check()
            raise
        self._check()

    def _check(self) -> None:
        files = _fingerprints(self.roots)
        if files != self.files:
            path = min(path for path, _ in files.items() ^ self.files.items())
            raise SourceChanged(f"{path}: changed while it was copied; is a broker running? Nothing was written")


def take_snapshot(roots: Iterable[Path]) -> FileSnapshot:
    """Return the fingerprints of all files in folders; a root may also be a single file."""
    absolute = tuple(root.absolute() for root in roots)
    return FileSnapshot(absolute, _fingerprints(absolute))


def _fingerprints(roots: Iterable[Path]) -> dict[Path, Fingerprint]:
    files: dict[Path, Fingerprint] = {}
    for root in roots:
        if root.is_file():
            files[root] = fingerprint(root)
        for folder, _, names in os.walk(root):
            for name in names:
                path = Path(folder, name)
                with suppress(FileNotFoundError):  # a file that vanishes is missing from one of two snapshots
                    files[path] = fingerprint(path)
    return files
