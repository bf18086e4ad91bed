"""A seal: size and CRC-32C of every file of a paging directory and of the large messages beside it.

One JSON object a line: first ``{"seal":"pagectl","version":1,"checksum":"crc32c"}``, then one for each file, by name:
``{"file":"paging/<store>/000000001.page","size":bytes,"crc32c":"8 hex digits"}``. Names are the same wherever the
directories lie. Page files themselves carry no checksum, in no version: a seal taken before shows what changed since.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from pagefmt.directory.locate import DataLocation
from pagefmt.directory.paging import read_paging
from pagefmt.errors import PageFmtError
from pagefmt.storage.files import NotReadable, file_pieces, not_listed, open_stream

HEADER: Final[dict[str, Any]] = {"seal": "pagectl", "version": 1, "checksum": "crc32c"}
PAGING: Final = "paging"
LARGE: Final = "large-messages"
_SUM: Final = re.compile(r"[0-9a-f]{8}")
_LINE_LIMIT: Final = 1 << 16


class BadSeal(PageFmtError):
    """The file is not a valid seal; the message has the line number."""


@dataclass(frozen=True, slots=True)
class SealedFile:
    """A line of the manifest: name, size in bytes, CRC-32C as 8 hex digits."""

    file: str
    size: int
    crc32c: str


class SealChange(StrEnum):
    """How a sealed file changed. ``UNREADABLE``: it exists, but the system does not let us read it."""

    CHANGED = "changed"
    MISSING = "missing"
    NEW = "new"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True, order=True)
class SealDifference:
    """A file that differs from its entry in the seal."""

    file: str
    change: SealChange
    detail: str


def sealed_files(place: DataLocation) -> list[tuple[str, Path]]:
    """Return (name in the seal, path) of the files that a seal of this place covers, by name.

    Of a whole paging directory these are all files of its folders and the large messages; of one store or page, only
    its files. Links and irregular files are left out.
    """
    files: list[tuple[str, Path]] = []
    if place.page is not None:
        folder = (place.store or place.page.parent).name
        return [(f"{PAGING}/{folder}/{place.page.name}", place.page)]
    if place.store is not None:
        files += _regular(place.store, f"{PAGING}/{place.store.absolute().name}")
    elif place.paging is not None:
        for name in read_paging(place.paging).listing:
            files += _regular(place.paging / name, f"{PAGING}/{name}")
    if place.store is None and place.large_messages is not None:
        files += _regular(place.large_messages, LARGE)
    return sorted(files)


def _regular(folder: Path, prefix: str) -> list[tuple[str, Path]]:
    try:
        with os.scandir(folder) as entries:
            return [(f"{prefix}/{e.name}", Path(e.path)) for e in entries if e.is_file(follow_symlinks=False)]
    except OSError as err:
        raise not_listed(folder, err) from err


def seal_file(name: str, path: Path) -> SealedFile:
    """Return size and CRC-32C of a file. Raise ``NotReadable``."""
    from crc32c import crc32c

    size = value = 0
    for piece in file_pieces(path):
        size, value = size + len(piece), crc32c(piece, value)
    return SealedFile(name, size, f"{value:08x}")


def read_seal(path: Path) -> dict[str, SealedFile]:
    """Return the sealed files by name. Raise ``BadSeal`` with the line number, ``NotReadable``."""
    file = open_stream(Path(os.path.realpath(path)))
    with io.TextIOWrapper(file, encoding="utf-8", errors="surrogateescape") as stream:
        if _object(path, 1, stream.readline(_LINE_LIMIT)) != HEADER:
            raise BadSeal(f"{path}: line 1: not a seal of this tool; make one with 'pagectl pages seal DIR --to FILE'")
        sealed_by_name: dict[str, SealedFile] = {}
        for number, line in enumerate(iter(lambda: stream.readline(_LINE_LIMIT), ""), start=2):
            sealed = _entry(path, number, line)
            sealed_by_name[sealed.file] = sealed
    return sealed_by_name


def _object(path: Path, number: int, line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError as err:
        raise BadSeal(f"{path}: line {number}: not JSON; the manifest is damaged or is another kind of file") from err


def _entry(path: Path, number: int, line: str) -> SealedFile:
    entry = _object(path, number, line)
    match entry:
        case {"file": str(name), "size": int(size), "crc32c": str(crc)} if size >= 0 and _SUM.fullmatch(crc):
            return SealedFile(name, size, crc)
        case _:
            raise BadSeal(f"{path}: line {number}: expected file, size and crc32c")


def differences(place: DataLocation, sealed: dict[str, SealedFile]) -> Iterator[SealDifference]:
    """Yield the files that differ from the seal, by name. If the place is one store or page, only that is compared."""
    paths = dict(sealed_files(place))
    for name in sorted(paths.keys() | {name for name in sealed if _covers(place, name)}):
        before, path = sealed.get(name), paths.get(name)
        if path is None:
            yield SealDifference(name, SealChange.MISSING, "sealed, but no longer there")
        elif before is None:
            yield SealDifference(name, SealChange.NEW, "not in the seal")
        else:
            difference = _difference(name, path, before)
            if difference is not None:
                yield difference


def _covers(place: DataLocation, name: str) -> bool:
    if place.page is not None:
        return name == f"{PAGING}/{(place.store or place.page.parent).name}/{place.page.name}"
    if place.store is not None:
        return name.startswith(f"{PAGING}/{place.store.absolute().name}/")
    return name.startswith(f"{PAGING}/") or (place.large_messages is not None and name.startswith(f"{LARGE}/"))


def _difference(name: str, path: Path, before: SealedFile) -> SealDifference | None:
    try:
        now = seal_file(name, path)
    except NotReadable as err:
        return SealDifference(name, SealChange.UNREADABLE, str(err))
    if now.size != before.size:
        return SealDifference(name, SealChange.CHANGED, f"{before.size} bytes when sealed, {now.size} now")
    if now.crc32c != before.crc32c:
        return SealDifference(name, SealChange.CHANGED, f"CRC-32C {before.crc32c} when sealed, {now.crc32c} now")
    return None
