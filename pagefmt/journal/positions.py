"""Acknowledged positions: columns as they were read, and an index by queue and page (docs/spec/journal.md 7.1)."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pagefmt.journal.fast_scan import Ints

    Numbers: TypeAlias = npt.NDArray[np.int32]
    Fingerprints: TypeAlias = npt.NDArray[np.uint64]

# Positions processed at once: their working memory is small compared with all positions.
AT_ONCE: Final = 1 << 16
# The message number of an ack record that acknowledges nothing: written when a store left page mode.
BOOKMARK: Final = -1
# Bits of a word without its sign.
_WORD: Final = 63
_FEW: Final = 8


class PositionChunk(NamedTuple):
    """Some positions side by side."""

    queues: Ints
    pages: Ints
    numbers: Ints | Numbers


# Returns an iterator over all positions in chunks; each call starts from the first one.
PositionChunks: TypeAlias = Callable[[], Iterable[PositionChunk]]


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
        """Add the position of an ack record."""
        self.records.append(record)
        self.queues.append(queue)
        self.pages.append(page)
        self.numbers.append(number)

    def __iter__(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield (record id, queue, page, number) of each record."""
        return zip(self.records, self.queues, self.pages, self.numbers, strict=True)

    def chunks(self) -> Iterator[PositionChunk]:
        """Yield all positions as one chunk, or nothing if there are none."""
        if self.records:
            import numpy as np

            yield PositionChunk(
                np.frombuffer(self.queues, np.int64),
                np.frombuffer(self.pages, np.int64),
                np.frombuffer(self.numbers, np.int32),
            )


class PositionIndex:
    """Message numbers by (queue, page), ascending and distinct. ``repeated``: number of duplicates that were dropped.

    Memory: 4 bytes per position and 16 per (queue, page); 8 more per position during construction.
    """

    __slots__ = ("_numbers", "_of_queue", "_pages", "_starts", "repeated")

    def __init__(self, chunks: PositionChunks) -> None:
        self._numbers = array("i")
        self._pages = array("q")
        self._starts = array("q", [0])
        self._of_queue: dict[int, tuple[int, int]] = {}
        self.repeated = 0
        last = None
        for chunk in _in_order(chunks):
            last = self._add(chunk, last)

    def _add(self, chunk: PositionChunk, last: tuple[int, ...] | None) -> tuple[int, ...]:
        """Add positions that follow all earlier ones in order, and return the last (queue, page, number)."""
        import numpy as np

        # Positions are sorted, so comparing each with its predecessor shows where a (queue, page) ``begins`` and which
        # numbers are ``new``. The last position of the previous chunk is the predecessor of the first one.
        queues, pages, numbers = chunk
        begins, new = np.ones(len(queues), bool), np.ones(len(queues), bool)
        begins[1:] = (queues[1:] != queues[:-1]) | (pages[1:] != pages[:-1])
        new[1:] = begins[1:] | (numbers[1:] != numbers[:-1])
        first = int(queues[0]), int(pages[0]), int(numbers[0])
        if last is not None:
            begins[0], new[0] = first[:2] != last[:2], first != last
        at = np.flatnonzero(begins)
        starts = len(self._numbers) + (np.cumsum(new) - new)[at]
        self.repeated += len(new) - int(np.count_nonzero(new))
        self._numbers.frombytes(numbers[new].astype(np.int32).tobytes())
        self._starts.pop()
        self._starts.frombytes(starts.astype(np.int64).tobytes())
        self._starts.append(len(self._numbers))
        self._note_queues(queues[at])
        self._pages.frombytes(pages[at].tobytes())
        return int(queues[-1]), int(pages[-1]), int(numbers[-1])

    def _note_queues(self, queues: Ints) -> None:
        """Extend each queue's range in ``_pages`` by its pages that are about to be added.

        ``queues``: the queue of each of these pages, ascending.
        """
        import numpy as np

        edges = [0, *(np.flatnonzero(queues[1:] != queues[:-1]) + 1).tolist(), len(queues)]
        base = len(self._pages)
        for begin, end in pairwise(edges):
            if begin < end:
                queue = int(queues[begin])
                self._of_queue[queue] = self._of_queue.get(queue, (base + begin, 0))[0], base + end

    def __contains__(self, queue: int) -> bool:
        """Return whether the queue has any record."""
        return queue in self._of_queue

    def _span(self, queue: int, page: int) -> tuple[int, int]:
        first, behind = self._of_queue.get(queue, (0, 0))
        at = bisect_left(self._pages, page, first, behind)
        return (self._starts[at], self._starts[at + 1]) if at < behind and self._pages[at] == page else (0, 0)

    def numbers(self, queue: int, page: int) -> array[int]:
        """Return the numbers in a page for which the queue has a record, ascending, bookmarks (-1) included."""
        start, stop = self._span(queue, page)
        return self._numbers[start:stop]

    def has(self, queue: int, page: int, number: int) -> bool:
        """Return whether the queue has a record for this message of the page."""
        start, stop = self._span(queue, page)
        at = bisect_left(self._numbers, number, start, stop)
        return at < stop and self._numbers[at] == number

    def fingerprints(self, queue: int) -> tuple[Ints, Fingerprints]:
        """Return the pages with records of the queue, ascending, and a fingerprint of each page's numbers."""
        import numpy as np

        first, behind = self._of_queue.get(queue, (0, 0))
        starts = np.array(self._starts[first : behind + 1], np.int64)
        numbers = np.array(self._numbers[starts[0] : starts[-1]], np.int64)
        pages = np.array(self._pages[first:behind], np.int64)
        return pages, np.add.reduceat(scattered(numbers), starts[:-1] - starts[0]) if len(pages) else scattered(pages)

    def chunks(self) -> Iterator[PositionChunk]:
        """Yield all positions by rising queue, page and number, at most ``AT_ONCE`` in a chunk."""
        import numpy as np

        pages, starts = np.frombuffer(self._pages, np.int64), np.frombuffer(self._starts, np.int64)
        numbers = np.frombuffer(self._numbers, np.int32)
        for queue, (first, behind) in self._of_queue.items():
            for begin in range(int(starts[first]), int(starts[behind]), AT_ONCE):
                end = min(begin + AT_ONCE, int(starts[behind]))
                at = np.searchsorted(starts, np.arange(begin, end), "right") - 1
                yield PositionChunk(np.full(end - begin, queue), pages[at], numbers[begin:end])

    def pages(self) -> Iterator[tuple[int, int]]:
        """Yield each (queue, page) that has positions, ascending."""
        for queue, (first, behind) in self._of_queue.items():
            for page in self._pages[first:behind]:
                yield queue, page


