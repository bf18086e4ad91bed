"""Salvage of a whole paging directory: a new one is written that takes its place.

Sound stores are copied. Of several folders that name one address a broker reads only the last in the order of the
directory (docs/spec/page-files.md 2.1); that one is kept, and the messages of the others are added to it as new pages.
A broker skips a folder without an address; where all its records name the same one, it gets that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pagefmt.bytes.writing import DISK, Disk, whole_folder
from pagefmt.compaction.planning import layout_of_bindings
from pagefmt.directory.locate import DataLocation, stores
from pagefmt.pages.page import open_page
from pagefmt.pages.paging import Store, read_paging
from pagefmt.pages.record import Layout
from pagefmt.salvage.store import CannotSalvage, SalvagedStore, address_of, salvage_page, salvage_store
from pagefmt.salvage.writing import copy_store, write

if TYPE_CHECKING:
    from pagefmt.outstanding.state import PagingState


@dataclass(frozen=True, slots=True)
class SalvagedDirectory:
    """``copied``: stores that were well and are in the new directory as they were."""

    stores: list[SalvagedStore]
    copied: int


def salvage_directory(
    place: DataLocation, state: PagingState | None, out: Path, disk: Disk = DISK
) -> SalvagedDirectory:
    """Write ``out``, whole or not at all. Raises ``CannotSalvage`` where all is well, and ``TargetRefused``."""
    with whole_folder(out, [path for path in (place.paging, place.store) if path is not None], disk) as partial:
        return _salvage(place, state, partial, disk)


def salvage_single_page(path: Path, out: Path, disk: Disk = DISK) -> SalvagedDirectory:
    """Write a store folder with what one page file by itself holds; acknowledgements are not looked at."""
    with whole_folder(out, [path.parent], disk) as partial:
        with open_page(path) as page:
            layout = page.layout() or Layout.NEW
        return SalvagedDirectory([write(salvage_page(path, layout), None, partial, disk)], 0)


def _salvage(place: DataLocation, state: PagingState | None, out: Path, disk: Disk) -> SalvagedDirectory:
    found: list[SalvagedStore] = []
    well: list[Store] = []
    for store, others in _by_address(place):
        known = next(iter(state.of([store])), None) if state is not None else None
        queues = set(known.queues) if known is not None and known.queues else set()
        rescue = salvage_store(store, state.journal if state else None, _layout(state, store), queues, others)
        if rescue is None:
            well.append(store)
        else:
            found.append(write(rescue, store, out, disk))
    if not found:
        raise CannotSalvage(
            f"{place.given}: no page is damaged or put aside, no folder is orphaned; nothing was written"
        )
    for store in well:
        copy_store(store, out, disk)
    return SalvagedDirectory(found, len(well))


def _by_address(place: DataLocation) -> Iterator[tuple[Store, list[Store]]]:
    """Each store that stays, with those that it takes in."""
    listing = read_paging(place.paging).listing if place.paging is not None and place.store is None else ()
    order = {name: n for n, name in enumerate(listing)}
    named: dict[str, list[Store]] = {}
    for store in stores(place):
        address = store.address if store.address is not None else address_of(store)
        if address is None:
            yield store, []
        else:
            named.setdefault(address, []).append(store)
    for folders in named.values():
        # a broker passes over one that says no address; and what acknowledgements name was not in an empty one
        folders.sort(key=lambda store: (store.address is not None, bool(store.pages), order.get(store.name, 0)))
        yield folders[-1], [store for store in folders[:-1] if store.pages or store.others]


def _layout(state: PagingState | None, store: Store) -> Layout:
    """By the bindings; without them by the first page that tells."""
    if state is not None and state.bindings is not None:
        return layout_of_bindings(state.bindings)
    for each in store.pages:
        with open_page(each.path) as page:
            layout = page.layout()
        if layout is not None:
            return layout
    return Layout.NEW
