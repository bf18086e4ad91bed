"""Long columns of whole numbers in as few bytes as they differ by: most of what a journal says takes one or two."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pagefmt.journal.fast_scan import Ints

    Narrow = npt.NDArray[np.integer]

_BITS: Final = 15
# Numbers processed at once: their working memory is small compared with all numbers.
TOGETHER: Final = 1 << _BITS


class _PackedNumbers(NamedTuple):
    """The k-th number is ``base + step * k``, and ``over[k]`` more; None: not more."""

    base: int
    step: int
    over: Narrow | None

    def at(self, which: Ints) -> Ints:
        import numpy as np

        numbers: Ints = which * self.step + self.base
        if self.over is not None:
            numbers += self.over[which].astype(np.int64)
        return numbers


class Numbers:
    """A sequence of signed 64-bit numbers in little memory. Numbers are appended, and never changed."""

    __slots__ = ("_last", "_parts")

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self._parts: list[_PackedNumbers] = []
        self._last = array("q", numbers)
        self._pack()

    def __len__(self) -> int:
        return (len(self._parts) << _BITS) + len(self._last)

    def __getitem__(self, row: int) -> int:
        part, at = row >> _BITS, row & (TOGETHER - 1)
        if part == len(self._parts):
            return self._last[at]
        base, step, over = self._parts[part]
        return base + step * at + (0 if over is None else int(over[at]))

    def __iter__(self) -> Iterator[int]:
        for some in self.portions():
            yield from some.tolist()

    def append(self, number: int) -> None:
        """Append one number as the last row."""
        self._last.append(number)
        if len(self._last) == TOGETHER:
            self._pack()

    def extend(self, numbers: Ints | array[int]) -> None:
        """More of them, in 64 bits each."""
        self._last.frombytes(numbers.tobytes())
        self._pack()

    def at(self, rows: Ints) -> Ints:
        """Return the numbers in these rows."""
        import numpy as np

        rows, numbers = rows.astype(np.int64, copy=False), np.empty(len(rows), np.int64)
        which = rows >> _BITS
        turns = np.flatnonzero(which[1:] != which[:-1]) + 1
        if len(turns) > 2 * len(self._parts):
            order = np.argsort(which, kind="stable")
            numbers[order] = self.at(rows[order])
            return numbers
        for start, end in pairwise((0, *turns.tolist(), len(rows))) if len(rows) else ():
            numbers[start:end] = self._of_part(int(which[start]), rows[start:end] & (TOGETHER - 1))
        return numbers

    def portions(self) -> Iterator[Ints]:
        """Yield all numbers, portion by portion."""
        import numpy as np

        for part in self._parts:
            yield part.at(np.arange(TOGETHER))
        if self._last:
            yield np.array(self._last)

    def every(self) -> Ints:
        """Return all numbers at once."""
        return self.between(0, len(self))

    def between(self, start: int, end: int) -> Ints:
        """Return the numbers in the rows from ``start`` up to ``end``."""
        import numpy as np

        return self.at(np.arange(start, end))

    def _of_part(self, part: int, which: Ints) -> Ints:
        import numpy as np

        if part == len(self._parts):
            return np.frombuffer(self._last, np.int64)[which]
        return self._parts[part].at(which)

    def _pack(self) -> None:
        """Whole parts of what was added."""
        if len(self._last) < TOGETHER:
            return
        import numpy as np

        numbers = np.array(self._last)
        whole = len(numbers) >> _BITS << _BITS
        for start in range(0, whole, TOGETHER):
            self._parts.append(_packed(numbers[start : start + TOGETHER]))
        self._last = array("q", numbers[whole:].tobytes())


def _packed(numbers: Ints) -> _PackedNumbers:
    """Return the numbers in less memory: rows often follow one another, and differences to a line need few bytes."""
    import numpy as np

    if numbers.min() < np.iinfo(np.int64).min + len(numbers):
        return _over(numbers, 0)
    steady = numbers - np.arange(len(numbers))
    return min(_over(numbers, 0), _over(steady, 1), key=lambda part: 0 if part.over is None else part.over.itemsize)


def _over(numbers: Ints, step: int) -> _PackedNumbers:
    import numpy as np

    base = int(numbers.min())
    most = int(numbers.max()) - base
    if not most:
        return _PackedNumbers(base, step, None)
    over = (numbers.view(np.uint64) - np.uint64(base & (1 << 64) - 1)).astype(np.min_scalar_type(most))
    return _PackedNumbers(base, step, over)
