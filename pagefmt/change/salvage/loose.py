"""Records that lost their place: kept on the disk until it is known which of them the store has elsewhere.

A store may have millions of messages and gigabytes of damaged pages, so ids are packed and records are not held.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Final

from pagefmt.directory.paging import LARGEST_NUMBER, WITHIN_REACH
from pagefmt.errors import PageFmtError
from pagefmt.storage.writing import PARTIAL_SUFFIX

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Ids = npt.NDArray[np.int64]

PAGE_SIZE: Final = 10 << 20  # bytes; new pages are no larger than the broker's default, unless a single record is
_STEP: Final = 1000  # largest gap in page numbers before a new page, whatever pages acknowledgements name


class MessageIds:
    """Message ids in sorted runs, merged as they grow: 8 bytes an id."""

    def __init__(self) -> None:
        self._runs: list[Ids] = []

    def add(self, ids: Ids) -> None:
        """Add ids to the set, as a sorted run merged with the runs of at most twice its size."""
        import numpy as np

        run = np.sort(ids)
        # Runs shrink at least by half from first to last, as in a merge sort: adding n ids costs O(n log n), and a
        # search has to look into only O(log n) runs.
        while self._runs and len(self._runs[-1]) <= 2 * len(run):
            run = np.sort(np.concatenate((self._runs.pop(), run)))
        if len(run):
            self._runs.append(run)

    def has(self, ids: Ids) -> npt.NDArray[np.bool_]:
        """Return a mask of the ids that are in the set."""
        import numpy as np

        present = np.zeros(len(ids), bool)
        for run in self._runs:
            present |= run[np.minimum(run.searchsorted(ids), len(run) - 1)] == ids
        return present


class FreeNumbers:
    """Numbers for new pages, after all ``used`` ones and all near them that acknowledgements have ``named``.

    If the largest possible number is used, these are the highest ones that are neither. Used numbers after a gap that
    is too wide for a broker do not count.
    """

    def __init__(self, used: Iterable[int], named: Iterable[int]) -> None:
        self.used = {number for number in used if 0 < number <= LARGEST_NUMBER}
        self._last = min(self.used, default=0)
        for number in sorted(self.used):
            self._last = number if number - self._last <= WITHIN_REACH else self._last
        self._named = {number for number in named if 0 < number <= LARGEST_NUMBER}
        near = (number for number in self._named if number <= self._last + _STEP)
        last = max(self._last, max(near, default=0))
        self._numbers = (
            number
            for numbers in (range(last + 1, LARGEST_NUMBER + 1), range(self._last, 0, -1))
            for number in numbers
            if number not in self.used and number not in self._named
        )

    def take(self) -> int:
        """Return the next free page number."""
        number = next(self._numbers, None)
        if number is None:
            raise PageFmtError("no page number is free")
        return number


class LooseRecords:
    """Records in a temporary file, which is in the folder ``beside`` the output."""

    def __init__(self, beside: Path) -> None:
        self._beside = beside
        self._file = TemporaryFile(dir=beside)  # noqa: SIM115 (closed by __exit__)
        self._clear()

    def _clear(self) -> None:
        self._ids, self._sizes, self._again = array("q"), array("q"), bytearray()
        self._acked = array("q"), array("q")
        self._file.seek(0)
        self._file.truncate()
        self.repeated = self.written = self.delivered_again = 0
        self.acked: Iterable[tuple[int, int]] = ()

    def __enter__(self) -> LooseRecords:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    @contextmanager
    def _errors_named(self) -> Iterator[None]:
        try:
            yield
        except OSError as err:
            err.filename = str(self._beside).removesuffix(PARTIAL_SUFFIX)
            raise

    def add(self, record: bytes | memoryview, message: int, again: bool = False, acked: Iterable[int] = ()) -> None:
        """Add a record.

        ``again``: a queue has acknowledged it at its old position. ``acked``: ids of queues that may have.
        """
        with self._errors_named():
            self._file.write(record)
        for queue in acked:
            self._acked[0].append(len(self._ids))
            self._acked[1].append(queue)
        self._ids.append(message)
        self._sizes.append(len(record))
        self._again.append(again)

    def pages(self, present: MessageIds) -> Iterator[Iterator[bytes]]:
        """Yield the records of one new page after another, each message once and none that is ``present``; then clear.

        Afterwards ``repeated``, ``written`` and ``delivered_again`` hold the counts, and ``acked`` yields message and
        queue ids of messages that the queue may have acknowledged.
        """
        import numpy as np

        with self._errors_named():
            self._file.flush()
        # An id is fresh at its first occurrence, unless it is in ``present``. The counts are taken before the first
        # page is yielded, because spans are consumed from then on.
        ids = np.array(self._ids, np.int64)
        fresh = np.zeros(len(ids), bool)
        fresh[np.unique(ids, return_index=True)[1]] = True
        fresh &= ~present.has(ids)
        present.add(ids[fresh])
        sizes = np.array(self._sizes, np.int64)
        again = int(np.frombuffer(bytes(self._again), np.uint8)[fresh].sum())
        spans = list(zip((np.cumsum(sizes) - sizes)[fresh].tolist(), sizes[fresh].tolist(), strict=True))
        counts = len(ids) - len(spans), len(spans), again
        acked = ((int(ids[at]), queue) for at, queue in zip(*self._acked, strict=True) if fresh[at])
        while spans:
            yield self._records(_page_of(spans))
        self._clear()
        self.repeated, self.written, self.delivered_again = counts
        self.acked = acked

    def _records(self, spans: list[tuple[int, int]]) -> Iterator[bytes]:
        for at, size in spans:
            self._file.seek(at)
            yield self._file.read(size)


def _page_of(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Remove from the front, and return, as many spans as one page has room for."""
    room, count = PAGE_SIZE - spans[0][1], 1
    while count < len(spans) and spans[count][1] <= room:
        room -= spans[count][1]
        count += 1
    page = spans[:count]
    del spans[:count]
    return page
