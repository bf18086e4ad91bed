"""Files of a broker's directories that this user may not read: nothing is known of them, nothing is wrong with them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from enum import Flag, auto
from pathlib import Path
from typing import Final, NamedTuple

from pagefmt.directory.locate import PAGE_SUFFIXES, DataLocation, LocationKind
from pagefmt.directory.paging import ADDRESS_FILE
from pagefmt.journal.files import Journal
from pagefmt.quantities import count_text
from pagefmt.storage.files import not_permitted
from pagefmt.storage.remote_paths import FarPath

_ADVICE: Final = "run as a user who may read all of it, such as the broker's"
_EFFECTIVE: Final = os.access in os.supports_effective_ids
# endings of files that are read; other files in a broker's directories are ignored
_READ: Final = (
    *PAGE_SUFFIXES,
    ADDRESS_FILE,
    *(ending for journal in Journal for ending in journal.value),
    ".msg",
    ".tmp",
)


class ClosedFiles(NamedTuple):
    """Files and folders that this user may not read. ``number`` of them, and of ``pages`` that can be read."""

    first: Path
    number: int
    pages: int

    def __str__(self) -> str:
        more = f", and {count_text(self.number - 1, 'other')}" if self.number > 1 else ""
        return f"{self.first}: {not_permitted()}{more}; {_ADVICE}"


class Reads(Flag):
    """What a command reads of a broker's directories. ``BODIES``: large-message files, not only their names."""

    PAGES = auto()
    JOURNALS = auto()
    LARGE = auto()
    BODIES = auto()
    ALL = PAGES | JOURNALS | BODIES


def closed_files(place: DataLocation, reads: Reads = Reads.PAGES) -> ClosedFiles | None:
    """Return the files that a command ``reads`` in a place but this user may not read; None if there are none.

    Folders below a URL and in archives are not checked: a lack of rights shows when they are read.
    """
    single: list[Path] = []
    folders: list[Path | None] = []
    if Reads.PAGES in reads and place.page is not None:
        single.append(place.page)
    elif Reads.PAGES in reads:
        folders.append(place.store or place.paging)
    if Reads.JOURNALS in reads:
        alone = place.kind is LocationKind.JOURNAL_FILE
        single += [place.given] if alone else []
        folders += [folder for folder in (place.journal, place.bindings) if not (alone and folder == place.given)]
    if Reads.BODIES in reads:
        folders.append(place.large_messages)
    elif Reads.LARGE in reads and place.large_messages is not None:
        single.append(place.large_messages)
    closed, pages = [], 0
    for path, is_readable in (*_single(single), *_below(folders)):
        if not is_readable:
            closed.append(path)
        elif path.name.endswith(".page"):
            pages += 1
    return ClosedFiles(min(closed), len(closed), pages) if closed else None


def _single(paths: Iterable[Path]) -> Iterator[tuple[Path, bool]]:
    for path in paths:
        if not isinstance(path, FarPath):
            yield path, _may(path, os.R_OK | os.X_OK if path.is_dir() else os.R_OK)


def _below(folders: Iterable[Path | None]) -> Iterator[tuple[Path, bool]]:
    """Yield the files that are read below folders, and folders that cannot be listed, with whether they can be read."""
    for folder in folders:
        if folder is None or isinstance(folder, FarPath):
            continue
        if not _may(folder, os.R_OK | os.X_OK):
            yield folder, False
            continue
        inner: list[Path] = []
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    inner.append(Path(entry.path))
                elif entry.name.endswith(_READ) and entry.is_file(follow_symlinks=False):
                    yield Path(entry.path), _may(entry.path, os.R_OK)
        yield from _below(inner)


def _may(path: Path | str, how: int) -> bool:
    """Return whether this user has the access ``how`` (``os.R_OK`` …) to a path, or the path does not exist."""
    return os.access(path, how, effective_ids=_EFFECTIVE) or not _is_there(path)


def _is_there(path: Path | str) -> bool:
    """Return whether a path exists.

    One that cannot be looked up, for lack of rights to its folder, counts as existing.
    """
    try:
        return bool(stat.S_IFMT(os.lstat(path).st_mode))
    except FileNotFoundError:
        return False
    except OSError:
        return True
