"""Bodies of 20 bytes in 8: ``i64`` queue id and ``i64`` page, which many of them share, apart from the ``i32`` number.

Ack and page-complete records are most of a journal beside large page directories. Whatever else is as long comes back
byte for byte as well.
"""

from __future__ import annotations

from array import array
from struct import Struct
from typing import TYPE_CHECKING, Any, Final

from pagefmt.journal.positions import PositionChunk

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pagefmt.journal.fast_scan import Ints

SIZE: Final = 20
_BODY: Final = Struct(">qqi")
_LAYOUT: Final = [("queue", ">i8"), ("page", ">i8"), ("number", ">i4")]
_KNOWN: Final = 1 << 12
_MIX: Final = -7046029254386353131  # odd, and its bits look random


class PositionBodies:
    """A body's place is the number of its head, (queue, page), in the upper half and its number in the lower.

    A head may stand there several times: once for each call that brought it, at least.
    """

    __slots__ = ("_known", "_pages", "_queues")

    def __init__(self) -> None:
        self._queues = array("q")
        self._pages = array("q")
        self._known: dict[tuple[int, int], int] = {}

    def add(self, body: bytes) -> int:
        """Add a body and return its place."""
        queue, page, number = _BODY.unpack(body)
        head = self._known.get((queue, page))
        if head is None:
            if len(self._known) == _KNOWN:
                self._known.clear()
            head = self._known[queue, page] = len(self._queues)
            self._queues.append(queue)
            self._pages.append(page)
        place: int = head << 32 | number & 0xFFFFFFFF
        return place

    def add_all(self, bodies: npt.NDArray[np.void]) -> Ints:
        """Add bodies at once and return their places."""
        import numpy as np

        parts: Any = bodies.view(np.dtype(_LAYOUT))
        queues, pages = parts["queue"].astype(np.int64), parts["page"].astype(np.int64)
        # One hash per (queue, page) makes sorting cheap; the next line detects a collision and then shares no heads.
        _, first, which = np.unique(queues * _MIX + pages, return_index=True, return_inverse=True)
        if (queues[first][which] != queues).any() or (pages[first][which] != pages).any():
            first = which = np.arange(len(queues))  # two heads became one
        base = len(self._queues)
        self._queues.frombytes(queues[first].tobytes())
        self._pages.frombytes(pages[first].tobytes())
        places: Ints = (which.astype(np.int64) + base) << 32 | parts["number"].astype(np.int64) & 0xFFFFFFFF
        return places

    def body(self, place: int) -> bytes:
        """Return the 20 bytes of the body at a place."""
        number = place & 0xFFFFFFFF
        return _BODY.pack(self._queues[place >> 32], self._pages[place >> 32], number - (number >> 31 << 32))

    def chunk(self, places: Ints) -> PositionChunk:
        """Return the positions of the bodies at these places."""
        import numpy as np

        heads = places >> 32
        return PositionChunk(
            np.frombuffer(self._queues, np.int64)[heads],
            np.frombuffer(self._pages, np.int64)[heads],
            places.astype(np.int32),
        )

    def bodies(self, places: Ints) -> npt.NDArray[np.void]:
        """Return the bodies at these places in the form that ``add_all`` accepts."""
        import numpy as np

        table: Any = np.empty(len(places), np.dtype(_LAYOUT))
        table["queue"], table["page"], table["number"] = self.chunk(places)
        bodies: npt.NDArray[np.void] = table.view(f"V{SIZE}")
        return bodies
