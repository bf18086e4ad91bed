"""Whose a store is: what its folder says, unless its records say better.

A broker delivers nothing of a folder that names no address, or one that none of the ids in its records is a queue of.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

from pagefmt.bytes.wire import Undecodable
from pagefmt.pages.page import open_page
from pagefmt.pages.paging import EntryKind, Store, StoreEntry
from pagefmt.pages.record import FRAME, decode_record

STRAYS: Final = (EntryKind.PUT_ASIDE, EntryKind.OVERLOOKED, EntryKind.BAD_NAME)
"""Page files that a broker does not open as such: put aside, or under a name that it does not look for."""


@dataclass(slots=True)
class StoreLook:
    """A store after one walk over it. ``sound``: a broker opens and reads all of its files to their last byte."""

    store: Store
    sound: bool = True
    messages: int = 0
    queues: set[int] = field(default_factory=set)


def look(store: Store) -> StoreLook:
    """Read every page once."""
    found = StoreLook(store)
    for path in page_files(store):
        ids = sound_ids(path, found.queues)
        found.sound = found.sound and ids is not None
        found.messages += len(ids or ())
    found.sound = found.sound and not any(strays(store)) and not any(specials(store)) and not store.out_of_reach
    return found


def strays(store: Store) -> Iterator[StoreEntry]:
    """Page files that a broker does not open."""
    return (entry for entry in store.others if entry.kind in STRAYS and entry.size is not None)


def specials(store: Store) -> Iterator[StoreEntry]:
    """What has the name of a page and is no file."""
    return (entry for entry in store.others if entry.number is not None and entry.size is None)


def page_files(store: Store) -> list[Path]:
    """Pages and strays."""
    return [*(page.path for page in store.pages), *(store.folder / entry.name for entry in strays(store))]


def sound_ids(path: Path, queues: set[int] | None = None) -> array[int] | None:
    """Ids of the messages of a page that a broker reads to its last byte; None for any other."""
    ids = array("q")
    with open_page(path) as opened:
        for route in opened.routes():
            if route[6]:
                ids.append(route[5])
                if queues is not None:
                    queues.update(route[6])
        return ids if opened.damage is None and opened.odd is None else None


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
