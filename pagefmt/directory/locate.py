"""What a path given by an operator is: an instance, a data directory, a paging directory, a store folder, one page.

The four directories (paging, journal, bindings, large messages) may be links themselves; nothing below them is
followed. Where they lie when a configuration moved them apart is for the caller to say: this room reads no XML.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pagefmt.bytes.far_paths import FarPath
from pagefmt.bytes.files import listed, packed_form
from pagefmt.bytes.trees import ARCHIVES
from pagefmt.errors import PageFmtError

if TYPE_CHECKING:
    from pagefmt.pages.paging import PageFile, Store

PAGE_SUFFIXES: Final = (".page", ".page.invalidPage")
# As Artemis and HornetQ name them below ``data``; EAP 6 writes ``messaging`` in front.
PAGING_NAMES: Final = ("paging", "messagingpaging")
JOURNAL_NAMES: Final = ("journal", "messagingjournal")
BINDINGS_NAMES: Final = ("bindings", "messagingbindings")
LARGE_NAMES: Final = ("large-messages", "largemessages", "messaginglargemessages")
LAYOUT: Final = {
    "paging": PAGING_NAMES, "journal": JOURNAL_NAMES, "large-messages": LARGE_NAMES, "bindings": BINDINGS_NAMES,
}  # fmt: skip
_EAP_6: Final = frozenset(names[-1] for names in LAYOUT.values())
_NAME: Final = "; name a broker instance, a data directory or a page file"
_HINTS: Final = {
    os.strerror(errno.ENOENT): _NAME, os.strerror(errno.ENOTDIR): _NAME,
    os.strerror(errno.EACCES): "; run as a user who may read it",
}  # fmt: skip
"""What to do about a reason of the system's; others say it themselves."""
CONFIGURATIONS: Final = (
    "etc/broker.xml", "broker.xml", "config/hornetq-configuration.xml", "hornetq-configuration.xml",
)  # fmt: skip


class LocateError(PageFmtError):
    """A path that is none of the things it could be; the message says what was looked for."""


class LocationKind(StrEnum):
    """What a path was recognised as; the value is for messages."""

    INSTANCE = "a broker instance"
    DATA = "a data directory"
    PAGING = "a paging directory"
    STORE = "a store folder"
    PAGE = "a page file"


class DataLocation(NamedTuple):
    """Where things are; None: not there. ``store`` and ``page`` narrow the paging directory down to one of it.

    ``obvious`` is False where an operator should be told how the path was understood.
    """

    given: Path
    kind: LocationKind
    paging: Path | None
    journal: Path | None = None
    bindings: Path | None = None
    large_messages: Path | None = None
    store: Path | None = None
    page: Path | None = None
    obvious: bool = True

    @property
    def read_folders(self) -> list[Path]:
        """The directories that are read."""
        found = (self.paging, self.journal, self.bindings, self.large_messages, self.store)
        return [each for each in found if each is not None]

    def call(self, command: str) -> str:
        """Return the command with the path that was given, as a shell takes it."""
        return f"pagectl {command} {shlex.quote(str(self.given))}"


def configuration_in(path: Path) -> Path | None:
    """The configuration of an instance; None where ``path`` is no instance."""
    return next((path / name for name in CONFIGURATIONS if _is_file(path / name)), None)


def locate(path: Path) -> DataLocation:
    """What ``path`` is, by the names below it: no configuration is read. Raises ``LocateError``."""
    mode = _mode(path)
    if stat.S_ISREG(mode) and not _is_folder_too(path):
        return _page(path)
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise LocateError(f"{path}: neither a folder nor a regular file; name a broker's data directory or a page file")
    return _folder(path)


def new_names(roots: Mapping[str, Path], *, since_2: bool = False) -> dict[str, str]:
    """What the directories of a new data directory are called: as those that it is made of, so that the same broker
    finds them; by the same habit where there was none, or under a name that only a configuration says. ``since_2``: for
    a broker that is not of EAP 6."""
    old = {root.name for root in roots.values()} & _EAP_6
    found = {kind: names[-1 if old and not since_2 else 0] for kind, names in LAYOUT.items()}
    for kind, root in roots.items():
        if root.name in LAYOUT[kind] and not (since_2 and root.name in old):
            found[kind] = root.name
    return found


def stores(place: DataLocation) -> Iterator[Store]:
    """The stores of a place by folder name; one only, or one with a single page, where the place says so."""
    from pagefmt.pages.paging import ADDRESS_FILE, Store, open_paging, read_address, read_store

    if place.page is not None:
        folder = place.store or place.page.absolute().parent
        yield Store(folder, read_address(folder / ADDRESS_FILE), (_single(place.page),), ())
    elif place.store is not None:
        yield read_store(place.store)
    elif place.paging is not None:
        yield from open_paging(place.paging).stores()


def _single(path: Path) -> PageFile:
    """A page file under whatever name it has; 0 where that names no number."""
    from pagefmt.pages.paging import PageFile

    digits = re.match(r"\d+", path.name)
    return PageFile(int(digits.group()) if digits else 0, path.parent, path.name, path.stat().st_size)


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except OSError as err:
        why = err.strerror or str(err)
        raise LocateError(f"{path}: {why}{_HINTS.get(why, '')}") from err


