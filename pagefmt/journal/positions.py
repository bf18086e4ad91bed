"""Acknowledged positions: columns as they were read, and an index by queue and page (spec/journal.md 7.1)."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pagefmt.journal.columns import Columns
    from pagefmt.journal.fast_scan import Ints

    Numbers = npt.NDArray[np.int32]

BODY: Final = 20
"""``i64`` queue id, ``i64`` page, ``i32`` number"""
_APART: Final = 64
"""So many queues are sorted one by one."""
_HALF: Final = 1 << 31
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

        from pagefmt.journal.fast_scan import bodies_at

        wanted = np.frombuffer(rows, np.int64)
        fits = np.frombuffer(columns.sizes, np.int32)[wanted] == BODY
        good = wanted[fits]
        places = np.frombuffer(columns.places, np.int64)[good]
        layout = np.dtype([("queue", ">i8"), ("page", ">i8"), ("number", ">i4")])
        bodies = bodies_at(columns.small, places, BODY).view(layout)
        self.records.frombytes(np.frombuffer(columns.ids, np.int64)[good].tobytes())
        self.queues.frombytes(bodies["queue"].astype(np.int64).tobytes())
        self.pages.frombytes(bodies["page"].astype(np.int64).tobytes())
        self.numbers.frombytes(bodies["number"].astype(np.int32).tobytes())
        return [int(row) for row in wanted[~fits]]

    def __iter__(self) -> Iterator[tuple[int, int, int, int]]:
        """(record id, queue, page, number)"""
        return zip(self.records, self.queues, self.pages, self.numbers, strict=True)


def _in_order(queues: Ints, pages: Ints, numbers: Numbers) -> tuple[Ints, Ints, Numbers]:
    import numpy as np

    order = np.lexsort((numbers, pages, queues))
    return queues[order], pages[order], numbers[order]


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
        if pages.min() < 0 or pages.max() >= 1 << 31:
            self._add(*_in_order(queues, pages, numbers))
            return
        ordered = np.sort(queues)
        distinct = ordered[np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))]
        if len(distinct) > _APART:
            self._add(*_in_order(queues, pages, numbers))
            return
        for queue in distinct.tolist():
            # page and number in one word: sorting words is ten times as fast as sorting rows
            here = queues == queue
            word = np.sort((pages[here] << 32) + (numbers[here].astype(np.int64) + _HALF))
            self._add(np.full(len(word), queue), word >> 32, ((word & 0xFFFFFFFF) - _HALF).astype(np.int32))

    def _add(self, queues: Ints, pages: Ints, numbers: Numbers) -> None:
        """More positions in their order, all behind those that are there."""
        import numpy as np

        new_span = np.ones(len(queues), bool)
        new_span[1:] = (queues[1:] != queues[:-1]) | (pages[1:] != pages[:-1])
        kept = new_span.copy()
        kept[1:] |= numbers[1:] != numbers[:-1]
        kept_rows = np.flatnonzero(kept)
        self.repeated += len(kept) - len(kept_rows)
        starts = np.flatnonzero(new_span[kept_rows])
        first, rows = len(self._numbers), kept_rows[starts]
        self._numbers.frombytes(numbers[kept_rows].tobytes())
        edges = [*(starts + first).tolist(), len(self._numbers)]
        keys = zip(queues[rows].tolist(), pages[rows].tolist(), strict=True)
        self._spans.update(zip(keys, pairwise(edges), strict=True))

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
