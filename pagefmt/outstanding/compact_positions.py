"""The positions of a whole store in little memory: by page, as steps from number to number, compressed."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from operator import sub
from typing import Final

FORMS: Final = "IBHI"
"""Types of steps: of few as they are, of many compressed."""
FEW: Final = 32


@dataclass(slots=True)
class CompactPositions:
    """Pages in the order in which they were added: 21 bytes each, and a bit or two for each number that follows a
    pattern. ``_forms``: which of ``FORMS`` the steps have."""

    _pages: array[int] = field(default_factory=lambda: array("q"))
    _firsts: array[int] = field(default_factory=lambda: array("i"))
    _forms: array[int] = field(default_factory=lambda: array("b"))
    _edges: array[int] = field(default_factory=lambda: array("q", [0]))
    _steps: bytearray = field(default_factory=bytearray)

    def add(self, page: int, numbers: array[int]) -> None:
        """The numbers of one page, ascending; a queue that a record names twice has it twice."""
        form, steps = _few(numbers) if len(numbers) <= FEW else _many(numbers)
        self._pages.append(page)
        self._firsts.append(numbers[0])
        self._forms.append(form)
        self._steps += steps
        self._edges.append(len(self._steps))

    def pages(self) -> Iterator[tuple[int, list[int]]]:
        """(page, its numbers)"""
        found = zip(self._pages, self._firsts, self._forms, pairwise(self._edges), strict=True)
        for page, first, form, (start, end) in found:
            yield page, _unpacked(first, form, self._steps[start:end])

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """(page, number)"""
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

    known = np.frombuffer(zlib.decompress(steps), FORMS[form])
    return [first, *(known.cumsum(dtype=np.int64) + first).tolist()]
