"""Salvage of a whole paging directory: a new one is written that takes its place.

Sound stores are copied. Of several folders that name one address a broker reads only the last in the order of the
directory (docs/spec/page-files.md 2.1); that one is kept, and the messages of the others are added to it as new pages.
A folder of which a broker delivers nothing gets the address that its records show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pagefmt.bytes.file_snapshot import FileSnapshot, take_snapshot
from pagefmt.bytes.writing import Disk, LinkRefused, whole_folder
from pagefmt.compaction.planning import layout_of_bindings, roots_of
from pagefmt.directory.locate import DataLocation, stores
from pagefmt.pages.page import open_page
from pagefmt.pages.paging import Store, read_paging
from pagefmt.pages.record import Layout
from pagefmt.quantities import count_text
from pagefmt.salvage.owners import StoreLook, look_at, owner, specials
from pagefmt.salvage.store import CannotSalvage, SalvagedStore, copy_store, salvage_page, salvage_store

if TYPE_CHECKING:
    from pagefmt.directory.bindings import Bindings
    from pagefmt.outstanding.state import PagingState


@dataclass(frozen=True, slots=True)
class SalvagedDirectory:
    """``copied``: stores that were well and are in the new directory as they were; ``remarks`` about these.

    ``unread``: why folders could not be read; nothing of them is in the new directory.
    """

    stores: list[SalvagedStore]
    copied: int
    remarks: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    @property
    def whole(self) -> bool:
        """Return whether no message is lost and there is nothing to remark."""
        return not (self.remarks or self.unread or any(store.losses or store.remarks for store in self.stores))


def salvage_directory(
    place: DataLocation,
    state: PagingState | None,
    out: Path,
    disk: Disk | None = None,
    jobs: int = 1,
    sources: FileSnapshot | None = None,
) -> SalvagedDirectory:
    """Write ``out``, whole or not at all; pages are looked at by ``jobs``.

    ``sources``: the files, as they were before the state was read; None: as they are now. Raises ``CannotSalvage``
    where all is well, ``SourceChanged`` and ``TargetRefused``.
    """
    sources = sources or source_files(place)
    roots = [path for path in (place.paging, place.store) if path is not None]
    if not roots:
        raise CannotSalvage(f"{place.given}: no paging directory; name the data directory, or the instance")
    refuse_linked_pages(stores(place))
    with whole_folder(out, roots, disk, roots[0]) as (partial, disk), sources.unchanged():
        found = salvage_stores(place, state, partial, disk, jobs)
        if not found.stores and not found.unread:
            judged = state is not None and state.unknown is None
            rest = found.remarks or [
                "no folder is orphaned" if judged else "it is not known which folders are orphaned"
            ]
            empty = [page.name for store in stores(place) for page in store.pages[:-1] if not page.size]
            if empty:
                rest.insert(0, f"{count_text(len(empty), 'page')} empty ({empty[0]}): nothing is left to salvage there")
            raise CannotSalvage(
                f"{place.given}: no page is damaged or set aside; {'; '.join(rest)}; nothing was written"
            )
        return found


def source_files(place: DataLocation) -> FileSnapshot:
    """Return the fingerprints of all files that a salvage reads."""
    return take_snapshot([*roots_of(place).values(), *([place.store] if place.store is not None else [])])


def refuse_linked_pages(every: Iterable[Store]) -> None:
    """Raise ``LinkRefused`` if a store folder or a page is a symbolic link, which a broker follows.

    pagectl follows none, so its messages would be missing from what is written.
    """
    for store in every:
        links = [store.folder] if store.folder.is_symlink() else []
        links += [store.folder / entry.name for entry in specials(store)]
        for path in links:
            if path.is_symlink():
                raise LinkRefused(
                    f"{path}: is a symbolic link, and its messages would be missing from the copy; put the "
                    "file or folder that it leads to in its place"
                )


def salvage_single_page(path: Path, out: Path, disk: Disk | None = None) -> SalvagedDirectory:
    """Write a store folder with what one page file by itself holds; acknowledgements are not looked at."""
    sources = take_snapshot([path])
    with whole_folder(out, [path.parent], disk, path.parent) as (partial, disk), sources.unchanged():
        with open_page(path) as page:
            layout = page.layout() or Layout.NEW
        return SalvagedDirectory([salvage_page(path, layout, partial, disk)], 0)


def salvage_stores(
    place: DataLocation, state: PagingState | None, out: Path, disk: Disk, jobs: int = 1,
    again: Callable[[str, Iterable[tuple[int, int]]], object] | None = None,
) -> SalvagedDirectory:  # fmt: skip
    """Write all stores into a folder that is there: those that are well as they are.

    ``again`` takes the folder, and messages with queues that may be given them again.
    """
    bindings = _known(state)
    bound = None if bindings is None else {number: queue.address for number, queue in bindings.queues.items()}
    found, copied, orphans = list[SalvagedStore](), list[Store](), list[str]()
    unread = [f"{store.problem}: nothing from it is in the new directory" for store in stores(place) if store.problem]
    for address, folders in _by_owner(place, bound, jobs):
        kept, *others = folders
        store = kept.store
        report = SalvagedStore(store.name, address, address != store.address)
        queues = {number for number, each in (bound or {}).items() if each == address}
        orphan = bound is not None and not queues and kept.messages > 0
        if orphan:
            report.remarks.append(
                f"folder {store.name} stays an orphan: there is no queue of {address!r} in the bindings, nor with "
                "an id in its records, so its messages have no consumers"
            )
        if not report.readdressed and kept.sound and not others:
            copied.append(store)
            orphans += report.remarks
            continue
        taken = [each.store for each in others]
        journal = None if state is None or state.known.unknown_journal else state.journal
        told = None if again is None else partial(again, store.name)
        salvage_store(store, taken, report, journal, queues, _layout(state, store), out, disk, jobs, told)
        found.append(report)
    for store in copied:
        copy_store(store, out, disk)
    return SalvagedDirectory(found, len(copied), orphans, unread)


def _known(state: PagingState | None) -> Bindings | None:
    """The bindings, if all of them can be read."""
    return state.bindings if state is not None and state.known.unknown_bindings is None else None


def _by_owner(place: DataLocation, bound: dict[int, str] | None, jobs: int) -> list[tuple[str | None, list[StoreLook]]]:
    """Each address with its folders: first the one that stays, then those that it takes in."""
    listing = read_paging(place.paging).listing if place.paging is not None and place.store is None else ()
    order = {name: n for n, name in enumerate(listing)}
    of_nobody: list[tuple[str | None, list[StoreLook]]] = []
    named: dict[str, list[StoreLook]] = {}
    for found in look_at([store for store in stores(place) if store.problem is None], jobs):
        address = owner(found, bound)
        if address is None:
            of_nobody.append((None, [found]))
        else:
            named.setdefault(address, []).append(found)

    grouped: list[tuple[str | None, list[StoreLook]]] = []
    for address, folders in named.items():
        # a broker passes over one that says no address; and what acknowledgements name was not in an empty one
        ranks = {
            each.store.name: (each.store.address == address, bool(each.store.pages), order.get(each.store.name, 0))
            for each in folders
        }
        folders.sort(key=lambda each: ranks[each.store.name], reverse=True)
        first, *others = folders
        grouped.append((address, [first, *(each for each in others if each.store.pages or each.store.others)]))
    return of_nobody + grouped


def _layout(state: PagingState | None, store: Store) -> Layout:
    """By the bindings; without them by the first page that tells."""
    bindings = _known(state)
    if bindings is not None:
        return layout_of_bindings(bindings)
    for each in store.pages:
        with open_page(each.path) as page:
            layout = page.layout()
        if layout is not None:
            return layout
    return Layout.NEW