def scattered(values: Ints) -> Fingerprints:
    """Hash each value to 64 bits that depend on all of its bits, so that sums of hashes differ if the values do."""
    import numpy as np

    words = (values.astype(np.uint64) ^ np.uint64(0x94D049BB133111EB)) * np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed: Fingerprints = words ^ (words >> np.uint64(27))
    return mixed


def _in_order(chunks: PositionChunks) -> Iterator[PositionChunk]:
    """Yield all positions in ascending order."""
    # First pass: the ranges of queues, pages and numbers, which decide whether a position fits into one sortable word.
    queues: set[int] = set()
    count = low_page = low_number = high_page = high_number = 0
    for chunk in chunks():
        count += len(chunk.queues)
        queues.update(_distinct(chunk.queues))
        low_page, high_page = min(low_page, int(chunk.pages.min())), max(high_page, int(chunk.pages.max()))
        low_number, high_number = min(low_number, int(chunk.numbers.min())), max(high_number, int(chunk.numbers.max()))
    if not count:
        return iter(())
    coding = _WordCoding(
        sorted(queues), low_page, low_number, _bits(high_page - low_page), _bits(high_number - low_number)
    )
    return coding.sorted(chunks, count) if coding.bits <= _WORD else _by_columns(chunks)


def _bits(most: int) -> int:
    return most.bit_length()


def _distinct(values: Ints) -> list[int]:
    """Return the distinct values; fast if there are few."""
    from pagefmt.arrays import distinct

    distinct_values: list[int] = []
    while len(values) and len(distinct_values) < _FEW:
        distinct_values.append(int(values[0]))
        values = values[values != distinct_values[-1]]
    return [*distinct_values, *distinct(values).tolist()]


class _WordCoding(NamedTuple):
    """An encoding of a position in one word of the same order: sorting words is ten times as fast as sorting rows."""

    queues: list[int]
    low_page: int
    low_number: int
    page_bits: int
    number_bits: int

    @property
    def bits(self) -> int:
        return _bits(len(self.queues)) + self.page_bits + self.number_bits

    def sorted(self, chunks: PositionChunks, count: int) -> Iterator[PositionChunk]:
        import numpy as np

        words, at, queues = np.empty(count, np.int64), 0, np.array(self.queues, np.int64)
        for chunk in chunks():
            high = (np.searchsorted(queues, chunk.queues) << self.page_bits) + (chunk.pages - self.low_page)
            words[at : at + len(high)] = (high << self.number_bits) + (chunk.numbers.astype(np.int64) - self.low_number)
            at += len(high)
        words.sort()
        for start in range(0, count, AT_ONCE):
            some = words[start : start + AT_ONCE]
            high = some >> self.number_bits
            pages = (high & ((1 << self.page_bits) - 1)) + self.low_page
            numbers = (some & ((1 << self.number_bits) - 1)) + self.low_number
            yield PositionChunk(queues[high >> self.page_bits], pages, numbers)


def _by_columns(chunks: PositionChunks) -> Iterator[PositionChunk]:
    """Sort positions whose pages or numbers lie too far apart for packing into a word; no broker writes such."""
    import numpy as np

    queues, pages, numbers = map(np.concatenate, zip(*chunks(), strict=True))
    order = np.lexsort((numbers, pages, queues))
    yield PositionChunk(queues[order], pages[order], numbers[order])
