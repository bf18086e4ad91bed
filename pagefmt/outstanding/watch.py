"""What is outstanding beside a running broker, look after look (docs/spec/page-files.md 3).

A page is read again where its file, or what the journal says about it, is not as it was. A broker writes to the newest
page of a store only and every new or deleted page changes the folder, so a store is listed again where folder or newest
page changed. Memory: some 600 bytes a page, whatever a page holds, and what the journal takes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from pagefmt.directory.bindings import QueueBinding
from pagefmt.directory.locate import DataLocation
from pagefmt.directory.locks import running_broker
from pagefmt.directory.paging import PagingDirectory, read_paging, shared_addresses
from pagefmt.outstanding.backlog import Backlog, with_journal
from pagefmt.outstanding.journal_backlog import JournalBacklog, journal_backlogs, large_sizes
from pagefmt.outstanding.journal_marks import JournalMarks
from pagefmt.outstanding.loaded_journals import KnownJournals, load_journals
from pagefmt.outstanding.page_vectors import PageVectors
from pagefmt.outstanding.state import PagingState
from pagefmt.outstanding.watched_store import StoreWatch, WatchedStore, settled
from pagefmt.storage.files import FileGone

Signature: TypeAlias = tuple[tuple[str, int, int, int], ...]


class BrokerBacklog(NamedTuple):
    """The backlogs of all stores at one moment.

    ``live``: a broker is running. ``damaged``: journal or bindings are damaged; None: they may not be read. ``read``:
    number of pages read this time. ``remarks``: what is not known of journal and bindings. ``journal``: what waits in
    the journal by queue id, None if not known. ``bindings``: the existing queues.
    """

    stores: tuple[WatchedStore, ...]
    live: bool
    damaged: bool | None
    read: int
    remarks: tuple[str, ...] = ()
    journal: Mapping[int, JournalBacklog] | None = None
    bindings: Mapping[int, QueueBinding] = MappingProxyType({})

    @property
    def queues(self) -> Iterator[Backlog]:
        """Yield what waits for each queue in pages and in the journal, as far as it is known."""
        rows = (row for store in self.stores for row in store.queues or ())
        return rows if self.journal is None else with_journal(rows, self.journal, self.bindings)


class _Journals(NamedTuple):
    """Journal and bindings as last read.

    ``bodies``: message id → bytes of its large-message file. ``backlog``: by queue id, None if not asked for or not
    known.
    """

    known: KnownJournals
    marks: JournalMarks
    bodies: dict[int, int]
    backlog: dict[int, JournalBacklog] | None


class PagesWatch:
    """The pages of one broker. ``look`` raises ``NotReadable`` where the paging directory cannot be listed."""

    def __init__(self, place: DataLocation, vectors: PageVectors | None = None) -> None:
        self.place, self._vectors = place, vectors
        self._stores: dict[str, StoreWatch] = {}
        self._known: _Journals | None = None
        self._loads = 0
        self._seen: Signature | None = None

    def look(self) -> BrokerBacklog:
        """Return the current backlog.

        Stores are listed before the journal is read, which then covers all their pages.
        """
        live = running_broker(self.place.journal) is not None
        paging = PagingDirectory(self.place.given, (), ())
        if self.place.paging is not None:
            paging = read_paging(self.place.paging)
        self._list(paging)
        journals = self._journals(paging, live=live)
        loaded = journals.known
        stores = [self._stores[name] for name in sorted(self._stores)]
        shared = shared_addresses(
            (folder, self._stores[folder].text.address) for folder in paging.listing if folder in self._stores
        )
        state = PagingState(paging, loaded, shared, live=live, vectors=self._vectors)
        judged = zip(stores, state.of(store.newest() for store in stores), strict=True)
        read = sum(store.judge(store_state, journals.marks, journals.bodies) for store, store_state in judged)
        remarks = (*(unknown.reason for unknown in loaded.unknown()), *loaded.lost())
        bindings = loaded.bindings.queues if loaded.bindings is not None else {}
        backlogs = tuple(store.backlog for store in stores)
        damaged = None if loaded.closed else loaded.damaged
        return BrokerBacklog(backlogs, live, damaged, read, remarks, journals.backlog, bindings)

    def state(self) -> PagingState:
        """Return what the last look knew of journal and bindings, without pages."""
        assert self._known is not None
        live = running_broker(self.place.journal) is not None
        return PagingState(PagingDirectory(self.place.given, (), ()), self._known.known, {}, live=live)

    def _list(self, paging: PagingDirectory) -> None:
        """List the stores; only the one folder if the place is a store folder."""
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

    def _journals(self, paging: PagingDirectory, *, live: bool) -> _Journals:
        """Return the journals, read again if one of their files changed."""
        seen = _signature(folder for folder in (self.place.journal, self.place.bindings) if folder is not None)
        if self._known is None or seen is None or seen != self._seen:
            self._known = None  # the old one goes before the new one is read
            self._loads += 1
            loaded = load_journals(self.place)
            bodies = large_sizes(self.place.large_messages)
            state, backlog = PagingState(paging, loaded, {}, live=live, vectors=self._vectors), None
            if not (state.unknown or loaded.no_paging or self.place.store):  # a store is asked about alone
                backlog = journal_backlogs(state, bodies).of_queues()
            self._known = _Journals(loaded, JournalMarks(loaded.journal, self._loads), bodies, backlog)
        # what could not be read may be readable the next time, with no file changed
        self._seen = None if self._known.known.damaged else seen
        return self._known


def _signature(folders: Iterable[Path]) -> Signature | None:
    """Return name, size, change time and inode of each file, or None if one changed too recently to be conclusive."""
    files = []
    for folder in folders:
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    status = entry.stat(follow_symlinks=False)
                    files.append((entry.path, status.st_size, status.st_ctime_ns, status.st_ino))
    return tuple(sorted(files)) if all(settled(changed) for _, _, changed, _ in files) else None
