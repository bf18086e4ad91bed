"""The paging directory: a folder for each address that ever paged (docs/spec/page-files.md 2).

    <paging>/<store folder>/address.txt        the address, one line in the character set of the broker's JVM
                            000000001.page     pages; holes are legal
                            …page.invalidPage  put aside by the broker

Folder names mean nothing. What a broker skips, refuses or overlooks is named here as it is; who judges it is
``verification``.
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

from pagefmt.bytes.files import FileGone, NotPermitted, NotReadable, listed, not_listed, read_start

ADDRESS_FILE: Final = "address.txt"
PUT_ASIDE: Final = ".invalidPage"
ADDRESS_LIMIT: Final = 1 << 20
LARGEST_NUMBER: Final = (1 << 31) - 1
WITHIN_REACH: Final = 10_000
"""Page numbers: in a wider hole a broker that starts looks for each number and delivers nothing meanwhile (6.1)."""


class EntryKind(StrEnum):
    """``bad-name`` keeps a broker from starting; ``overlooked`` counts as a page but is never opened."""

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
        """A link, pipe or device under the name of a page: a broker follows a link, here none is read."""
        return self.kind is EntryKind.SPECIAL and self.number is not None


class PageFile(NamedTuple):
    """A page file with its number and size in bytes. A directory may hold very many of them."""

    number: int
    folder: Path
    name: str
    size: int

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self.folder / self.name


class AddressText(NamedTuple):
    """``address`` None: there is none. ``fallback``: not UTF-8, read as ISO-8859-1. ``problem``: why it has none.

    ``unseen``: the file may name one, and cannot be read; ``permitted``: False if for lack of rights.
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
        """The folder's name."""
        return self.folder.name

    @property
    def address(self) -> str | None:
        """The address that ``address.txt`` names."""
        return self.text.address

    @property
    def hides_address(self) -> bool:
        """Whether this user may not read for which address it is."""
        return self.address is None and not (self.permitted and self.text.permitted)

    @property
    def from_replica(self) -> bool:
        """Left by a replication backup: no address, and a name that lets a broker skip it without a warning."""
        return self.address is None and "oldreplica." in self.name

    @property
    def out_of_reach(self) -> tuple[PageFile, ...]:
        """Pages behind a hole that is wider than what a broker passes over at once."""
        for at, (one, two) in enumerate(pairwise(self.pages)):
            if two.number - one.number > WITHIN_REACH:
                return self.pages[at + 1 :]
        return ()

    @property
    def first_page(self) -> int | None:
        """The lowest page number."""
        return self.pages[0].number if self.pages else None

    @property
    def current_page(self) -> int | None:
        """The highest page number: the page that a broker writes to."""
        return self.pages[-1].number if self.pages else None


class PagingDirectory(NamedTuple):
    """``strays``: entries that are no folders. ``listing``: folder names in the system's order, as for the broker.

    ``links``: symbolic links. A broker reads the store that one leads to; here none is followed. ``closed``: why none
    of it is known, if this user may not read it; empty if he may.
    """

    path: Path
    listing: tuple[str, ...]
    strays: tuple[str, ...]
    links: tuple[str, ...] = ()
    closed: str = ""

    def stores(self) -> Iterator[Store]:
        """By folder name; read one at a time, there may be hundreds of thousands. One that went away is left out.

        The directory itself stands for the stores in it if it is ``closed``.
        """
        if self.closed:
            yield Store(self.path, AddressText(None, problem=self.closed), (), (), self.closed, permitted=False)
        for name in sorted((*self.listing, *self.links)):
            with suppress(FileGone):
                yield linked_store(self.path / name) if name in self.links else read_store(self.path / name)


def read_paging(path: Path) -> PagingDirectory:
    """Raises ``NotReadable``. Symbolic links below the directory are not followed."""
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
    """As ``read_paging``, but a directory that this user may not read is a ``closed`` one."""
    try:
        return read_paging(path)
    except NotPermitted as err:
        return PagingDirectory(path, (), (), closed=str(err))


def linked_store(link: Path) -> Store:
    """What stands for a store folder that is a symbolic link: nothing of it is known."""
    problem = f"{link.name} is a symbolic link, which a broker follows but pagectl does not: give its target as DIR"
    return Store(link, AddressText(None, problem=problem), (), (), problem)


def read_store(folder: Path) -> Store:
    """A folder that cannot be listed says why in ``problem``: it costs itself alone."""
    pages, others, problem, permitted = [], [], None, True
    try:
        for found, _ in store_entries(folder):
            if found.kind is EntryKind.PAGE and found.number is not None and found.size is not None:
                pages.append(PageFile(found.number, folder, found.name, found.size))
            else:
                others.append(found)
    except FileGone:
        raise
    except NotReadable as err:
        problem, permitted = str(err), not isinstance(err, NotPermitted)
    pages.sort(key=lambda page: page.number)
    others.sort(key=lambda entry: entry.name)
    return Store(folder, read_address(folder / ADDRESS_FILE), tuple(pages), tuple(others), problem, permitted)


def store_entries(folder: Path) -> Iterator[tuple[StoreEntry, os.stat_result]]:
    """Everything in a store folder, in the system's order. Raises ``FileGone``, and ``NotReadable`` on the way."""
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
    """The highest page number by the names in a folder; None where there is no page, or no folder that can be read."""
    with suppress(OSError), listed(folder) as entries:
        numbers = (java_number(entry.name) for entry in entries if entry.name.endswith(".page"))
        return max((number for number in numbers if number is not None), default=None)
    return None


def page_name(number: int) -> str:
    """The file name of a page number."""
    return f"{number:09d}.page"


def java_number(name: str) -> int | None:
    """The number before the first dot as the broker parses it; None where it refuses."""
    digits = name[: name.index(".")]
    if not re.fullmatch(r"[+-]?\d+", digits):
        return None
    number = int(digits)
    return number if -LARGEST_NUMBER <= number <= LARGEST_NUMBER else None


def classify(name: str, status: os.stat_result) -> StoreEntry:
    """What a broker takes an entry of a store folder for (2.3)."""
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
    """The first line, without its line end; nothing is trimmed (2.2)."""
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
    """Addresses named by several folders: those folders in listing order. A broker keeps the last one only (2.1)."""
    return shared_addresses((name, read_address(paging.path / name / ADDRESS_FILE).address) for name in paging.listing)


def shared_addresses(folders: Iterable[tuple[str, str | None]]) -> dict[str, list[str]]:
    """The same of (folder name, its address) in listing order."""
    found: dict[str, list[str]] = {}
    for name, address in folders:
        if address is not None:
            found.setdefault(address, []).append(name)
    return {address: names for address, names in found.items() if len(names) > 1}
