"""A cursor's state of the pages: which records are acknowledged, and which pages have to be checked again.

An address may have thousands of pages, and a slow queue keeps them all; so no method walks over all of them for one
acknowledgement.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field


@dataclass(eq=False)
class PageInfo:
    """A cursor's state of one page. ``acks`` and ``removed`` are None once the page is complete."""

    page: int
    acks: set[int] | None = field(default_factory=set)
    removed: set[int] | None = field(default_factory=set)
    ignored: set[int] = field(default_factory=set)
    confirmed: int = 0
    pending_tx: int = 0
    pending_delete: bool = False
    complete: bool = False

    def is_ack(self, nr: int) -> bool:
        """Return whether the record is acknowledged."""
        return self.complete or (self.acks is not None and nr in self.acks)

    def is_removed(self, nr: int) -> bool:
        """Return whether the iterator must not return the record again."""
        return self.complete or self.removed is None or nr in self.removed

    def remove(self, nr: int) -> None:
        """Exclude the record from further iteration."""
        if self.removed is not None:
            self.removed.add(nr)

    def clear(self) -> None:
        """Forget the single records."""
        self.acks = self.removed = None


@dataclass(eq=False)
class PageCounter:
    """Unacknowledged messages of a queue in pages, and their bytes; ``added`` only ever grows."""

    added: int = 0
    bytes: int = 0
    value: int = 0


class PageInfos:
    """States of a cursor's pages by page number.

    ``maybe_done``: pages of which something was confirmed since they were last found unfinished (or that are new).
    ``finished``: pages that the cursor has marked, whose files wait for the other cursors.
    """

    __slots__ = ("_by_page", "_first_open", "_numbers", "finished", "get", "maybe_done")

    def __init__(self) -> None:
        self._by_page: dict[int, PageInfo] = {}
        self.get: Callable[[int], PageInfo | None] = self._by_page.get
        self._numbers: list[int] = []
        self._first_open = 0
        self.finished: set[int] = set()
        self.maybe_done: set[int] = set()

    def __len__(self) -> int:
        return len(self._by_page)

    def add(self, page: int) -> PageInfo:
        """Create the state of a page and return it."""
        info = self._by_page[page] = PageInfo(page)
        insort(self._numbers, page)
        self._first_open = min(self._first_open, page)
        # a page without records, or whose file is gone, is done from the beginning
        self.maybe_done.add(page)
        return info

    def forget(self, page: int) -> None:
        """Remove the state of a page that is gone."""
        if self._by_page.pop(page, None) is not None:
            del self._numbers[bisect_left(self._numbers, page)]
            self.finished.discard(page)
            self.maybe_done.discard(page)

    def clear(self) -> None:
        """Remove the states of all pages."""
        self._by_page.clear()
        self._numbers.clear()
        self.finished.clear()
        self.maybe_done.clear()
        self._first_open = 0

    def finish(self, info: PageInfo, *, deleting: bool = True) -> None:
        """Mark the page as no longer needed by the cursor, and drop its single acknowledgements."""
        info.pending_delete = deleting
        info.clear()
        self.maybe_done.discard(info.page)
        self.finished.add(info.page)

    @property
    def last(self) -> int:
        """Return the highest page number; there must be one."""
        return self._numbers[-1]

    def in_order(self) -> Iterator[PageInfo]:
        """Return all states in the order of page numbers."""
        return (self._by_page[number] for number in list(self._numbers))

    def from_first_open(self) -> Iterator[PageInfo]:
        """Return the states in order from the first page that is not finished; may start earlier, never later."""
        at = bisect_left(self._numbers, self._first_open)
        while at < len(self._numbers) and self._numbers[at] in self.finished:
            at += 1
        if at < len(self._numbers):
            self._first_open = self._numbers[at]
        return (self._by_page[number] for number in self._numbers[at:])

    def worth_checking(self, *, everything: bool) -> list[PageInfo]:
        """Return the states of pages that may be done; with ``everything``, of all pages."""
        if everything:
            return list(self._by_page.values())
        return [self._by_page[number] for number in sorted(self.maybe_done)]

    @property
    def done_at_most(self) -> int:
        """Return an upper bound of the number of done pages."""
        return len(self.finished) + len(self.maybe_done)

    def done_perhaps(self) -> list[int]:
        """Return the numbers of pages that are done or may be, in order."""
        return sorted(self.finished | self.maybe_done)
