"""The positions of a whole store in little memory: by page, as steps from number to number, compressed."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class KeptPositions:
    """Pages in the order in which they were added. A bit or two for each number where they follow some pattern."""

    _pages: list[tuple[int, int, str, bytes]] = field(default_factory=list)

    def add(self, page: int, numbers: array[int]) -> None:
        """The numbers of one page, ascending; a queue that a record names twice has it twice."""
        import numpy as np

        known = np.frombuffer(numbers, np.int32)
        steps = np.diff(known)
        form = np.min_scalar_type(steps.max(initial=0))
        self._pages.append((page, int(known[0]), form.str, zlib.compress(steps.astype(form).tobytes(), 1)))

    def pages(self) -> Iterator[tuple[int, list[int]]]:
        """(page, its numbers)"""
        import numpy as np

        for page, first, form, steps in self._pages:
            further = np.frombuffer(zlib.decompress(steps), form).cumsum(dtype=np.int64)
            yield page, [first, *(further + first).tolist()]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """(page, number)"""
        return ((page, number) for page, numbers in self.pages() for number in numbers)
