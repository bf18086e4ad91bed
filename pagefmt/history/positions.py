"""In which page, and at which place in it, each paged message of a history was (docs/spec/history.md 6.5).

A broker writes an event for each message that it pages, in the order of the pages, but without page and number, while
acknowledgements name nothing else. A page that is still on the disk says which messages it holds; of the others the
number of messages is known from page-complete records, and else follows from page-size-bytes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np

from pagefmt.arrays import Ints

UNPLACED: Final = -1
_NO_LIMIT: Final = 1 << 62  # bytes


class Bookmark(NamedTuple):
    """A store left page mode: all events before the position ``at`` are in pages below ``page``."""

    at: int
    page: int


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """What is known of the pages of one address.

    Events are in the order in which they were written: ``ids`` of their messages, ``sizes`` of their records in a page
    (bytes), ``at``: their positions in the history. ``counts``: messages by page, ``acknowledged``: the highest number
    that any queue acknowledged by page. ``disk``: message ids by page of the pages that are there.
    ``page_size``: page-size-bytes; None: not known. ``from_start``: no event before the first one is missing.
    """

    ids: Ints
    sizes: Ints
    at: Ints
    counts: Mapping[int, int]
    acknowledged: Mapping[int, int]
    bookmarks: Sequence[Bookmark]
    disk: Mapping[int, Ints]
    page_size: int | None
    from_start: bool


class EventPositions(NamedTuple):
    """Page and number of each event, ``UNPLACED`` where they cannot be told."""

    page: Ints
    number: Ints


class _Placed(NamedTuple):
    """A page and the events in it: those from ``first`` up to ``behind``."""

    page: int
    first: int
    behind: int


class _Span(NamedTuple):
    """Events between two bookmarks. ``page``: of the first event, None if not known.

    ``end_page``: the page behind that of the last event, None if not known.
    """

    first: int
    behind: int
    page: int | None
    end_page: int | None


def placed_events(facts: StoreFacts) -> EventPositions:
    """Return the positions of the events of a store. Nothing is guessed: what does not fit together stays unplaced."""
    return _Placing(facts).positions()


class _Placing:
    def __init__(self, facts: StoreFacts) -> None:
        self.facts = facts
        self.on_disk = _rows_on_disk(facts)
        self.sums = np.append(0, np.cumsum(facts.sizes))
        # page-size-bytes lies between these; where it is not known, full pages narrow it down
        self.least, self.most = (0, _NO_LIMIT) if facts.page_size is None else (facts.page_size, facts.page_size)

    def positions(self) -> EventPositions:
        page = np.full(len(self.facts.ids), UNPLACED)
        number = page.copy()
        for span in self._spans():
            for placed in self._forwards(span) or self._backwards(span):
                page[placed.first : placed.behind] = placed.page
                number[placed.first : placed.behind] = np.arange(placed.behind - placed.first)
        for disk_page, rows in self.on_disk.items():
            has_event = rows >= 0
            page[rows[has_event]] = disk_page
            number[rows[has_event]] = np.flatnonzero(has_event)
        return EventPositions(page, number)

    def _spans(self) -> list[_Span]:
        """Return the stretches of events between bookmarks."""
        events = len(self.facts.ids)
        starts: dict[int, int | None] = {0: 1 if self.facts.from_start else None}
        ends: dict[int, int | None] = {events: None}
        for mark in sorted(self.facts.bookmarks):
            cut = int(np.searchsorted(self.facts.at, mark.at))
            starts[cut], ends[cut] = self._page_behind(mark.page), mark.page
        edges = sorted({*starts, events})
        return [_Span(first, behind, starts[first], ends[behind]) for first, behind in pairwise(edges)]

    def _page_behind(self, page: int) -> int | None:
        """Return the first page with messages after a bookmark, None if nothing tells it.

        2.18 leaves the page of the bookmark empty, later releases begin it.
        """
        return next((number for number in (page, page + 1) if self._is_used(number)), None)

    def _is_used(self, page: int) -> bool:
        facts = self.facts
        return page in facts.acknowledged or bool(facts.counts.get(page)) or bool(len(facts.disk.get(page, ())))

    def _forwards(self, span: _Span) -> list[_Placed]:
        """Return the pages from the first one on; nothing if that is not known, or a page contradicts it."""
        pages: list[_Placed] = []
        if span.page is None:
            return pages
        page, first = span.page, span.first
        while first < span.behind:
            behind = self._end_of(page, first, span)
            if behind is None:
                break
            if not self._fits(page, first, behind):
                return []
            pages.append(_Placed(page, first, behind))
            if behind < span.behind and self.facts.page_size is None:
                self.least = max(self.least, self._bytes(first, behind))
                self.most = min(self.most, self._bytes(first, behind + 1) - 1)
            page, first = page + 1, behind
        return pages

    def _bytes(self, first: int, behind: int) -> int:
        return int(self.sums[behind] - self.sums[first])

    def _end_of(self, page: int, first: int, span: _Span) -> int | None:
        """Return the event behind the last one of a page that begins with ``first``; None: it cannot be told."""
        facts = self.facts
        rows = self.on_disk.get(page)
        if rows is not None and (rows >= 0).any():
            return int(rows.max()) + 1
        if count := facts.counts.get(page):
            return min(first + count, span.behind)
        least = facts.acknowledged.get(page, -1) + 1
        if span.end_page == page + 1:
            return span.behind
        ends = {
            min(max(bisect_left(self.sums, self.sums[first] + size + 1) - 1, first + max(least, 1)), span.behind)
            for size in (self.least, self.most)
        }
        return ends.pop() if len(ends) == 1 else None

    def _fits(self, page: int, first: int, behind: int) -> bool:
        """Return whether nothing known of a page contradicts that these events are in it."""
        rows = self.on_disk.get(page)
        if rows is not None and (rows >= 0).any():
            has_event = rows[rows >= 0]
            return int(has_event.min()) >= first and behind - first <= len(rows)
        return self.facts.acknowledged.get(page, -1) < behind - first

    def _backwards(self, span: _Span) -> list[_Placed]:
        """Return the pages before a known one, as far as each has a known number of messages that fits its size."""
        pages: list[_Placed] = []
        page, behind = self._known_end(span)
        is_last = behind == span.behind
        while page is not None and behind > span.first:
            count = self.facts.counts.get(page - 1)
            if count is None and is_last and self.facts.page_size is not None:
                # The last page before a store leaves page mode has no count, but all of it is acknowledged.
                count = self.facts.acknowledged.get(page - 1, -1) + 1
            first = behind - (count or 0)
            if not count or first < span.first or not self._is_full(first, behind, last=is_last):
                break
            page, behind, is_last = page - 1, first, False
            pages.append(_Placed(page, first, first + count))
        return pages

    def _known_end(self, span: _Span) -> tuple[int | None, int]:
        """Return a page and its first event: the first page on the disk, else the one behind the span."""
        of_span = [
            (page, int(rows[0]))
            for page, rows in self.on_disk.items()
            if len(rows) and rows[0] >= 0 and span.first <= rows[0] < span.behind
        ]
        return min(of_span, default=(span.end_page, span.behind))

    def _is_full(self, first: int, behind: int, *, last: bool) -> bool:
        """Return whether events fill a page: they fit, and one more does not, except for the ``last`` page."""
        full = last or behind >= len(self.facts.sizes) or self._bytes(first, behind + 1) > self.least
        return full and (self._bytes(first, behind) <= self.most or behind - first == 1)


def _rows_on_disk(facts: StoreFacts) -> dict[int, Ints]:
    """Return for each page on the disk the events of its messages in their order, -1 for a message without one."""
    order = np.argsort(facts.ids, kind="stable")
    ids = facts.ids[order]
    rows = {}
    for page, of_page in facts.disk.items():
        at = np.searchsorted(ids, of_page).clip(max=max(len(ids) - 1, 0))
        rows[page] = np.where(ids[at] == of_page, order[at], -1) if len(ids) else np.full(len(of_page), -1)
    return rows
