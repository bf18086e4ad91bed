"""Acknowledged positions: columns as they were read, and an index by queue and page (spec/journal.md 7.1)."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pagefmt.journal.columns import Columns

BODY: Final = 20
"""``i64`` queue id, ``i64`` page, ``i32`` number"""
BOOKMARK: Final = -1
"""The message number of an ack record that acknowledges nothing: written when a store left page mode."""


class Positions:
    """Columns of ack or page-complete records in load order, 28 bytes a record.

    ``numbers`` are ordinals in the page; of page-complete records the number of messages of the page.
    """

    __slots__ = ("numbers", "pages", "queues", "records")

    def __init__(self) -> None:
        self.records = array("q")
        self.queues = array("q")
        self.pages = array("q")
        self.numbers = array("i")

    def __len__(self) -> int:
        return len(self.records)

    def add(self, record: int, queue: int, page: int, number: int) -> None:
        self.records.append(record)
        self.queues.append(queue)
        self.pages.append(page)
        self.numbers.append(number)

    def take_rows(self, columns: Columns, rows: array[int]) -> list[int]:
        """Add ack or page-complete records; gives the rows whose body has another size than theirs."""
        if not rows:
            return []
        import numpy as np

        wanted = np.frombuffer(rows, np.int64)
        fits = np.frombuffer(columns.sizes, np.int32)[wanted] == BODY
        good = wanted[fits]
        places = np.frombuffer(columns.places, np.int64)[good]
        small = np.frombuffer(columns.small, np.uint8)
        bodies = small[places[:, None] + np.arange(BODY)] if len(good) else np.zeros((0, BODY), np.uint8)
        self.records.frombytes(np.frombuffer(columns.ids, np.int64)[good].tobytes())
        self.queues.frombytes(bodies[:, :8].copy().view(">i8").astype(np.int64).tobytes())
        self.pages.frombytes(bodies[:, 8:16].copy().view(">i8").astype(np.int64).tobytes())
        self.numbers.frombytes(bodies[:, 16:].copy().view(">i4").astype(np.int32).tobytes())
        return [int(row) for row in wanted[~fits]]

    def __iter__(self) -> Iterator[tuple[int, int, int, int]]:
        """(record id, queue, page, number)"""
        return zip(self.records, self.queues, self.pages, self.numbers, strict=True)


class PositionIndex:
    """Numbers by (queue, page), ascending, each once. ``repeated`` counts what stood there more than once."""

    __slots__ = ("_numbers", "_spans", "repeated")

    def __init__(self, positions: Positions) -> None:
        self._numbers: array[int] = array("i")
        self._spans: dict[tuple[int, int], tuple[int, int]] = {}
        self.repeated = 0
        if positions.records:
            self._build(positions)

    def _build(self, positions: Positions) -> None:
        import numpy as np

        queues = np.frombuffer(positions.queues, np.int64)
        pages = np.frombuffer(positions.pages, np.int64)
        numbers = np.frombuffer(positions.numbers, np.int32)
        order = np.lexsort((numbers, pages, queues))
        queues, pages, numbers = queues[order], pages[order], numbers[order]
        new_span = np.ones(len(order), bool)
        new_span[1:] = (queues[1:] != queues[:-1]) | (pages[1:] != pages[:-1])
        kept = new_span.copy()
        kept[1:] |= numbers[1:] != numbers[:-1]
        self.repeated = int(len(kept) - kept.sum())
        queues, pages, numbers, new_span = queues[kept], pages[kept], numbers[kept], new_span[kept]
        self._numbers = array("i", numbers.tobytes())
        starts = np.flatnonzero(new_span)
        stops = [*starts[1:].tolist(), len(numbers)]
        keys = zip(queues[starts].tolist(), pages[starts].tolist(), strict=True)
        self._spans = dict(zip(keys, zip(starts.tolist(), stops, strict=True), strict=True))

    def numbers(self, queue: int, page: int) -> array[int]:
        """The numbers of one page that one queue has a record for, ascending; bookmarks (-1) included."""
        start, stop = self._spans.get((queue, page), (0, 0))
        return self._numbers[start:stop]

    def has(self, queue: int, page: int, number: int) -> bool:
        start, stop = self._spans.get((queue, page), (0, 0))
        at = bisect_left(self._numbers, number, start, stop)
        return at < stop and self._numbers[at] == number

    def pages(self) -> Iterator[tuple[int, int]]:
        """(queue, page) of everything that is there, ascending."""
        return iter(self._spans)
