"""The brokers of a fleet: from paths, path patterns, and a list of brokers.

A list is CSV with a heading; a line that begins with # is a comment. ``path`` is what a command accepts as DIR,
relative to the folder of the list. ``name`` (default: the path) is the broker's name in tables. ``edition`` (default:
judged by its journals) is the release whose reader determines the facts of AMQP messages.

    name,path,edition
    orders-1,/nfs/orders-1,artemis-2.44
"""

from __future__ import annotations

import csv
import glob
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from itertools import dropwhile
from pathlib import Path
from typing import Any, Final, NamedTuple

from pagefmt.directory.locate import PAGE_SUFFIXES, DataLocation, locate
from pagefmt.editions import Edition
from pagefmt.errors import PageFmtError
from pagefmt.quantities import count_text
from pagefmt.storage.file_trees import ARCHIVES
from pagefmt.storage.files import read_start, utf8_name
from pagefmt.storage.interruptible_calls import thread_pool
from pagefmt.storage.remote_paths import ArchiveFile, FarPath, SharedArchive, any_path, archive_now

FIELDS: Final = ("name", "path", "edition")
WITH_CONFIG: Final = (*FIELDS, "config")
_LIMIT: Final = 64 << 20  # bytes of a list: enough for hundreds of thousands of brokers
_PATTERN: Final = frozenset("*?[")
_AT_ONCE: Final = 16


class FleetError(PageFmtError):
    """A list of brokers that cannot be used, or a pattern that fits nothing."""


class FleetEntry(NamedTuple):
    """A broker as the user named it.

    ``edition``: None if its files are to decide. ``config``: its configuration, if given.
    """

    name: str
    path: Path
    edition: Edition | None = None
    config: Path | None = None


class HistoryFiles(NamedTuple):
    """Where the history of a broker lies, beside its journal. ``retention``: None if there is no such folder.

    ``zone``: in which the broker named the files, None for that of this machine. ``page_sizes``: page-size-bytes by
    address, as far as they are known.
    """

    retention: Path | None
    zone: str | None
    page_sizes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class FleetBroker:
    """A broker with its directories.

    ``unpacked``: the archive that contains them, if it is unpacked for several tasks. ``archive``: fingerprint of the
    archive when the broker was located. ``history``: None if that is not asked for.
    """

    name: str
    place: DataLocation
    edition: Edition | None = None
    unpacked: SharedArchive | None = None
    archive: ArchiveFile | None = None
    history: HistoryFiles | None = None

    def require_same(self) -> None:
        """Raise ``FleetError`` if the archive was replaced since, so that pages of two states are not mixed.

        Raises ``OSError`` if the archive cannot be found.
        """
        if self.archive is not None and archive_now(self.place.given) != self.archive:
            raise FleetError(
                f"{self.place.given}: the archive was replaced or removed while it was read; read a copy that does not "
                "change"
            )


def fleet_of(paths: Iterable[str], listing: Path | None = None, columns: Sequence[str] = FIELDS) -> list[FleetEntry]:
    """Return the brokers of paths or path patterns, then those of a list, each in order.

    A broker of a path has the full path as its name. ``columns``: those that the list may have; with ``FIELDS``, the
    brokers are directories, so a pattern matches no files except archives and pages. Raises ``NotReadable``, and
    ``FleetError`` if the list or a pattern is unusable or two brokers have the same name.
    """
    named = [path for text in paths for path in _matching(any_path(text), files=columns is not FIELDS)]
    entries = [FleetEntry(path_name(path), path) for path in named]
    entries += [] if listing is None else _listed(any_path(listing), columns)
    twice = [name for name, times in Counter(entry.name for entry in entries).items() if times > 1]
    if twice:
        raise FleetError(f"{twice[0]}: named twice; every broker needs a name of its own")
    return entries


def path_name(path: Path) -> str:
    """Return the name of a broker in tables if the user gave none."""
    return utf8_name(str(path.absolute()))


