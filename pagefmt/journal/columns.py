"""Journal records in columns: millions of them without an object each.

23 bytes a record, and its small body; those of ack and page-complete records, which are most, take nothing more.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from pagefmt.bytes.files import open_file
from pagefmt.journal.files import HEADER, JournalFile, NotAJournal, encode_header
from pagefmt.journal.position_bodies import SIZE as POSITION
from pagefmt.journal.position_bodies import PositionBodies
from pagefmt.journal.positions import AT_ONCE, PositionChunk
from pagefmt.journal.records import JournalFrame, RecordKind

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pagefmt.journal.fast_scan import Ints, JournalFrames

    Bodies: TypeAlias = npt.NDArray[np.void]
    Sizes: TypeAlias = npt.NDArray[np.int32]

SMALL: Final = 24
"""Bodies up to this size are kept in memory: all records about references, acknowledgements and counters."""

_CHANGED: Final = "changed while it was read; stop the broker and try again"
_UPDATES: Final = (RecordKind.UPDATE, RecordKind.UPDATE_TX)


class JournalColumns:
    """Records by row number, in the order of their files. A row is what a frame says.

    Where its file lies is kept to read bigger bodies later. ``begins``: the first row of each file.
    """

    __slots__ = (
        "begins",
        "compacts",
        "files",
        "ids",
        "places",
        "position_bodies",
        "sizes",
        "small",
        "types",
        "updates",
    )

    def __init__(self, files: Sequence[JournalFile]) -> None:
        self.files = files
        self.begins: list[int] = []
        self.ids = array("q")
        self.types = array("b")
        self.updates = bytearray()
        self.compacts = array("b")
        self.sizes = array("i")
        self.places = array("q")
        self.position_bodies = PositionBodies()
        self.small = bytearray()

    def __len__(self) -> int:
        return len(self.ids)

    def begin(self) -> None:
        """What is added from now on is of the next file."""
        self.begins.append(len(self.ids))

    def file_numbers(self, rows: Ints) -> set[int]:
        """Of which files these rows are."""
        import numpy as np

        return set((np.searchsorted(self.begins, rows, "right") - 1).tolist())

    def file_of(self, row: int) -> JournalFile:
        """The file that a row is of."""
        return self.files[bisect_right(self.begins, row) - 1]

    def size_of(self, rows: Ints) -> int:
        """Bytes of their bodies together."""
        import numpy as np

        return int(np.frombuffer(self.sizes, np.int32)[rows].sum(dtype=np.int64))

    def append(self, frame: JournalFrame, buf: bytes | memoryview) -> int:
        """Add a record, give its row."""
        row = len(self.ids)
        self.ids.append(frame.id)
        self.types.append(frame.user_type)
        self.updates.append(frame.kind in _UPDATES)
        self.compacts.append(frame.compact)
        self.sizes.append(frame.size)
        body = buf[frame.body : frame.body + frame.size] if frame.size <= SMALL else b""
        if frame.size == POSITION:
            self.places.append(self.position_bodies.add(bytes(body)))
        else:
            self.places.append(frame.body if frame.size > SMALL else len(self.small))
            self.small += body
        return row

    def extend(self, found: JournalFrames, rows: Ints) -> int:
        """Add these rows of a file at once, in their order; gives the row of the first."""
        import numpy as np

        from pagefmt.journal.fast_scan import bodies_at

        first = len(self.ids)
        self.ids.frombytes(found.id[rows].tobytes())
        self.types.frombytes(found.user_type[rows].astype(np.int8).tobytes())
        self.updates += np.isin(found.kind[rows], _UPDATES).astype(np.uint8).tobytes()
        self.compacts.frombytes(found.compact[rows].astype(np.int8).tobytes())
        self.sizes.frombytes(found.size[rows].astype(np.int32).tobytes())
        self._bring_in(found.size[rows], found.body[rows], lambda at, size: bodies_at(found.content, at, size))
        return first

    def _bring_in(self, sizes: Sizes, bodies: Ints, bodies_of: Callable[[Ints, int], Bodies]) -> None:
        """Note where the bodies are: small ones are copied, those of one size together."""
        import numpy as np

        places = bodies.copy()
        for size in np.flatnonzero(np.bincount(sizes[sizes <= SMALL])).tolist():
            here = np.flatnonzero(sizes == size)
            some = bodies_of(bodies[here], size)
            if size == POSITION:
                places[here] = self.position_bodies.add_all(some)
            else:
                places[here] = len(self.small) + size * np.arange(len(here))
                self.small += some.tobytes()
        self.places.frombytes(places.tobytes())

    def beginnings(self, rows: Ints, size: int) -> Bodies:
        """The bodies of these rows, of which none is shorter, up to this size, which is ``SMALL`` at most."""
        import numpy as np

        same = np.frombuffer(self.sizes, np.int32)[rows] == size
        places = np.frombuffer(self.places, np.int64)[rows]
        if same.all():
            return self._bodies_at(places, size)
        found = np.empty(len(rows), f"V{size}")
        found[same] = self._bodies_at(places[same], size)
        longer = b"".join(body[:size] for body in self.bodies(rows[~same].tolist()))
        found[~same] = np.frombuffer(longer, found.dtype)
        return found

    def _bodies_at(self, places: Ints, size: int) -> Bodies:
        from pagefmt.journal.fast_scan import bodies_at

        return self.position_bodies.bodies(places) if size == POSITION else bodies_at(self.small, places, size)

    def of_rows(self, rows: Ints) -> JournalColumns:
        """These rows alone, ascending."""
        import numpy as np

        found = JournalColumns(self.files)
        found.begins = np.searchsorted(rows, self.begins).tolist()
        found.ids.frombytes(np.frombuffer(self.ids, np.int64)[rows].tobytes())
        found.types.frombytes(np.frombuffer(self.types, np.int8)[rows].tobytes())
        found.updates += np.frombuffer(self.updates, np.uint8)[rows].tobytes()
        found.compacts.frombytes(np.frombuffer(self.compacts, np.int8)[rows].tobytes())
        sizes = np.frombuffer(self.sizes, np.int32)[rows]
        found.sizes.frombytes(sizes.tobytes())
        places = np.frombuffer(self.places, np.int64)[rows]
        found._bring_in(sizes, places, self._bodies_at)
        return found

    def positions(self, rows: array[int], user_type: int) -> Iterator[PositionChunk]:
        """Where the bodies of one type's records point, chunk by chunk; other rows, and other bodies, are left out."""
        if not rows:
            return
        import numpy as np

        types, sizes = np.frombuffer(self.types, np.int8), np.frombuffer(self.sizes, np.int32)
        places = np.frombuffer(self.places, np.int64)
        for every in portions(rows):
            some = every[(types[every] == user_type) & (sizes[every] == POSITION)]
            if len(some):
                yield self.position_bodies.chunk(places[some])

    def body(self, row: int) -> bytes:
        """The body of a record; a big one is read from its file again."""
        return self.bodies((row,))[0]

    def bodies(self, rows: Sequence[int]) -> list[bytes]:
        """The same of several, with each file opened once.

        Raises ``NotAJournal`` where a broker began the file anew since it was loaded, or made it shorter.
        """
        found = [b""] * len(rows)
        large: dict[int, list[int]] = {}
        for each, row in enumerate(rows):
            size, at = self.sizes[row], self.places[row]
            if size == POSITION:
                found[each] = self.position_bodies.body(at)
            elif size <= SMALL:
                found[each] = bytes(self.small[at : at + size])
            else:
                large.setdefault(bisect_right(self.begins, row) - 1, []).append(each)
        for number, wanted in large.items():
            file = self.files[number]
            opened = open_file(file.path)
            try:
                for each in wanted:
                    size, at = self.sizes[rows[each]], self.places[rows[each]]
                    found[each] = opened.read_at(size, at)
                    if len(found[each]) != size:
                        raise NotAJournal(f"{file.path}: offset {at}: {_CHANGED}")
                if opened.read_at(HEADER.size, 0) != encode_header(file.stated or file.header):
                    raise NotAJournal(f"{file.path}: {_CHANGED}")
            finally:
                opened.close()
        return found


def portions(rows: array[int]) -> Iterator[Ints]:
    """Some at a time: an answer for each of all of them would take much memory."""
    if rows:
        import numpy as np

        every = np.frombuffer(rows, np.int64)
        yield from (every[start : start + AT_ONCE] for start in range(0, len(every), AT_ONCE))
