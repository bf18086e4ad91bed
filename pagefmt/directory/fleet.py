"""The brokers of a fleet: from paths, patterns of paths, and a list that names them.

A list is CSV with a heading; a line that begins with # is a remark. ``path`` is what a command takes as DIR, relative
to the folder of the list; ``name`` (else the path) is what a table calls the broker, ``edition`` (else what its
journals tell) the release whose reader says the facts of AMQP messages.

    name,path,edition
    orders-1,/nfs/orders-1,artemis-2.44
"""

from __future__ import annotations

import csv
import glob
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from itertools import dropwhile
from pathlib import Path
from typing import Any, Final, NamedTuple

from pagefmt.bytes.far_paths import ArchiveFile, FarPath, SharedArchive, any_path, archive_now
from pagefmt.bytes.files import read_start, utf8_name
from pagefmt.bytes.trees import ARCHIVES
from pagefmt.bytes.waiting import thread_pool
from pagefmt.directory.locate import PAGE_SUFFIXES, DataLocation, locate
from pagefmt.editions import Edition
from pagefmt.errors import PageFmtError
from pagefmt.quantities import count_text

FIELDS: Final = ("name", "path", "edition")
WITH_CONFIG: Final = (*FIELDS, "config")
_LIMIT: Final = 64 << 20
"""Bytes of a list: hundreds of thousands of brokers."""
_PATTERN: Final = frozenset("*?[")
_AT_ONCE: Final = 16


class FleetError(PageFmtError):
    """A list of brokers that cannot be used, or a pattern that fits nothing."""


class FleetEntry(NamedTuple):
    """A broker as it was named. ``edition`` None: as its files tell; ``config``: its configuration, where asked for."""

    name: str
    path: Path
    edition: Edition | None = None
    config: Path | None = None


@dataclass(frozen=True, slots=True)
class FleetBroker:
    """A broker with its directories. ``unpacked``: the archive that they are in, where somebody has it unpacked;
    ``archive``: as it was when the broker was looked at."""

    name: str
    place: DataLocation
    edition: Edition | None = None
    unpacked: SharedArchive | None = None
    archive: ArchiveFile | None = None

    def require_same(self) -> None:
        """Raises ``FleetError`` where the archive is another now, and ``OSError``: pages would be of two."""
        if self.archive is not None and archive_now(self.place.given) != self.archive:
            raise FleetError(
                f"{self.place.given}: the archive was replaced or removed while it was read; read a copy that does not "
                "change"
            )


def fleet_of(paths: Iterable[str], listing: Path | None = None, columns: Sequence[str] = FIELDS) -> list[FleetEntry]:
    """Brokers by paths or patterns of paths, and those of a list, in their order. A path is its name, in full.

    ``columns`` are those that a list may have: with ``FIELDS``, directories are meant, so a pattern does not take other
    files than archives and pages.

    Raises ``FleetError``, also where two have one name, and ``NotReadable``.
    """
    named = [path for text in paths for path in _matching(any_path(text), files=columns is not FIELDS)]
    found = [FleetEntry(path_name(path), path) for path in named]
    found += [] if listing is None else _listed(any_path(listing), columns)
    twice = [name for name, times in Counter(each.name for each in found).items() if times > 1]
    if twice:
        raise FleetError(f"{twice[0]}: named twice; every broker needs a name of its own")
    return found


def path_name(path: Path) -> str:
    """What tables call a broker that nobody gave a name."""
    return utf8_name(str(path.absolute()))


def absolute(place: DataLocation) -> DataLocation:
    """The same wherever a task runs."""
    paths: dict[str, Any] = {name: each.absolute() for name, each in place._asdict().items() if isinstance(each, Path)}
    return place._replace(**paths)


@contextmanager
def looked_for(
    paths: Iterable[Path], find: Callable[[Path], DataLocation] = locate
) -> Iterator[Callable[[Path], DataLocation]]:
    """What ``find`` gives for each; below URLs they are looked for many at once. Archives are read one by one."""
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
            matching = [each for each, taken in zip(every, pool.map(_is_input, every), strict=True) if taken]
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
        said = f"{foreign!r} is none of" if "path" in heading else "the first line must name the columns:"
        raise FleetError(f"{listing}: {said} {', '.join(columns)}")
    if len(set(heading)) < len(heading):
        raise FleetError(f"{listing}: the first line names a column twice")
    return [_entry(listing, number, heading, line) for number, line in rows[1:]]


def _fields(line: str) -> list[str]:
    """None where a quotation mark has no other, or a field is larger than any path."""
    try:
        return next(csv.reader([line], strict=True))
    except csv.Error:
        return []


def _entry(listing: Path, number: int, heading: list[str], line: str) -> FleetEntry:
    values = _fields(line)
    given = {name: value.strip() for name, value in zip(heading, values, strict=False) if value.strip()}
    if len(values) > len(heading) or "path" not in given or "\0" in line:
        raise FleetError(f"{listing}: line {number}: not a line of {','.join(heading)}, with a path")
    folder = listing.absolute().parent
    path = _from(folder, given["path"])
    try:
        edition = Edition(given["edition"]) if "edition" in given else None
    except ValueError:
        known = ", ".join(str(each.value) for each in Edition)
        raise FleetError(f"{listing}: line {number}: edition {given['edition']!r} is none of {known}") from None
    config = _from(folder, given["config"]) if "config" in given else None
    return FleetEntry(given.get("name", utf8_name(str(path))), path, edition, config)


def _from(folder: Path, text: str) -> Path:
    """What a list names in a folder."""
    path = any_path(text)
    return path if isinstance(path, FarPath) or path.is_absolute() else any_path(folder / path)