def absolute(place: DataLocation) -> DataLocation:
    """Return the location with absolute paths, which do not depend on a task's working directory."""
    paths: dict[str, Any] = {name: path.absolute() for name, path in place._asdict().items() if isinstance(path, Path)}
    return place._replace(**paths)


@contextmanager
def looked_for(
    paths: Iterable[Path], find: Callable[[Path], DataLocation] = locate
) -> Iterator[Callable[[Path], DataLocation]]:
    """Yield a function that locates a broker. Below URLs, all are located in parallel; archives are read one by one."""
    with thread_pool(_AT_ONCE) as pool:
        far = [path for path in paths if isinstance(path, FarPath) and not path.in_archive]
        ahead = {path: pool.submit(find, path) for path in far}
        yield lambda path: ahead[path].result() if path in ahead else find(path)


def _matching(path: Path, *, files: bool) -> list[Path]:
    if not _PATTERN.intersection(str(path)) or path.exists():
        return [path]
    if isinstance(path, FarPath):
        every: list[Path] = [*path.matching()]
    else:
        every = sorted(map(any_path, glob.glob(str(path))))  # noqa: PTH207 (Path has no glob for absolute patterns)
    if files:
        matching = every
    else:
        with thread_pool(_AT_ONCE) as pool:
            matching = [
                candidate for candidate, is_input in zip(every, pool.map(_is_input, every), strict=True) if is_input
            ]
    if not matching:
        only = f" but {count_text(len(every), 'file')} that are neither archives nor pages" if every else ""
        raise FleetError(f"{path}: no path matches this pattern{only}")
    return matching


def _is_input(path: Path) -> bool:
    """Return whether a path that matches a pattern can be read as a broker: a folder, an archive or a page file."""
    return path.name.lower().endswith(ARCHIVES) or path.name.endswith(PAGE_SUFFIXES) or path.is_dir()


def _listed(listing: Path, columns: Sequence[str]) -> list[FleetEntry]:
    try:
        lines = enumerate(StringIO(read_start(listing, _LIMIT).decode("utf-8-sig"), newline=None), 1)
    except UnicodeDecodeError as err:
        raise FleetError(f"{listing}: offset {err.start}: not UTF-8") from err
    rows = [(number, line) for number, line in lines if line.strip() and not line.startswith("#")]
    heading = [name.strip() for name in _fields(rows[0][1])] if rows else []
    if "path" not in heading or (foreign := next(dropwhile(columns.__contains__, heading), None)) is not None:
        problem = f"{foreign!r} is none of" if "path" in heading else "the first line must name the columns:"
        raise FleetError(f"{listing}: {problem} {', '.join(columns)}")
    if len(set(heading)) < len(heading):
        raise FleetError(f"{listing}: the first line names a column twice")
    return [_entry(listing, number, heading, line) for number, line in rows[1:]]


def _fields(line: str) -> list[str]:
    """Return the fields of a line; none if a quotation mark is not closed, or a field is longer than any path."""
    try:
        return next(csv.reader([line], strict=True))
    except csv.Error:
        return []


def _entry(listing: Path, number: int, heading: list[str], line: str) -> FleetEntry:
    values = _fields(line)
    cells = {name: value.strip() for name, value in zip(heading, values, strict=False) if value.strip()}
    if len(values) > len(heading) or "path" not in cells or "\0" in line:
        raise FleetError(f"{listing}: line {number}: not a line of {','.join(heading)}, with a path")
    folder = listing.absolute().parent
    path = _from(folder, cells["path"])
    try:
        edition = Edition(cells["edition"]) if "edition" in cells else None
    except ValueError:
        editions = ", ".join(str(member.value) for member in Edition)
        raise FleetError(f"{listing}: line {number}: edition {cells['edition']!r} is none of {editions}") from None
    config = _from(folder, cells["config"]) if "config" in cells else None
    return FleetEntry(cells.get("name", utf8_name(str(path))), path, edition, config)


def _from(folder: Path, text: str) -> Path:
    """Return the path that a list in a folder names."""
    path = any_path(text)
    return path if isinstance(path, FarPath) or path.is_absolute() else any_path(folder / path)
