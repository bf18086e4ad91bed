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

from pagefmt.change.compaction.planning import layout_of_bindings, roots_of
from pagefmt.change.salvage.owners import StoreWalk, look_at, owner, specials
from pagefmt.change.salvage.store import CannotSalvage, SalvagedStore, copy_store, salvage_page, salvage_store
from pagefmt.codec.pages.page import open_page
from pagefmt.codec.pages.record import Layout
from pagefmt.directory.locate import DataLocation, stores
from pagefmt.directory.paging import Store, read_paging
from pagefmt.quantities import count_text
from pagefmt.storage.file_snapshot import FileSnapshot, take_snapshot
from pagefmt.storage.writing import Disk, LinkRefused, whole_folder

if TYPE_CHECKING:
    from pagefmt.directory.bindings import Bindings
    from pagefmt.outstanding.state import PagingState


@dataclass(frozen=True, slots=True)
class SalvagedDirectory:
    """What a salvage wrote.

    ``copied``: number of sound stores that were copied unchanged. ``remarks``: about these. ``unread``: why folders
    could not be read; nothing of them is in the new directory.
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
    """Write ``out`` completely or not at all; ``jobs`` processes read the pages.

    ``sources``: the files as they were before the state was read; None: as they are now. Raises ``CannotSalvage`` if
    nothing is damaged, ``SourceChanged`` and ``TargetRefused``.
    """
    sources = sources or source_files(place)
    roots = [path for path in (place.paging, place.store) if path is not None]
    if not roots:
        raise CannotSalvage(f"{place.given}: no paging directory; name the data directory, or the instance")
    refuse_linked_pages(stores(place))
    with whole_folder(out, roots, disk, roots[0]) as (partial, disk), sources.unchanged():
        salvaged = salvage_stores(place, state, partial, disk, jobs)
        if not salvaged.stores and not salvaged.unread:
            judged = state is not None and state.unknown is None
            reasons = salvaged.remarks or [
                "no folder is orphaned" if judged else "it is not known which folders are orphaned"
            ]
            empty = [page.name for store in stores(place) for page in store.pages[:-1] if not page.size]
            if empty:
                reasons.insert(
                    0, f"{count_text(len(empty), 'page')} empty ({empty[0]}): nothing is left to salvage there"
                )
            raise CannotSalvage(
                f"{place.given}: no page is damaged or set aside; {'; '.join(reasons)}; nothing was written"
            )
        return salvaged


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
    """Salvage one page file into the new folder ``out``, without a journal: no record counts as acknowledged.

    Raises ``SourceChanged`` and ``TargetRefused``.
    """
    sources = take_snapshot([path])
    with whole_folder(out, [path.parent], disk, path.parent) as (partial, disk), sources.unchanged():
        with open_page(path) as page:
            layout = page.layout() or Layout.NEW
        return SalvagedDirectory([salvage_page(path, layout, partial, disk)], 0)


def salvage_stores(
    place: DataLocation,
    state: PagingState | None,
    out: Path,
    disk: Disk,
    jobs: int = 1,
    again: Callable[[str, Iterable[tuple[int, int]]], object] | None = None,
) -> SalvagedDirectory:
    """Write all stores into an existing folder; sound stores are copied unchanged.

    ``again`` is called with a folder's name, and pairs of message and queue id for which the message may be delivered
    again.
    """
    bindings = _known(state)
    bound = None if bindings is None else {number: queue.address for number, queue in bindings.queues.items()}
    reports, copied, orphans = list[SalvagedStore](), list[Store](), list[str]()
    unread = [f"{store.problem}: nothing from it is in the new directory" for store in stores(place) if store.problem]
    for address, folders in _by_owner(place, bound, jobs):
        kept, *others = folders
        store = kept.store
        report = SalvagedStore(store.name, address, address != store.address)
        queues = {number for number, other in (bound or {}).items() if other == address}
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
        other_stores = [other.store for other in others]
        journal = None if state is None or state.known.unknown_journal else state.journal
        again_in_store = None if again is None else partial(again, store.name)
        salvage_store(
            store, other_stores, report, journal, queues, _layout(state, store), out, disk, jobs, again_in_store
        )
        reports.append(report)
    for store in copied:
        copy_store(store, out, disk)
    return SalvagedDirectory(reports, len(copied), orphans, unread)


def _known(state: PagingState | None) -> Bindings | None:
    """Return the bindings, or None if some of them cannot be read."""
    return state.bindings if state is not None and state.known.unknown_bindings is None else None


def _by_owner(place: DataLocation, bound: dict[int, str] | None, jobs: int) -> list[tuple[str | None, list[StoreWalk]]]:
    """Return each address with its folders. The first keeps its pages in place, the others are merged into it."""
    listing = read_paging(place.paging).listing if place.paging is not None and place.store is None else ()
    order = {name: n for n, name in enumerate(listing)}
    of_nobody: list[tuple[str | None, list[StoreWalk]]] = []
    named: dict[str, list[StoreWalk]] = {}
    for content in look_at([store for store in stores(place) if store.problem is None], jobs):
        address = owner(content, bound)
        if address is None:
            of_nobody.append((None, [content]))
        else:
            named.setdefault(address, []).append(content)

    grouped: list[tuple[str | None, list[StoreWalk]]] = []
    for address, folders in named.items():
        # a broker passes over one that says no address; and what acknowledgements name was not in an empty one
        ranks = {
            folder.store.name: (
                folder.store.address == address,
                bool(folder.store.pages),
                order.get(folder.store.name, 0),
            )
            for folder in folders
        }
        folders.sort(key=lambda folder: ranks[folder.store.name], reverse=True)
        first, *others = folders
        grouped.append((address, [first, *(folder for folder in others if folder.store.pages or folder.store.others)]))
    return of_nobody + grouped


def _layout(state: PagingState | None, store: Store) -> Layout:
    """Return the layout by the bindings; without bindings, by the first page that shows it."""
    bindings = _known(state)
    if bindings is not None:
        return layout_of_bindings(bindings)
    for page_file in store.pages:
        with open_page(page_file.path) as page:
            layout = page.layout()
        if layout is not None:
            return layout
    return Layout.NEW
