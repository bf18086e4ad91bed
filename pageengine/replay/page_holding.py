"""Queues that keep pages alive: how many pages each queue still has messages on (docs/spec/paging-engine.md 3.5).

An outcome says how many paged messages a queue has left, not where they are. If a queue is read in order, oldest first,
that is enough: acknowledged messages leave the front page.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

FEWEST = 3


@dataclass
class HeldPages:
    """Pages that one queue has messages on: (page, messages) from the oldest, exact while it is read in order."""

    runs: deque[list[int]] = field(default_factory=deque)
    messages: int = 0

    def change(self, messages: int, page: int) -> bool:
        """Set the queue's number of paged messages; return whether it holds other pages now.

        New messages lie on ``page``; acknowledged ones are taken from the first pages.
        """
        before = len(self.runs)
        grown = messages - self.messages
        self.messages = messages
        if grown > 0:
            if self.runs and self.runs[-1][0] == page:
                self.runs[-1][1] += grown
            else:
                self.runs.append([page, grown])
            return len(self.runs) != before
        while grown < 0 and self.runs:
            removed = min(-grown, self.runs[0][1])
            self.runs[0][1] -= removed
            grown += removed
            if self.runs[0][1] == 0:
                self.runs.popleft()
        return len(self.runs) != before

    @property
    def pages(self) -> int:
        """Return the number of pages that the queue holds."""
        return len(self.runs)


@dataclass
class PageHold:
    """Time in which one queue alone kept most pages of its address: ``pages`` of ``total`` at its height."""

    queue: str
    address: str
    start: int
    end: int
    pages: int
    total: int


@dataclass
class HoldWatch:
    """Watch over the queues of one address, which keeps the longest hold of each queue.

    A hold: the queue has messages on at least ``FEWEST`` pages, and on at least twice as many as any other queue.
    """

    address: str
    held: dict[str, HeldPages] = field(default_factory=dict)
    longest: dict[str, PageHold] = field(default_factory=dict)
    _now: PageHold | None = None

    def look(self, t: int, total: int) -> None:
        """Check the queues after a change; ``total`` is the number of pages of the address."""
        most, second, holder = 0, 0, None
        for queue, held in self.held.items():
            pages = len(held.runs)
            if pages > most:
                most, second, holder = pages, most, queue
            elif pages > second:
                second = pages
        if most < FEWEST or most < 2 * second:
            holder = None
        if self._now is not None and self._now.queue != holder:
            self._close(t)
        if holder is not None:
            self._open(holder, t, most, max(total, most))

    def _open(self, queue: str, t: int, pages: int, total: int) -> None:
        if self._now is None:
            self._now = PageHold(queue, self.address, t, t, pages, total)
        elif pages > self._now.pages:
            self._now.pages, self._now.total = pages, total

    def _close(self, t: int) -> None:
        hold, self._now = self._now, None
        if hold is not None:
            hold.end = t
            longest = self.longest.get(hold.queue)
            if longest is None or hold.end - hold.start > longest.end - longest.start:
                self.longest[hold.queue] = hold

    def finish(self, t: int) -> Iterable[PageHold]:
        """Return the longest holds, at the end of the replay."""
        self._close(t)
        return self.longest.values()
