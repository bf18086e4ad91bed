"""What an operator's path is: an instance, a data directory, one of its parts, or a journal by itself.

The four directories (paging, journal, bindings, large messages) may be links themselves; no link below them is
followed. If a configuration moved them, the caller says where they are: no XML is read here.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pagefmt.errors import PageFmtError

if TYPE_CHECKING:
    from pagefmt.codec.pages.page_file import PageFile
    from pagefmt.directory.paging import Store
    from pagefmt.journal.files import Journal

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
# what to do about an error of the system; other errors say it themselves
_HINTS: Final = {
    os.strerror(errno.ENOENT): _NAME, os.strerror(errno.ENOTDIR): _NAME,
    os.strerror(errno.EACCES): "; run as a user who may read it",
}  # fmt: skip
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
    JOURNAL = "a folder of journal files alone"
    JOURNAL_FILE = "a single journal file"

    @property
    def is_journal(self) -> bool:
        """Return whether journal files are read by themselves, without pages."""
        return self in (LocationKind.JOURNAL, LocationKind.JOURNAL_FILE)

    @property
    def is_part(self) -> bool:
        """Return whether only a part of what belongs together is read: a store, a page, or journal files."""
        return self.is_journal or self in (LocationKind.STORE, LocationKind.PAGE)


class DataLocation(NamedTuple):
    """The directories of a broker; None if missing. ``store`` and ``page`` narrow the paging directory to one of them.

    Of journal files by themselves ``journal`` or ``bindings`` is what was given, a folder or a file. ``obvious`` is
    False if the operator should be told how the path was understood.
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
        """Return the directories that are read."""
        folders = (self.paging, self.journal, self.bindings, self.large_messages, self.store)
        return [folder for folder in folders if folder is not None]

    @property
    def has_names_beside(self) -> bool:
        """Return whether the bindings only name the queues of journal files that are read by themselves."""
        return self.kind.is_journal and self.journal is not None and self.bindings != self.journal

    def call(self, command: str) -> str:
        """Return the command with the path that was given, as a shell takes it."""
        import shlex

        return f"pagectl {command} {shlex.quote(str(self.given))}"


def configuration_in(path: Path) -> Path | None:
    """Return the configuration of an instance, or None if ``path`` is no instance."""
    return next((path / name for name in CONFIGURATIONS if _is_file(path / name)), None)


def locate(path: Path) -> DataLocation:
    """Identify ``path`` by the names below it, without reading a configuration. Raise ``LocateError``."""
    mode = _mode(path)
    if stat.S_ISREG(mode) and not _is_folder_too(path):
        return _page(path)
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise LocateError(f"{path}: neither a folder nor a regular file; name a broker's data directory or a page file")
    return _folder(path)


def new_names(roots: Mapping[str, Path], *, since_2: bool = False) -> dict[str, str]:
    """Return the names of the directories in a new data directory.

    They keep the names of the source, so that the same broker finds them. A directory that is missing, or has a name
    that only a configuration gives, gets the usual name of the same layout. ``since_2``: the new broker is not that of
    EAP 6.
    """
    old = {root.name for root in roots.values()} & _EAP_6
    names_by_kind = {kind: names[-1 if old and not since_2 else 0] for kind, names in LAYOUT.items()}
    for kind, root in roots.items():
        if root.name in LAYOUT[kind] and not (since_2 and root.name in old):
            names_by_kind[kind] = root.name
    return names_by_kind


def stores(place: DataLocation) -> Iterator[Store]:
    """Yield the stores of a place by folder name; only one, or one with a single page, if the place names that."""
    from pagefmt.directory.paging import ADDRESS_FILE, Store, open_paging, read_address, read_store

    if place.page is not None:
        folder = place.store or place.page.absolute().parent
        yield Store(folder, read_address(folder / ADDRESS_FILE), (_single(place.page),), ())
    elif place.store is not None:
        yield read_store(place.store)
    elif place.paging is not None:
        yield from open_paging(place.paging).stores()


def _single(path: Path) -> PageFile:
    """Return the page file, whatever its name; its number is 0 if the name has none."""
    from pagefmt.codec.pages.page_file import PageFile

    digits = re.match(r"\d+", path.name)
    return PageFile(int(digits.group()) if digits else 0, path.parent, path.name, path.stat().st_size)


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except OSError as err:
        why = err.strerror or str(err)
        raise LocateError(f"{path}: {why}{_HINTS.get(why, '')}") from err


