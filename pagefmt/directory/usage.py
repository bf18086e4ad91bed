"""Where the bytes of a broker's directories are: sizes alone, no file but ``address.txt`` is opened.

Made for a broker that is running and for hundreds of thousands of store folders: what disappears while it is counted
is left out, links are counted but never followed. ``bytes`` are the files' sizes, ``on_disk`` what the file system has
set aside for them (journal files are written in advance, pages may end in a block half used).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pagefmt.directory.paging import ADDRESS_FILE, read_address
from pagefmt.storage.files import NotPermitted, not_listed

BLOCK: Final = 512
Counted = Callable[[int], None]


@dataclass(slots=True)
class FileTotals:
    """Files, their sizes, and what the file system has set aside for them."""

    files: int = 0
    bytes: int = 0
    on_disk: int = 0

    def add(self, status: os.stat_result) -> None:
        self.files += 1
        self.bytes += status.st_size
        self.on_disk += status.st_blocks * BLOCK

    def take(self, other: FileTotals) -> None:
        self.files += other.files
        self.bytes += other.bytes
        self.on_disk += other.on_disk


@dataclass(slots=True)
class AddressUsage:
    """One store folder, or an address that has none but owns large messages (``folder`` None)."""

    address: str | None
    folder: str | None
    pages: FileTotals = field(default_factory=FileTotals)
    other: FileTotals = field(default_factory=FileTotals)
    large: FileTotals = field(default_factory=FileTotals)

    @property
    def bytes(self) -> int:
        """File sizes of pages, other files and large messages."""
        return self.pages.bytes + self.other.bytes + self.large.bytes

    @property
    def on_disk(self) -> int:
        """Allocated bytes of pages, other files and large messages."""
        return self.pages.on_disk + self.other.on_disk + self.large.on_disk


@dataclass(slots=True)
class DirectoryUsage:
    """The sizes of everything in a broker's directories. ``rest``: other data of the instance, by first folder or file.

    ``unreadable``: what the system could not read; ``closed``: what this user may not list. Large messages are counted
    in ``large``, and those with a known address also in its row.
    """

    addresses: list[AddressUsage] = field(default_factory=list)
    strays: FileTotals = field(default_factory=FileTotals)
    journal: FileTotals = field(default_factory=FileTotals)
    bindings: FileTotals = field(default_factory=FileTotals)
    large: FileTotals = field(default_factory=FileTotals)
    rest: dict[str, FileTotals] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)
    closed: list[Path] = field(default_factory=list)

    @property
    def paging(self) -> FileTotals:
        """Everything in the paging directory."""
        total = FileTotals()
        for address in self.addresses:
            total.take(address.pages)
            total.take(address.other)
        total.take(self.strays)
        return total

    @property
    def total(self) -> FileTotals:
        """Everything that was counted."""
        total = self.paging
        for part in (self.journal, self.bindings, self.large, *self.rest.values()):
            total.take(part)
        return total


def count_stores(paging: Path, usage: DirectoryUsage, counted: Counted) -> None:
    """Return the sizes of every store folder; ``counted`` is called with the number of finished folders."""
    for entry in _entries(os.fspath(paging), usage):
        if entry.is_dir(follow_symlinks=False):
            usage.addresses.append(_store(entry.path, entry.name, usage))
            counted(1)
        else:
            _add(usage.strays, entry, usage)


def count_store(folder: Path, usage: DirectoryUsage) -> AddressUsage:
    """Return the sizes of pages and other files in one store folder."""
    return _store(os.fspath(folder), folder.name, usage)


def _store(folder: str, name: str, usage: DirectoryUsage) -> AddressUsage:
    address_usage = AddressUsage(None, name)
    named = False
    for entry in _entries(folder, usage):
        named = named or entry.name == ADDRESS_FILE
        if entry.is_dir(follow_symlinks=False):
            address_usage.other.take(count_tree(entry.path, usage))
        else:
            _add(address_usage.pages if entry.name.endswith(".page") else address_usage.other, entry, usage)
    if named:
        address_usage.address = read_address(Path(f"{folder}/{ADDRESS_FILE}")).address
    return address_usage


def count_tree(folder: str, usage: DirectoryUsage, skip: frozenset[str] = frozenset()) -> FileTotals:
    """Everything below a folder but the folders in ``skip`` (resolved paths)."""
    amount, waiting = FileTotals(), [folder]
    while waiting:
        for entry in _entries(waiting.pop(), usage):
            if not entry.is_dir(follow_symlinks=False):
                _add(amount, entry, usage)
            elif os.path.realpath(entry.path) not in skip:
                waiting.append(entry.path)
    return amount


def count_rest(root: Path, usage: DirectoryUsage, skip: frozenset[str], counted: Counted) -> None:
    """Add the other files of an instance, by the first name below ``root`` (below ``data`` by the second)."""
    for entry in _entries(os.fspath(root), usage):
        if not entry.is_dir(follow_symlinks=False):
            _add(usage.rest.setdefault("files", FileTotals()), entry, usage)
        elif os.path.realpath(entry.path) not in skip:
            for name, path in _parts(entry.name, entry.path, usage, skip):
                usage.rest[name] = count_tree(path, usage, skip)
                counted(1)


def _parts(name: str, path: str, usage: DirectoryUsage, skip: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield name and path of a folder, or of its sub-folders if one of them is in ``skip``."""
    if not any(os.path.dirname(counted) == os.path.realpath(path) for counted in skip):  # noqa: PTH120
        yield name, path
        return
    loose = FileTotals()
    for entry in _entries(path, usage):
        if not entry.is_dir(follow_symlinks=False):
            _add(loose, entry, usage)
        elif os.path.realpath(entry.path) not in skip:
            yield f"{name}/{entry.name}", entry.path
    if loose.files:
        usage.rest[f"{name}/files"] = loose


def _entries(folder: str, usage: DirectoryUsage) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except FileNotFoundError:
        return
    except OSError as err:
        _unread(usage, Path(folder), err)


def _add(amount: FileTotals, entry: os.DirEntry[str], usage: DirectoryUsage) -> None:
    try:
        amount.add(entry.stat(follow_symlinks=False))
    except FileNotFoundError:
        return
    except OSError as err:
        _unread(usage, Path(entry.path), err)


def _unread(usage: DirectoryUsage, path: Path, err: OSError) -> None:
    if isinstance(problem := not_listed(path, err), NotPermitted):
        usage.closed.append(path)
    else:
        usage.unreadable.append(str(problem))
