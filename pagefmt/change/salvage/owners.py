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

from pagefmt.change.salvage.segments import broker_decodes
from pagefmt.codec.pages.page import open_page
from pagefmt.codec.pages.record import FRAME, decode_record
from pagefmt.codec.wire import Undecodable
from pagefmt.directory.paging import EntryKind, Store, StoreEntry
from pagefmt.parallel import one_ahead

# page files that a broker does not open as pages: put aside, or under an unexpected name
STRAYS: Final = (EntryKind.PUT_ASIDE, EntryKind.OVERLOOKED, EntryKind.BAD_NAME)


@dataclass(slots=True)
class StoreWalk:
    """A store after one walk over it. ``sound``: a broker opens and reads all of its files to their last byte."""

    store: Store
    sound: bool = True
    messages: int = 0
    queues: set[int] = field(default_factory=set)


def look_at(stores: Sequence[Store], jobs: int) -> Iterator[StoreWalk]:
    """Read every page of the stores once and yield what each store contains."""
    files = [page_files(store) for store in stores]
    every = [path for paths_of_store in files for path in paths_of_store]
    with one_ahead(page_ids, every, (path.lstat().st_size for path in every), jobs) as read:
        for store, paths in zip(stores, files, strict=True):
            content = StoreWalk(store)
            for path in paths:
                ids = read(path)
                content.sound = content.sound and ids.sound
                content.messages += len(ids.messages) if ids.sound else 0
                content.queues |= ids.queues
            content.sound = (
                content.sound and not any(strays(store)) and not any(specials(store)) and not store.out_of_reach
            )
            yield content


def strays(store: Store) -> Iterator[StoreEntry]:
    """Page files that a broker does not open."""
    return (entry for entry in store.others if entry.kind in STRAYS and entry.size is not None)


def specials(store: Store) -> Iterator[StoreEntry]:
    """Return the entries that have a page's name and are not regular files."""
    return (entry for entry in store.others if entry.number is not None and entry.size is None)


def page_files(store: Store) -> list[Path]:
    """Return the paths of pages and of stray files."""
    return [*(page.path for page in store.pages), *(store.folder / entry.name for entry in strays(store))]


class PageIds(NamedTuple):
    """Ids of the messages of a page, and of their queues. ``sound``: a broker reads it to its last byte."""

    messages: array[int]
    queues: set[int]
    sound: bool


def page_ids(path: Path) -> PageIds:
    """Return the ids in the readable part of a page."""
    ids, queues = array("q"), set[int]()
    with open_page(path) as opened:
        decoded, layout = True, opened.layout()
        for route in opened.routes():
            decoded = decoded and broker_decodes(opened.buf, route[1], route[2], layout)
            if route[6]:
                ids.append(route[5])
                queues.update(route[6])
        return PageIds(ids, queues, decoded and opened.damage is None and opened.odd is None)


def owner(content: StoreWalk, bound: Mapping[int, str] | None) -> str | None:
    """Return the address that a broker has to find in the folder.

    ``bound`` maps queue ids to addresses; None if the bindings are not known. The result is the address whose queues
    the records name; else the folder's, if it has queues; else the one in the records.
    """
    folder_address = content.store.address
    voted = {bound[queue] for queue in content.queues if queue in bound} if bound is not None else set()
    if folder_address in voted or (not voted and bound is not None and folder_address in bound.values()):
        return folder_address
    if len(voted) == 1:
        return voted.pop()
    named = address_of(content.store)
    if folder_address is None or not folder_address.strip() or named in (voted or set((bound or {}).values())):
        return named if named is not None else folder_address
    return folder_address


def address_of(store: Store) -> str | None:
    """Return the address in the first records of its pages, or None if they differ or name none."""
    first = []
    for path in page_files(store):
        with open_page(path) as page:
            first += [bytes(page.buf[at : at + FRAME + length]) for _, at, length, *_ in islice(page.routes(), 1)]
    return named_by(first)


def named_by(records: Iterable[bytes | memoryview]) -> str | None:
    """Return the address that all fully readable records name, or None."""
    named = set()
    for data in filter(None, records):
        with suppress(Undecodable):
            message = decode_record(bytes(data), 0, int.from_bytes(data[1:5], "big")).message
            named.add(getattr(message, "address", None))
    named.discard(None)
    return named.pop() if len(named) == 1 else None