def _is_folder_too(path: Path) -> bool:
    """Return whether a name in an object store is a folder although an object has it: tools create such markers."""
    from pagefmt.storage.remote_paths import FarPath

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
    from pagefmt.journal.files import journal_of
    from pagefmt.storage.file_trees import ARCHIVES
    from pagefmt.storage.files import packed_form

    if path.suffix == ".xml":
        raise LocateError(f"{path}: a configuration, not data; name the instance, or give this file with --config")
    if (journal := journal_of(path.name)) is not None:
        return _journals(path, path.absolute().parent, LocationKind.JOURNAL_FILE, {journal})
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
    from pagefmt.journal.files import journal_of
    from pagefmt.storage.remote_paths import FarPath

    if _is_store(path):
        return _beside(path.absolute().parent)._replace(given=path, kind=LocationKind.STORE, store=path, obvious=False)
    for data in (path, path / "data"):
        if _first(data, PAGING_NAMES + JOURNAL_NAMES + BINDINGS_NAMES) is not None:
            _refuse_two_layouts(path)
            return within(data)._replace(given=path, obvious=data is path)
    if path.name in PAGING_NAMES or _holds_stores(path):
        return _beside(path)._replace(given=path, kind=LocationKind.PAGING, obvious=path.name in PAGING_NAMES)
    if journals := {journal_of(name) for name in _names(path)} - {None}:
        return _journals(path, path.absolute(), LocationKind.JOURNAL, journals)
    if isinstance(path, FarPath) and path.in_archive:
        names = [name for name in _names(path) if (path / name).is_dir()]
        if len(names) == 1:
            return _folder(path / names[0])._replace(given=path, obvious=False)
        if names:
            raise LocateError(
                f"{path}: no broker's data directory; name one of the directories in it, such as {path / names[0]}"
            )
    raise LocateError(
        f"{path}: no paging, journal or bindings folder, no store with an address.txt, no page file and no journal "
        "file in it; name a broker instance, a data directory, a paging directory, a store folder, a page file, a "
        "folder of journal files or a journal file"
    )


def _journals(path: Path, folder: Path, kind: LocationKind, journals: Collection[Journal | None]) -> DataLocation:
    """Return journal files by themselves, with bindings and large messages of the data directory that they belong to.

    A journal lies in its data directory, an attic in its journal, a retention folder usually beside the data directory.
    Bindings are read for names of queues alone unless they were given.
    """
    from pagefmt.journal.files import Journal

    messages, names = Journal.MESSAGES in journals, {Journal.BINDINGS, Journal.JMS} & {*journals}
    bindings: Path | None = path if names else None
    large: Path | None = None
    for data in (folder.parent, folder.parent / "data", folder.parent.parent):
        beside = within(data)
        if beside.bindings is not None and beside.bindings != folder:
            bindings, large = bindings or beside.bindings, beside.large_messages
            break
    return DataLocation(path, kind, None, path if messages else None, bindings, large, obvious=False)


def _refuse_two_layouts(path: Path) -> None:
    """Raise ``LocateError`` if a folder contains the pages of two brokers."""
    paging_folders = [data / name for data in (path, path / "data") for name in _folders(data, PAGING_NAMES)]
    if len(paging_folders) > 1 and all(map(_holds_stores, paging_folders)):
        raise LocateError(f"{path}: pages in {paging_folders[0]} and in {paging_folders[1]}; name one of them")


def within(data: Path) -> DataLocation:
    """Return the directories of a data directory by their usual names."""
    return DataLocation(
        data,
        LocationKind.DATA,
        _first(data, PAGING_NAMES),
        _first(data, JOURNAL_NAMES),
        _first(data, BINDINGS_NAMES),
        _first(data, LARGE_NAMES),
    )


def _beside(paging: Path) -> DataLocation:
    """Return the directories next to a paging directory."""
    return within(paging.absolute().parent)._replace(paging=paging)


def _first(folder: Path, names: tuple[str, ...]) -> Path | None:
    folders = _folders(folder, names)
    return next((folder / name for name in names if name in folders), None)


def _folders(folder: Path, names: tuple[str, ...]) -> list[str]:
    """Return the names that are folders, or links to folders.

    Below a URL, where each question would be a request, the parent is listed once.
    """
    from pagefmt.storage.remote_paths import FarPath

    if not isinstance(folder, FarPath):
        return [name for name in names if _leads_to_folder(folder / name)]
    with suppress(FileNotFoundError):
        entries = [entry for entry in folder.entries() if entry.name in names]
        for entry in entries:
            if entry.is_symlink():
                why = "a symbolic link, which is not followed there; put what it leads to into the archive (tar -h)"
                raise LocateError(f"{folder / entry.name}: {why}")
        return [entry.name for entry in entries if entry.is_dir()]
    return []


def _leads_to_folder(path: Path) -> bool:
    """Return whether a path is a folder. Raise ``LocateError`` if unknown, so that hidden is not taken for absent."""
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
    """Return whether a folder has an address file, or page files of its own."""
    from pagefmt.directory.paging import ADDRESS_FILE

    return any(name == ADDRESS_FILE or name.endswith(PAGE_SUFFIXES) for name in _names(folder))


def _holds_stores(folder: Path) -> bool:
    return any(
        not (folder / name).is_symlink() and (folder / name).is_dir() and _is_store(folder / name)
        for name in _names(folder)
    )


def _names(folder: Path) -> list[str]:
    from pagefmt.storage.files import listed

    try:
        with listed(folder) as entries:
            return sorted(entry.name for entry in entries)
    except OSError as err:
        raise LocateError(f"{folder}: {err.strerror}{_HINTS.get(str(err.strerror), '')}") from err
