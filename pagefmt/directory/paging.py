"""The paging directory: a folder for each address that ever paged (docs/spec/page-files.md 2).

    <paging>/<store folder>/address.txt        the address, one line in the character set of the broker's JVM
                            000000001.page     pages; gaps are legal
                            …page.invalidPage  put aside by the broker

Folder names mean nothing. What a broker skips, refuses or overlooks is only listed here; ``pagefmt.check`` judges it.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

from pagefmt.codec.pages.page_file import PageFile
from pagefmt.storage.files import FileGone, NotPermitted, NotReadable, listed, not_listed, read_start

ADDRESS_FILE: Final = "address.txt"
PUT_ASIDE: Final = ".invalidPage"
ADDRESS_LIMIT: Final = 1 << 20
LARGEST_NUMBER: Final = (1 << 31) - 1
# in a wider gap of page numbers, a starting broker tries each number and delivers nothing meanwhile (6.1)
WITHIN_REACH: Final = 10_000


class EntryKind(StrEnum):
    """What a broker takes an entry of a store folder for.

    ``bad-name`` keeps a broker from starting; ``overlooked`` counts as a page but is never opened.
    """

    PAGE = "page"
    BAD_NAME = "bad-name"
    OVERLOOKED = "overlooked"
    PUT_ASIDE = "put-aside"
    ADDRESS = "address"
    FOREIGN = "foreign"
    SPECIAL = "special"


class StoreEntry(NamedTuple):
    """Something in a store folder. ``number`` of pages, and of what the broker counts as one."""

    name: str
    kind: EntryKind
    size: int | None
    number: int | None = None

    @property
    def is_linked_page(self) -> bool:
        """Return whether this is a link, pipe or device named like a page: a broker follows links, pagectl does not."""
        return self.kind is EntryKind.SPECIAL and self.number is not None


class AddressText(NamedTuple):
    """The content of an ``address.txt``.

    ``address``: None if there is none; ``problem`` then says why. ``fallback``: not UTF-8, read as ISO-8859-1.
    ``unseen``: the file may name an address, but cannot be read; ``permitted``: False if for lack of rights.
    """

    address: str | None
    fallback: bool = False
    problem: str | None = None
    unseen: bool = False
    permitted: bool = True


class Store(NamedTuple):
    """One folder. ``pages`` in rising order, ``others`` by name. ``problem``: why it cannot be listed.

    ``permitted``: False if that is because this user may not read it.
    """

    folder: Path
    text: AddressText
    pages: tuple[PageFile, ...]
    others: tuple[StoreEntry, ...]
    problem: str | None = None
    permitted: bool = True

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def address(self) -> str | None:
        """Return the address in ``address.txt``, or None."""
        return self.text.address

    @property
    def hides_address(self) -> bool:
        """Return whether this user may not read the store's address."""
        return self.address is None and not (self.permitted and self.text.permitted)

    @property
    def from_replica(self) -> bool:
        """Return whether a replication backup left the folder behind.

        It has no address, and a name that makes a broker skip it without a warning.
        """
        return self.address is None and "oldreplica." in self.name

    @property
    def out_of_reach(self) -> tuple[PageFile, ...]:
        """Return the pages after a gap in the numbers that is wider than a broker skips at once."""
        for at, (page, next_page) in enumerate(pairwise(self.pages)):
            if next_page.number - page.number > WITHIN_REACH:
                return self.pages[at + 1 :]
        return ()

    @property
    def first_page(self) -> int | None:
        """Return the lowest page number, or None."""
        return self.pages[0].number if self.pages else None

    @property
    def current_page(self) -> int | None:
        """Return the highest page number, that of the page that a broker writes to, or None."""
        return self.pages[-1].number if self.pages else None


class PagingDirectory(NamedTuple):
    """The listing of a paging directory.

    ``strays``: entries that are no folders. ``listing``: folder names in the system's order, as the broker sees them.
    ``links``: symbolic links; a broker reads the store that one leads to, pagectl follows none. ``closed``: why this
    user may not read the directory; empty otherwise.
    """

    path: Path
    listing: tuple[str, ...]
    strays: tuple[str, ...]
    links: tuple[str, ...] = ()
    closed: str = ""

    def stores(self) -> Iterator[Store]:
        """Yield the stores in the order of their folder names. A folder deleted since the listing is left out.

        They are read one at a time, because there may be hundreds of thousands. A ``closed`` directory, which has no
        listing, yields a single unreadable store with its own path.
        """
        if self.closed:
            yield Store(self.path, AddressText(None, problem=self.closed), (), (), self.closed, permitted=False)
        for name in sorted((*self.listing, *self.links)):
            with suppress(FileGone):
                yield linked_store(self.path / name) if name in self.links else read_store(self.path / name)


def read_paging(path: Path) -> PagingDirectory:
    """List a paging directory without following symbolic links. Raise ``NotReadable``."""
    folders: list[str] = []
    strays: list[str] = []
    links: list[str] = []
    try:
        with listed(path) as entries:
            for entry in entries:
                others = links if entry.is_symlink() else strays
                (folders if entry.is_dir(follow_symlinks=False) else others).append(entry.name)
    except OSError as err:
        raise not_listed(path, err) from err
    return PagingDirectory(path, tuple(folders), tuple(sorted(strays)), tuple(sorted(links)))


