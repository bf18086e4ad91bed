"""Whose a store is: what its folder says, unless its records say better.

A broker delivers nothing of a folder that names no address, or one that none of the ids in its records is a queue of.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from pagefmt.ahead import one_ahead
from pagefmt.bytes.wire import Undecodable
from pagefmt.pages.page import open_page
from pagefmt.pages.paging import EntryKind, Store, StoreEntry
from pagefmt.pages.record import FRAME, decode_record
from pagefmt.salvage.segments import broker_decodes

STRAYS: Final = (EntryKind.PUT_ASIDE, EntryKind.OVERLOOKED, EntryKind.BAD_NAME)
"""Page files that a broker does not open as such: put aside, or under a name that it does not look for."""


@dataclass(slots=True)
class StoreLook:
    """A store after one walk over it. ``sound``: a broker opens and reads all of its files to their last byte."""

    store: Store
    sound: bool = True
    messages: int = 0
    queues: set[int] = field(default_factory=set)


def look_at(stores: Sequence[Store], jobs: int) -> Iterator[StoreLook]:
    """Read every page of the stores once."""
    files = [page_files(store) for store in stores]
    every = [path for each in files for path in each]
    with one_ahead(page_ids, every, (path.lstat().st_size for path in every), jobs) as read:
        for store, paths in zip(stores, files, strict=True):
            found = StoreLook(store)
            for path in paths:
                ids = read(path)
                found.sound = found.sound and ids.sound
                found.messages += len(ids.messages) if ids.sound else 0
                found.queues |= ids.queues
            found.sound = found.sound and not any(strays(store)) and not any(specials(store)) and not store.out_of_reach
            yield found


def strays(store: Store) -> Iterator[StoreEntry]:
    """Page files that a broker does not open."""
    return (entry for entry in store.others if entry.kind in STRAYS and entry.size is not None)


def specials(store: Store) -> Iterator[StoreEntry]:
    """What has the name of a page and is no file."""
    return (entry for entry in store.others if entry.number is not None and entry.size is None)


def page_files(store: Store) -> list[Path]:
    """Pages and strays."""
    return [*(page.path for page in store.pages), *(store.folder / entry.name for entry in strays(store))]


class PageIds(NamedTuple):
    """Ids of the messages of a page, and of their queues. ``sound``: a broker reads it to its last byte."""

    messages: array[int]
    queues: set[int]
    sound: bool


def page_ids(path: Path) -> PageIds:
    """Up to where a page can be read."""
    ids, queues = array("q"), set[int]()
    with open_page(path) as opened:
        decoded, layout = True, opened.layout()
        for route in opened.routes():
            decoded = decoded and broker_decodes(opened.buf, route[1], route[2], layout)
            if route[6]:
                ids.append(route[5])
                queues.update(route[6])
        return PageIds(ids, queues, decoded and opened.damage is None and opened.odd is None)


def owner(found: StoreLook, bound: Mapping[int, str] | None) -> str | None:
    """The address that a broker has to find in the folder. ``bound``: queue id → address, None if that is not known.

    The address whose queues the records name; else the folder's, if queues of it exist; else the records'.
    """
    said = found.store.address
    voted = {bound[queue] for queue in found.queues if queue in bound} if bound is not None else set()
    if said in voted or (not voted and bound is not None and said in bound.values()):
        return said
    if len(voted) == 1:
        return voted.pop()
    named = address_of(found.store)
    if said is None or not said.strip() or named in (voted or set((bound or {}).values())):
        return named if named is not None else said
    return said


def address_of(store: Store) -> str | None:
    """The address that the first records of its pages name, if it is one."""
    first = []
    for path in page_files(store):
        with open_page(path) as page:
            first += [bytes(page.buf[at : at + FRAME + length]) for _, at, length, *_ in islice(page.routes(), 1)]
    return named_by(first)


def named_by(records: Iterable[bytes | memoryview]) -> str | None:
    """The address that all of these name, of those that can be read in full."""
    named = set()
    for data in filter(None, records):
        with suppress(Undecodable):
            message = decode_record(bytes(data), 0, int.from_bytes(data[1:5], "big")).message
            named.add(getattr(message, "address", None))
    named.discard(None)
    return named.pop() if len(named) == 1 else None
