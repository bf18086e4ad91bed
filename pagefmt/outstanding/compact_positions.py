"""The positions of a whole store in little memory: by page, as steps from number to number, compressed."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from operator import sub
from typing import Final

# Array types of the steps: a few as bytes uncompressed, many compressed.
FORMS: Final = "IBHI"
FEW: Final = 32


@dataclass(slots=True)
class CompactPositions:
    """Positions by page, in the order in which the pages were added.

    Takes 21 bytes per page, and a bit or two for each number that follows a pattern. ``_forms``: the index in ``FORMS``
    of each page's steps.
    """

    _pages: array[int] = field(default_factory=lambda: array("q"))
    _firsts: array[int] = field(default_factory=lambda: array("i"))
    _forms: array[int] = field(default_factory=lambda: array("b"))
    _edges: array[int] = field(default_factory=lambda: array("q", [0]))
    _steps: bytearray = field(default_factory=bytearray)

    def add(self, page: int, numbers: array[int]) -> None:
        """Add the ascending numbers of one page; a queue that a record names twice has its number twice."""
        form, steps = _few(numbers) if len(numbers) <= FEW else _many(numbers)
        self._pages.append(page)
        self._firsts.append(numbers[0])
        self._forms.append(form)
        self._steps += steps
        self._edges.append(len(self._steps))

    def pages(self) -> Iterator[tuple[int, list[int]]]:
        """Yield each page with its numbers."""
        packed = zip(self._pages, self._firsts, self._forms, pairwise(self._edges), strict=True)
        for page, first, form, (start, end) in packed:
            yield page, _unpacked(first, form, self._steps[start:end])

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield each position as (page, number)."""
        return ((page, number) for page, numbers in self.pages() for number in numbers)


def _few(numbers: array[int]) -> tuple[int, bytes]:
    return 0, array(FORMS[0], map(sub, numbers[1:], numbers)).tobytes()


def _many(numbers: array[int]) -> tuple[int, bytes]:
    import numpy as np

    steps = np.diff(np.frombuffer(numbers, np.int32))
    form = np.min_scalar_type(steps.max())
    return FORMS.index(form.char, 1), zlib.compress(steps.astype(form).tobytes(), 1)


def _unpacked(first: int, form: int, steps: bytearray) -> list[int]:
    if not form:
        return list(accumulate(array(FORMS[0], bytes(steps)), initial=first))
    import numpy as np

    deltas = np.frombuffer(zlib.decompress(steps), FORMS[form])
    return [first, *(deltas.cumsum(dtype=np.int64) + first).tolist()]
