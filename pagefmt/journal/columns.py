"""Journal records in columns: millions of them without an object each.

Some twelve bytes a record: its id, its type, the size of its body and where that is. Bodies that many records share
are there once: references to one queue, acknowledgements of one page.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeAlias

from pagefmt.journal.files import HEADER, JournalFile, NotAJournal, encode_header
from pagefmt.journal.numbers import Numbers
from pagefmt.journal.position_bodies import SIZE as POSITION
from pagefmt.journal.position_bodies import PositionBodies
from pagefmt.journal.positions import PositionChunk
from pagefmt.journal.records import RecordKind
from pagefmt.storage.files import open_file

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pagefmt.journal.fast_scan import Ints, JournalFrames

    Bodies: TypeAlias = npt.NDArray[np.void]

# Bytes. Bodies up to this size are kept in memory: all records about references, acknowledgements and counters.
SMALL: Final = 24

# Bytes of a body that is only a queue id: references, and their acknowledgements.
QUEUE: Final = 8
_FEW: Final = 8

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
        self.ids = Numbers()
        self.types = Numbers()
        self.updates = Numbers()
        self.compacts = Numbers()
        self.sizes = Numbers()
        self.places = Numbers()
        self.position_bodies = PositionBodies()
        self.small = bytearray()

    def __len__(self) -> int:
        return len(self.ids)

    def begin(self) -> None:
        """Start the rows of the next file."""
        self.begins.append(len(self.ids))

    def file_numbers(self, rows: Ints) -> set[int]:
        """Return the indices of the files that these rows come from."""
        import numpy as np

        return set((np.searchsorted(self.begins, rows, "right") - 1).tolist())

    def file_of(self, row: int) -> JournalFile:
        """Return the file that a row comes from."""
        return self.files[bisect_right(self.begins, row) - 1]

    def size_of(self, rows: Ints) -> int:
        """Return the bytes of the bodies of these rows together."""
        return int(self.sizes.at(rows).sum())

    def extend(self, frames: JournalFrames, rows: Ints) -> int:
        """Add these rows of a file at once, in their order. Return the row of the first."""
        import numpy as np

        from pagefmt.journal.fast_scan import bodies_at

        first = len(self.ids)
        updates = np.isin(frames.kind[rows], _UPDATES)
        for column, values in (
            (self.ids, frames.id[rows]),
            (self.types, frames.user_type[rows]),
            (self.updates, updates),
            (self.compacts, frames.compact[rows]),
        ):
            column.extend(values.astype(np.int64))
        sizes = frames.size[rows].astype(np.int64)
        self._bring_in(sizes, frames.body[rows], lambda at, size: bodies_at(frames.content, at - frames.base, size))
        return first

    def _bring_in(self, sizes: Ints, bodies: Ints, bodies_of: Callable[[Ints, int], Bodies]) -> None:
        """Note sizes, and where the bodies are: small ones are copied, those of one size together."""
        import numpy as np

        places = bodies.copy()
        for size in np.flatnonzero(np.bincount(sizes[sizes <= SMALL])).tolist():
            rows_of_size = np.flatnonzero(sizes == size)
            some = bodies_of(bodies[rows_of_size], size)
            if size == POSITION:
                places[rows_of_size] = self.position_bodies.add_all(some)
                continue
            which = np.arange(len(rows_of_size))
            if size == QUEUE:
                some, which = _each_once(some)
            places[rows_of_size] = len(self.small) + size * which
            self.small += some.tobytes()
        self.sizes.extend(sizes)
        self.places.extend(places)

    def beginnings(self, rows: Ints, size: int) -> Bodies:
        """Return the first ``size`` bytes of the rows' bodies, none of which is shorter. At most ``SMALL`` bytes."""
        import numpy as np

        same = self.sizes.at(rows) == size
        places = self.places.at(rows)
        if same.all():
            return self._bodies_at(places, size)
        beginnings = np.empty(len(rows), f"V{size}")
        beginnings[same] = self._bodies_at(places[same], size)
        longer = b"".join(body[:size] for body in self.bodies(rows[~same].tolist()))
        beginnings[~same] = np.frombuffer(longer, beginnings.dtype)
        return beginnings

    def _bodies_at(self, places: Ints, size: int) -> Bodies:
        from pagefmt.journal.fast_scan import bodies_at

        return self.position_bodies.bodies(places) if size == POSITION else bodies_at(self.small, places, size)

    def of_rows(self, rows: Numbers, begins: Sequence[int]) -> JournalColumns:
        """Return columns with only these ascending rows. ``begins``: the index of each file's first row among them."""
        columns = JournalColumns(self.files)
        columns.begins = [*begins]
        for some in rows.portions():
            for name in ("ids", "types", "updates", "compacts"):
                getattr(columns, name).extend(getattr(self, name).at(some))
            columns._bring_in(self.sizes.at(some), self.places.at(some), self._bodies_at)
        return columns

    def positions(self, rows: Numbers, user_type: int) -> Iterator[PositionChunk]:
        """Yield the positions in the bodies of one record type, in chunks. Other types and sizes are left out."""
        for every in rows.portions():
            some = every[(self.types.at(every) == user_type) & (self.sizes.at(every) == POSITION)]
            if len(some):
                yield self.position_bodies.chunk(self.places.at(some))

    def _extents(self, rows: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
        """Return the sizes of the bodies, and their places."""
        if len(rows) < _FEW:
            return [self.sizes[row] for row in rows], [self.places[row] for row in rows]
        import numpy as np

        every = np.array(rows, np.int64)
        return self.sizes.at(every).tolist(), self.places.at(every).tolist()

    def body(self, row: int) -> bytes:
        """Return the body of a record; a large one is read again from its file."""
        return self.bodies((row,))[0]

    def bodies(self, rows: Sequence[int]) -> list[bytes]:
        """Return the bodies of several records, opening each file once.

        Raises ``NotAJournal`` if a broker reused or shortened a file after it was loaded.
        """
        bodies = [b""] * len(rows)
        large: dict[int, list[tuple[int, int, int]]] = {}
        for index, (row, size, at) in enumerate(zip(rows, *self._extents(rows), strict=True)):
            if size == POSITION:
                bodies[index] = self.position_bodies.body(at)
            elif size <= SMALL:
                bodies[index] = bytes(self.small[at : at + size])
            else:
                large.setdefault(bisect_right(self.begins, row) - 1, []).append((index, size, at))
        for number, wanted in large.items():
            with self._reader(number) as read:
                for index, size, at in wanted:
                    bodies[index] = read(size, at)
        return bodies

    def stretches(self, rows: Ints) -> Iterator[tuple[Ints, bytes | bytearray, Ints]]:
        """Yield the bodies of rows file by file: indexes in ``rows``, a content, and the offsets of the bodies in it.

        Raises ``NotAJournal`` as ``bodies`` does. Most bodies of a file usually lie near each other, and then the bytes
        from the first one to the last one are read at once.
        """
        import numpy as np

        from pagefmt.arrays import distinct

        sizes, places = self.sizes.at(rows), self.places.at(rows)
        small = np.flatnonzero(sizes <= SMALL)
        if len(small):
            positions = small[sizes[small] == POSITION]
            yield (
                positions,
                self.position_bodies.bodies(places[positions]).tobytes(),
                np.arange(len(positions)) * POSITION,
            )
            others = small[sizes[small] != POSITION]
            yield others, self.small, places[others]
        numbers = np.where(sizes > SMALL, np.searchsorted(self.begins, rows, "right") - 1, -1)
        for number in distinct(numbers[numbers >= 0]).tolist():
            mine = np.flatnonzero(numbers == number)
            at, lengths = places[mine], sizes[mine]
            first, whole = int(at.min()), int((at + lengths).max() - at.min())
            with self._reader(number) as read:
                if whole <= 2 * int(lengths.sum()):
                    yield mine, read(whole, first), at - first
                else:
                    content = b"".join(map(read, lengths.tolist(), at.tolist()))
                    yield mine, content, np.cumsum(lengths) - lengths

    @contextmanager
    def _reader(self, number: int) -> Iterator[Callable[[int, int], bytes]]:
        """Open a file to read so many bytes at an offset. Raise ``NotAJournal`` if a broker changed it."""
        file = self.files[number]
        opened = open_file(file.path)

        def read(size: int, at: int) -> bytes:
            content = opened.read_at(size, at)
            if len(content) != size:
                raise NotAJournal(f"{file.path}: offset {at}: {_CHANGED}")
            return content

        try:
            yield read
            if opened.read_at(HEADER.size, 0) != encode_header(file.stated or file.header):
                raise NotAJournal(f"{file.path}: {_CHANGED}")
        finally:
            opened.close()


def _each_once(bodies: Bodies) -> tuple[Bodies, Ints]:
    """Return the distinct bodies of ``QUEUE`` bytes, and the index of each body among them."""
    import numpy as np

    from pagefmt.arrays import distinct

    values = bodies.view(np.int64)
    distinct_values = distinct(values)
    return distinct_values.view(bodies.dtype), np.searchsorted(distinct_values, values)
