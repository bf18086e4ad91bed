"""Queues ranked by what they keep on the disk, looked at again and again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from pagectl.outputs.top_text import account
from pagectl.reports.messages_top import HOLDERS, HoldingQueue
from pagectl.running.backlogs import QueueReading, RankedQueue, TopOrder, WatchedQueues
from pagectl.running.exits import describe
from pagectl.screens.app import ListScreen
from pagectl.screens.browser import OpenedPlace, PagesScreen
from pagectl.screens.listing import Listing
from pagectl.terminal.sanitise import one_line
from pagefmt.directory.locate import DataLocation
from pagefmt.directory.paging import read_store
from pagefmt.errors import PageFmtError

# the pause is this factor times the duration of the last reading, and at least the interval
REST = 5


class TopScreen(ListScreen):
    """The ranking, with keys to sort it and to open a queue's pages."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "sort('alone')", "Alone"),
        Binding("h", "sort('held')", "Held"),
        Binding("w", "sort('waiting')", "Waiting"),
        Binding("o", "sort('oldest')", "Oldest"),
        Binding("g", "sort('growth')", "Growth"),
    ]

    def __init__(self, places: Sequence[DataLocation], order: TopOrder, limit: int | None, every: float) -> None:
        super().__init__("pagectl messages top", "")
        self.places, self.order, self.limit, self.every = places, order, limit, every
        self._watched = WatchedQueues(places)
        self.seen: QueueReading | None = None
        self.rows: list[RankedQueue] = []
        self._took = 0.0

    def on_mount(self) -> None:
        """Start reading in the background."""
        self.say("reading pages …")
        self.beside(self._look)

    def _look(self) -> None:
        while not self.gone.is_set():
            began = time.monotonic()
            try:
                reading = self._watched.look()
                self.seen = reading if self.seen is None else reading.since(self.seen)
                self._took = time.monotonic() - began
                self.soon(self._draw)
            except (PageFmtError, OSError) as err:  # it may be there again at the next look
                self.soon(self.say, describe(err))
            self.gone.wait(max(self.every, REST * self._took))

    def _draw(self) -> None:
        """Show the rows in order; the cursor stays at its queue when the queue moves."""
        if self.seen is None:
            return
        chosen = self.rows[self.listing.cursor].key if self.rows else None
        self.rows = self.seen.ranked(self.order)[: self.limit or None]
        table = HOLDERS.table([HoldingQueue.of(row) for row in self.rows])
        rows = [table.headings, *([one_line(cell) for cell in row] for row in table.rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(
                cell.rjust(width) if name in table.right else cell.ljust(width)
                for cell, width, name in zip(row, widths, table.headings, strict=True)
            )
            for row in rows
        ]
        self.listing.head = lines[0]
        self.listing.show(len(self.rows), lambda number: lines[number + 1])
        row_of_chosen = next((n for n, row in enumerate(self.rows) if row.key == chosen), None)
        if row_of_chosen is not None and row_of_chosen != self.listing.cursor:
            self.listing.go(row_of_chosen)
        wrong = [*self.seen.failed, *self.seen.remarks]
        self.say(
            account(self.seen) + (f"; {wrong[0]}" if wrong else "") + (f" … {len(wrong)} in all" * (len(wrong) > 1))
        )
        clock = time.strftime("%H:%M:%S%z")
        places = " ".join(str(place.given) for place in self.places)
        self.retitle(f"pagectl messages top {places}  by {self.order.value}  {clock}, read in {self._took:.1f} s")

    def action_sort(self, order: str) -> None:
        """Sort by another figure."""
        self.order = TopOrder(order)
        self._draw()

    def on_listing_opened(self, event: Listing.Opened) -> None:
        """Open the pages of the queue's address."""
        row = self.rows[event.listing.cursor]
        if row.store is None:
            self.say(f"{row.backlog.queue}: all its messages are in the journal: pagectl messages decode")
            return
        place = next(place for place in self.places if str(place.given) == row.broker)
        self.app.push_screen(PagesScreen(OpenedPlace(place), read_store(row.store)))
