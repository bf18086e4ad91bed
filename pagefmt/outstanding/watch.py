"""What is outstanding beside a running broker, look after look (docs/spec/page-files.md 3).

A page is read again where its file, or what the journal says about it, is not as it was. A broker writes to the newest
page of a store only and every new or deleted page changes the folder, so a store is listed again where folder or newest
page changed. Memory: some 600 bytes a page, whatever a page holds, and what the journal takes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeAlias

from pagefmt.bytes.files import FileGone
from pagefmt.directory.locate import DataLocation
from pagefmt.directory.locks import running_broker
from pagefmt.outstanding.journal_marks import JournalMarks
from pagefmt.outstanding.knowledge import KnownJournals, load_journals
from pagefmt.outstanding.state import PagingState
from pagefmt.outstanding.watched_store import StoreWatch, WatchedStore, settled
from pagefmt.pages.paging import PagingDirectory, read_paging, shared_addresses

Signature: TypeAlias = tuple[tuple[str, int, int, int], ...]


class BrokerBacklog(NamedTuple):
    """All stores. ``live``: a broker is at work; ``damaged``: journal or bindings are; ``read``: pages in this look.
    ``remarks``: what is not known of journal and bindings."""

    stores: tuple[WatchedStore, ...]
    live: bool
    damaged: bool
    read: int
    remarks: tuple[str, ...] = ()


class PagesWatch:
    """The pages of one broker. ``look`` raises ``NotReadable`` where the paging directory cannot be listed."""

    def __init__(self, place: DataLocation) -> None:
        self.place = place
        self._stores: dict[str, StoreWatch] = {}
        self._known: tuple[KnownJournals, JournalMarks] | None = None
        self._loads = 0
        self._seen: Signature | None = None

    def look(self) -> BrokerBacklog:
        """What there is now: stores are listed before the journal is read, which then knows everything about them."""
        live = running_broker(self.place.journal) is not None
        paging = PagingDirectory(self.place.given, (), ())
        if self.place.paging is not None:
            paging = read_paging(self.place.paging)
        self._list(paging)
        known, journal = self._journals()
        stores = [self._stores[name] for name in sorted(self._stores)]
        shared = shared_addresses(
            (each, self._stores[each].text.address) for each in paging.listing if each in self._stores
        )
        state = PagingState(paging, known, shared, live=live)
        judged = zip(stores, state.of(store.newest() for store in stores), strict=True)
        read = sum(store.judge(found, journal) for store, found in judged)
        remarks = (*(unknown.reason for unknown in known.unknown()), *known.lost())
        return BrokerBacklog(tuple(store.backlog for store in stores), live, known.damaged, read, remarks)

    def _list(self, paging: PagingDirectory) -> None:
        """Of a place that is a store folder that one alone."""
        links = paging.links if self.place.store is None else ()
        names = (*paging.listing, *links) if self.place.store is None else (self.place.store.name,)
        for gone in self._stores.keys() - set(names):
            del self._stores[gone]
        for name in names:
            store = self._stores.get(name) or StoreWatch(paging.path / name)
            try:
                store.list(linked=name in links)
                self._stores[name] = store
            except FileGone:
                self._stores.pop(name, None)

    def _journals(self) -> tuple[KnownJournals, JournalMarks]:
        """Read again where one of their files changed."""
        seen = _signature(folder for folder in (self.place.journal, self.place.bindings) if folder is not None)
        if self._known is None or seen is None or seen != self._seen:
            self._known = None  # the old one goes before the new one is read
            self._loads += 1
            known = load_journals(self.place)
            self._known = known, JournalMarks(known.journal, self._loads)
        # what could not be read may be readable the next time, with no file changed
        self._seen = None if self._known[0].damaged else seen
        return self._known


def _signature(folders: Iterable[Path]) -> Signature | None:
    """Name, size, time of change and number of each file; None where they may change without a difference in it."""
    found = []
    for folder in folders:
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    status = entry.stat(follow_symlinks=False)
                    found.append((entry.path, status.st_size, status.st_ctime_ns, status.st_ino))
    return tuple(sorted(found)) if all(settled(changed) for _, _, changed, _ in found) else None
