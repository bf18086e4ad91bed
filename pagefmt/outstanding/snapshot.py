"""The files of a running broker at the first look (docs/spec/page-files.md 3).

Pages grow at their end only and are deleted whole. So a page that is read later, up to the size that it had then, is
the page as it was then; and a journal that is read after this look knows everything about it: commits, acknowledgements
and bindings. What the journal says about records that came later is about something else.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from pathlib import Path

from pagefmt.codec.messages.large import LargeMessages
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.directory.paging import PagingDirectory, Store


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Pages and large messages at one moment of a running broker.

    ``pages``: folder → page numbers and their sizes. ``bodies``: ids of large messages, listed before the pages.
    """

    pages: dict[str, tuple[array[int], array[int]]]
    bodies: frozenset[int]

    def cut(self, store: Store) -> Store:
        """Return the store with the pages of the snapshot that still exist, at their size in the snapshot.

        Memory: the sizes of one store.
        """
        sizes = dict(zip(*self.pages.get(store.name, ((), ())), strict=True))
        pages = tuple(_cut(page, sizes[page.number]) for page in store.pages if page.number in sizes)
        return store._replace(pages=pages)


def _cut(page: PageFile, size: int) -> PageFile:
    return page if page.size == size else page._replace(size=size)


def take_snapshot(paging: PagingDirectory, large_messages: Path | None) -> Snapshot:
    """List the pages with their sizes, and the ids of the large messages. Raise ``NotReadable``.

    Memory: 16 bytes per page, and one id per large message.
    """
    bodies = LargeMessages(large_messages).unsorted() if large_messages is not None else ()
    ids = frozenset(file.id for file in bodies if file.id is not None)
    pages = {
        store.name: (array("q", (page.number for page in store.pages)), array("q", (page.size for page in store.pages)))
        for store in paging.stores()
    }
    return Snapshot(pages, ids)