def open_paging(path: Path) -> PagingDirectory:
    """List a paging directory; one that this user may not read becomes a ``closed`` one. Raise ``NotReadable``."""
    try:
        return read_paging(path)
    except NotPermitted as err:
        return PagingDirectory(path, (), (), closed=str(err))


def linked_store(link: Path) -> Store:
    """Return a placeholder for a store folder that is a symbolic link, whose contents are unknown."""
    problem = f"{link.name} is a symbolic link, which a broker follows but pagectl does not: give its target as DIR"
    return Store(link, AddressText(None, problem=problem), (), (), problem)


def read_store(folder: Path) -> Store:
    """Read a store folder. One that cannot be listed says why in ``problem``. Raise ``FileGone`` if it disappeared."""
    pages, others, problem, permitted = [], [], None, True
    try:
        for listed_entry, _ in store_entries(folder):
            if (
                listed_entry.kind is EntryKind.PAGE
                and listed_entry.number is not None
                and listed_entry.size is not None
            ):
                pages.append(PageFile(listed_entry.number, folder, listed_entry.name, listed_entry.size))
            else:
                others.append(listed_entry)
    except FileGone:
        raise
    except NotReadable as err:
        problem, permitted = str(err), not isinstance(err, NotPermitted)
    pages.sort(key=lambda page: page.number)
    others.sort(key=lambda entry: entry.name)
    return Store(folder, read_address(folder / ADDRESS_FILE), tuple(pages), tuple(others), problem, permitted)


def store_entries(folder: Path) -> Iterator[tuple[StoreEntry, os.stat_result]]:
    """Yield every entry of a store folder, in the system's order, with its status.

    Raise ``FileGone`` if the folder is gone, and ``NotReadable`` if listing it fails, possibly after some entries.
    """
    try:
        with listed(folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # a running broker deleted it meanwhile
                    status = entry.stat(follow_symlinks=False)
                    yield classify(entry.name, status), status
    except OSError as err:
        if err.errno == errno.ENOENT:
            raise FileGone(f"{folder}: cannot be listed: {err.strerror or err}") from err
        refused = not_listed(folder, err)
        raise type(refused)(f"folder {folder.name}: {refused.reason}", refused.reason) from err


def newest_page(folder: Path) -> int | None:
    """Return the highest page number among the names in a folder; None if there is none, or no readable folder."""
    with suppress(OSError), listed(folder) as entries:
        numbers = (java_number(entry.name) for entry in entries if entry.name.endswith(".page"))
        return max((number for number in numbers if number is not None), default=None)
    return None


def page_name(number: int) -> str:
    """Return the file name for a page number."""
    return f"{number:09d}.page"


def java_number(name: str) -> int | None:
    """Return the number before the first dot as the broker parses it; None if the broker refuses it."""
    digits = name[: name.index(".")]
    if not re.fullmatch(r"[+-]?\d+", digits):
        return None
    number = int(digits)
    return number if -LARGEST_NUMBER <= number <= LARGEST_NUMBER else None


def classify(name: str, status: os.stat_result) -> StoreEntry:
    """Return what a broker takes an entry of a store folder for (2.3)."""
    regular = stat.S_ISREG(status.st_mode)
    size = status.st_size if regular else None
    if name.endswith(".page"):
        number = java_number(name)
        if number is None or stat.S_ISDIR(status.st_mode):
            return StoreEntry(name, EntryKind.BAD_NAME, size)
        if not regular:
            return StoreEntry(name, EntryKind.SPECIAL, None, number)
        kind = EntryKind.PAGE if number > 0 and name == page_name(number) else EntryKind.OVERLOOKED
        return StoreEntry(name, kind, size, number)
    if not regular:
        return StoreEntry(name, EntryKind.FOREIGN if stat.S_ISDIR(status.st_mode) else EntryKind.SPECIAL, None)
    if name == ADDRESS_FILE:
        return StoreEntry(name, EntryKind.ADDRESS, size)
    return StoreEntry(name, EntryKind.PUT_ASIDE if name.endswith(PUT_ASIDE) else EntryKind.FOREIGN, size)


def read_address(path: Path) -> AddressText:
    """Return the first line of an ``address.txt`` without its line end, or why there is none.

    White space stays (2.2).
    """
    try:
        raw = read_start(path, ADDRESS_LIMIT)
    except FileGone:
        return AddressText(None, problem=f"there is no {ADDRESS_FILE}")
    except NotReadable as err:
        return AddressText(None, problem=str(err), unseen=True, permitted=not isinstance(err, NotPermitted))
    if not raw:
        return AddressText(None, problem=f"{ADDRESS_FILE} is empty")
    line = re.split(rb"\r\n|\n|\r", raw, maxsplit=1)[0]
    try:
        return AddressText(line.decode("utf-8"))
    except UnicodeDecodeError:
        return AddressText(line.decode("latin-1"), fallback=True)


def same_addresses(paging: PagingDirectory) -> dict[str, list[str]]:
    """Return the addresses that several folders name, with these in listing order. A broker keeps the last (2.1)."""
    return shared_addresses((name, read_address(paging.path / name / ADDRESS_FILE).address) for name in paging.listing)


def shared_addresses(folders: Iterable[tuple[str, str | None]]) -> dict[str, list[str]]:
    """Return the addresses with several folders, and their names, from (folder name, address) in listing order."""
    folders_by_address: dict[str, list[str]] = {}
    for name, address in folders:
        if address is not None:
            folders_by_address.setdefault(address, []).append(name)
    return {address: names for address, names in folders_by_address.items() if len(names) > 1}