def _is_folder_too(path: Path) -> bool:
    """In an object store a name that others begin with may be that of an object, which tools put there for a folder."""
    if not isinstance(path, FarPath) or path.in_archive or path.name.endswith((*PAGE_SUFFIXES, ".xml")):
        return False
    with suppress(OSError):
        return any(path.entries())
    return False


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _page(path: Path) -> DataLocation:
    if path.suffix == ".xml":
        raise LocateError(f"{path}: a configuration, not data; name the instance, or give this file with --config")
    folder = path.absolute().parent
    named = path.name.endswith(PAGE_SUFFIXES)
    if not named and (form := packed_form(path)) is not None:
        raise LocateError(
            f"{path}: packed with {form}, not a page; archives are read if their names end with {', '.join(ARCHIVES)}; "
            "unpack any other"
        )
    if not named or not _is_store(folder):
        return DataLocation(path, LocationKind.PAGE, None, store=folder, page=path, obvious=named)
    return _beside(folder.parent)._replace(given=path, kind=LocationKind.PAGE, store=folder, page=path, obvious=named)


def _folder(path: Path) -> DataLocation:
    if _is_store(path):
        return _beside(path.absolute().parent)._replace(given=path, kind=LocationKind.STORE, store=path, obvious=False)
    for data in (path, path / "data"):
        if _first(data, PAGING_NAMES + JOURNAL_NAMES + BINDINGS_NAMES) is not None:
            _refuse_two_layouts(path)
            return within(data)._replace(given=path, obvious=data is path)
    if path.name in PAGING_NAMES or _holds_stores(path):
        return _beside(path)._replace(given=path, kind=LocationKind.PAGING, obvious=path.name in PAGING_NAMES)
    if isinstance(path, FarPath) and path.in_archive:
        names = [name for name in _names(path) if (path / name).is_dir()]
        if len(names) == 1:
            return _folder(path / names[0])._replace(given=path, obvious=False)
        if names:
            raise LocateError(
                f"{path}: no broker's data directory; name one of the directories in it, such as {path / names[0]}"
            )
    raise LocateError(
        f"{path}: no paging, journal or bindings folder, no store with an address.txt, no page file in it; "
        "name a broker instance, a data directory, a paging directory, a store folder or a page file"
    )


def _refuse_two_layouts(path: Path) -> None:
    """A folder with the pages of two brokers names neither of them."""
    found = [data / name for data in (path, path / "data") for name in _folders(data, PAGING_NAMES)]
    if len(found) > 1 and all(map(_holds_stores, found)):
        raise LocateError(f"{path}: pages in {found[0]} and in {found[1]}; name one of them")


def within(data: Path) -> DataLocation:
    """The directories of a data directory by their usual names."""
    return DataLocation(
        data, LocationKind.DATA, _first(data, PAGING_NAMES), _first(data, JOURNAL_NAMES), _first(data, BINDINGS_NAMES),
        _first(data, LARGE_NAMES),
    )  # fmt: skip


def _beside(paging: Path) -> DataLocation:
    """The directories next to a paging directory."""
    return within(paging.absolute().parent)._replace(paging=paging)


def _first(folder: Path, names: tuple[str, ...]) -> Path | None:
    found = _folders(folder, names)
    return next((folder / name for name in names if name in found), None)


def _folders(folder: Path, names: tuple[str, ...]) -> list[str]:
    """Which of these are folders; links may lead to them. Where every question is a request, one is enough."""
    if not isinstance(folder, FarPath):
        return [name for name in names if _leads_to_folder(folder / name)]
    with suppress(FileNotFoundError):
        found = [each for each in folder.entries() if each.name in names]
        for each in found:
            if each.is_symlink():
                why = "a symbolic link, which is not followed there; put what it leads to into the archive (tar -h)"
                raise LocateError(f"{folder / each.name}: {why}")
        return [each.name for each in found if each.is_dir()]
    return []


def _leads_to_folder(path: Path) -> bool:
    """Raises ``LocateError`` where nobody can say: what is not seen must not be taken for what is not there."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        if path.is_symlink():
            why = "a dangling symbolic link; is a file system not mounted?"
            raise LocateError(f"{path}: {why}") from None
        return False
    except OSError as err:
        raise LocateError(f"{path}: {err.strerror}; run as a user with access, or correct the link") from err


def _is_store(folder: Path) -> bool:
    """A folder with an address file, or with page files of its own."""
    from pagefmt.pages.paging import ADDRESS_FILE

    return any(name == ADDRESS_FILE or name.endswith(PAGE_SUFFIXES) for name in _names(folder))


def _holds_stores(folder: Path) -> bool:
    return any(
        not (folder / name).is_symlink() and (folder / name).is_dir() and _is_store(folder / name)
        for name in _names(folder)
    )


def _names(folder: Path) -> list[str]:
    try:
        with listed(folder) as entries:
            return sorted(entry.name for entry in entries)
    except OSError as err:
        raise LocateError(f"{folder}: {err.strerror}{_HINTS.get(str(err.strerror), '')}") from err
