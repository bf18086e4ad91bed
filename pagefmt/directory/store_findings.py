"""Findings about the folders of a paging directory, and what a broker does with them (docs/spec/page-files.md 2).

They are based on names, kinds of files, ``address.txt`` and folders of the same address. ``pages ls`` and ``pages
verify`` take their verdict from here. Pages are read only if one is overlooked, or if an address may have lost
characters.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Final

from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page import open_page
from pagefmt.directory.paging import ADDRESS_FILE, EntryKind, PagingDirectory, Store, StoreEntry
from pagefmt.findings import Finding, Severity, about_data

PAGES_ASKED: Final = 8


class StoreFault(StrEnum):
    """The rules; the value is public."""

    BAD_NAME = "bad-page-name"
    OVERLOOKED = "overlooked-page"
    SPECIAL = "special-file"
    PUT_ASIDE = "put-aside-page"
    FOREIGN = "foreign-file"
    NO_ADDRESS = "no-address"
    CHARSET = "address-charset"
    LOSSY = "address-lossy"
    DUPLICATE = "duplicate-store"
    REPLICA = "replica-left-over"
    STRAY = "stray-file"
    EMPTY_PAGE = "empty-page"
    UNLISTED = "folder-unreadable"
    FAR = "page-out-of-reach"


# all other faults are warnings
_SEVERITIES = {
    StoreFault.BAD_NAME: Severity.ERROR,
    StoreFault.OVERLOOKED: Severity.ERROR,
    StoreFault.SPECIAL: Severity.ERROR,
    StoreFault.NO_ADDRESS: Severity.ERROR,
    StoreFault.DUPLICATE: Severity.ERROR,
    StoreFault.UNLISTED: Severity.ERROR,
    StoreFault.FOREIGN: Severity.INFO,
    StoreFault.REPLICA: Severity.INFO,
    StoreFault.STRAY: Severity.INFO,
}


def _finding(store: str, file: str, fault: StoreFault, detail: str) -> Finding:
    """Return a finding. ``store`` is empty for entries beside the folders, ``file`` for the folder itself."""
    place = f"store {store}" if store else "paging directory"
    severity = _SEVERITIES.get(fault, Severity.WARNING)
    return about_data(severity, fault.value, f"{place}, {file}" if file else place, detail)


_ENTRIES = {
    EntryKind.BAD_NAME: (StoreFault.BAD_NAME, "ends in .page but is not a page: the broker does not start"),
    EntryKind.OVERLOOKED: (
        StoreFault.OVERLOOKED,
        "counts as page {number} but is never opened under this name: {messages} messages in it are not delivered",
    ),
    EntryKind.SPECIAL: (StoreFault.SPECIAL, "not a regular file: it is not read"),
    EntryKind.PUT_ASIDE: (StoreFault.PUT_ASIDE, "a damaged page that a broker set aside: never read again"),
    EntryKind.FOREIGN: (StoreFault.FOREIGN, "the broker ignores it, but deletes it with the folder"),
}


def every_page(number: int) -> bool:
    """Select every page number."""
    return True


def store_findings(
    store: Store, addresses: Collection[str] = (), is_selected: Callable[[int], bool] = every_page
) -> Iterator[Finding]:
    """Yield findings about one folder: its address, its entries, empty pages.

    ``addresses``: of all queues. ``asked`` selects the page numbers to report on.
    """
    if not store.permitted:
        pass  # nothing is known of it, and nothing is wrong with it
    elif store.problem is not None:
        yield _finding(store.name, "", StoreFault.UNLISTED, f"{store.problem}: nothing in it was read")
    elif store.from_replica:
        yield _finding(store.name, "", StoreFault.REPLICA, "left by a replication backup; the broker skips it")
    elif not store.text.permitted:
        pass  # nothing is known of its address
    elif store.address is None:
        detail = f"{store.text.problem}: the broker skips the folder, its messages are not delivered"
        yield _finding(store.name, "", StoreFault.NO_ADDRESS, detail)
    else:
        yield from _address_findings(store, store.address, addresses)
    for entry in store.others:
        if entry.number is None or is_selected(entry.number):
            yield from _entry_finding(store, entry)
    if far := store.out_of_reach:
        before = store.pages[-len(far) - 1].number
        detail = (
            f"the page before it is {before}: at start, a broker looks for each number in between and delivers "
            "nothing meanwhile; 'pagectl pages salvage' gives closer numbers to it and to the pages after it"
        )
        yield _finding(store.name, far[0].name, StoreFault.FAR, detail)
    for page in store.pages[:-1]:
        if page.size == 0 and is_selected(page.number):
            detail = "empty page between others: in old brokers it prevents the deletion of the pages after it"
            yield _finding(store.name, page.name, StoreFault.EMPTY_PAGE, detail)


def _address_findings(store: Store, address: str, addresses: Collection[str]) -> Iterator[Finding]:
    if store.text.fallback:
        detail = "address.txt is not UTF-8: read as ISO-8859-1; a broker with another character set sees another name"
        yield _finding(store.name, "address.txt", StoreFault.CHARSET, detail)
    elif "?" in address and address not in addresses:
        for other in sorted({*addresses, *_addresses_in(store)} - {address}):
            if address not in (_without_utf8(other, "?"), _without_utf8(other, "??")):
                continue
            detail = f"this is {other!r} as written by a broker without UTF-8; other brokers deliver nothing from here"
            yield _finding(store.name, "address.txt", StoreFault.LOSSY, detail)


def _without_utf8(address: str, replacement: str) -> str:
    """Return the address as a JVM with the ASCII character set writes it.

    ASCII characters stay. Others become ``?``, and those outside the BMP become ``replacement``: ``?``, or ``??`` from
    a JVM that replaces each surrogate.
    """
    marks = ("?" if ord(character) < 0x10000 else replacement for character in address)
    return "".join(character if character.isascii() else mark for character, mark in zip(address, marks, strict=True))


def _addresses_in(store: Store) -> set[str]:
    """Return the addresses in the first records of its first pages."""
    addresses = set()
    for page in store.pages[:PAGES_ASKED]:
        with open_page(page) as opened:
            for _, record in islice(opened.records(), 1):
                address = None if isinstance(record, Damage) else getattr(record.message, "address", None)
                addresses.add(str(address or ""))
    return addresses


def _entry_finding(store: Store, entry: StoreEntry) -> Iterator[Finding]:
    fault_and_detail = _ENTRIES.get(entry.kind)
    if fault_and_detail is not None and entry.name != ADDRESS_FILE:
        fault, detail = fault_and_detail
        messages = _messages(store.folder / entry.name) if entry.kind is EntryKind.OVERLOOKED else 0
        yield _finding(store.name, entry.name, fault, detail.format(number=entry.number, messages=messages))


def entry_findings(store: Store) -> Iterator[tuple[StoreEntry, Finding]]:
    """Yield the entries of a store folder whose messages no broker delivers, or that are not read, and why."""
    for entry in store.others:
        yield from (
            (entry, finding) for finding in _entry_finding(store, entry) if finding.severity is not Severity.INFO
        )


def _messages(path: Path) -> int:
    """Return the number of records in a page that no broker opens."""
    with open_page(path) as opened:
        return sum(1 for _ in opened.routes())


def paging_findings(paging: PagingDirectory, same_address: dict[str, list[str]]) -> Iterator[Finding]:
    """Yield findings about stray entries and shared addresses. ``same_address``: see ``same_addresses``."""
    for name in paging.strays:
        detail = "no folder: the broker logs a warning at each start"
        yield _finding("", name, StoreFault.STRAY, detail)
    for address, folders in sorted(same_address.items()):
        for name in folders:
            kept = (
                "the broker uses this one"
                if name == folders[-1]
                else f"its messages are not delivered ({folders[-1]} is used)"
            )
            yield _finding(name, "", StoreFault.DUPLICATE, f"{len(folders)} folders are for {address!r}: {kept}")
