"""Journal records in columns: millions of them without an object each (about 40 bytes a record and its small body)."""

from __future__ import annotations

import os
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pagefmt.disk import open_regular
from pagefmt.journal.files import JournalFile, NotAJournal
from pagefmt.journal.records import Frame, Kind

if TYPE_CHECKING:
    from pagefmt.journal.fast_scan import Frames, Ints

SMALL: Final = 24
"""Bodies up to this size are kept in memory: all records about references, acknowledgements and counters."""

_UPDATES: Final = (Kind.UPDATE, Kind.UPDATE_TX)


class Columns:
    """Records by row number. A row is what a frame says; where its file lies is kept to read bigger bodies later."""

    __slots__ = ("compacts", "file_numbers", "files", "ids", "places", "sizes", "small", "types", "updates")

    def __init__(self, files: Sequence[JournalFile]) -> None:
        self.files = files
        self.ids = array("q")
        self.types = array("b")
        self.updates = bytearray()
        self.compacts = array("b")
        self.sizes = array("i")
        self.places = array("q")
        self.file_numbers = array("i")
        self.small = bytearray()

    def __len__(self) -> int:
        return len(self.ids)

    def append(self, frame: Frame, buf: bytes | memoryview, file_number: int) -> int:
        """Add a record, give its row."""
        row = len(self.ids)
        self.ids.append(frame.id)
        self.types.append(frame.user_type)
        self.updates.append(frame.kind in _UPDATES)
        self.compacts.append(frame.compact)
        self.sizes.append(frame.size)
        self.file_numbers.append(file_number)
        if frame.size <= SMALL:
            self.places.append(len(self.small))
            self.small += buf[frame.body : frame.body + frame.size]
        else:
            self.places.append(frame.body)
        return row

    def extend(self, found: Frames, rows: Ints, file_number: int) -> int:
        """Add these rows of a file at once, in their order; gives the row of the first."""
        import numpy as np

        first = len(self.ids)
        self.ids.frombytes(found.id[rows].tobytes())
        self.types.frombytes(found.user_type[rows].astype(np.int8).tobytes())
        self.updates += np.isin(found.kind[rows], _UPDATES).astype(np.uint8).tobytes()
        self.compacts.frombytes(found.compact[rows].astype(np.int8).tobytes())
        self.sizes.frombytes(found.size[rows].astype(np.int32).tobytes())
        self.file_numbers.frombytes(np.full(len(rows), file_number, np.int32).tobytes())
        self.places.frombytes(self._bring_in(found, rows).tobytes())
        return first

    def _bring_in(self, found: Frames, rows: Ints) -> Ints:
        """Where the bodies are: small ones are copied, those of one size together."""
        import numpy as np

        from pagefmt.journal.fast_scan import bodies_at

        sizes, bodies = found.size[rows], found.body[rows]
        places = bodies.copy()
        for size in np.flatnonzero(np.bincount(sizes[sizes <= SMALL])).tolist():
            here = np.flatnonzero(sizes == size)
            places[here] = len(self.small) + size * np.arange(len(here))
            self.small += bodies_at(found.content, bodies[here], size).tobytes()
        return places

    def body(self, row: int) -> bytes:
        """The body of a record; a big one is read from its file again."""
        size, at = self.sizes[row], self.places[row]
        if size <= SMALL:
            return bytes(self.small[at : at + size])
        file = self.files[self.file_numbers[row]]
        handle = open_regular(file.path)
        try:
            body = os.pread(handle, size, at)
        finally:
            os.close(handle)
        if len(body) != size:
            raise NotAJournal(f"{file.path}: offset {at}: changed while it was read; stop the broker and try again")
        return body
