"""Thousands of matches by their words: which of them may fit an address, or another match, without asking each.

A set of matches is an integer with a bit for each, so that a word is looked for in all of them at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import accumulate
from operator import or_

PLACES = 300
"""Words of a match that are looked at: what stands behind them rules nothing out."""
_FEW = 32

Words = Sequence[str | None]
"""The words of a match, None for any one word."""


class NumberSets:
    """Sets of numbers below ``count``, by a key."""

    def __init__(self, count: int) -> None:
        self._size = (count + 7) // 8
        self._numbers: defaultdict[Hashable, list[int]] = defaultdict(list)
        self._often: dict[Hashable, int] = {}

    def add(self, key: Hashable, number: int) -> None:
        """Puts a number into a set."""
        self._numbers[key].append(number)

    def __getitem__(self, key: Hashable) -> int:
        numbers = self._numbers.get(key, ())
        if len(numbers) <= _FEW:
            return sum(1 << number for number in numbers)
        if key not in self._often:
            found = bytearray(self._size)
            for number in numbers:
                found[number >> 3] |= 1 << (number & 7)
            self._often[key] = int.from_bytes(found, "little")
        return self._often[key]


class WordIndex:
    """The words of many matches."""

    def __init__(self, matches: Sequence[Words]) -> None:
        self._all = (1 << len(matches)) - 1
        self._places = min(PLACES, max(map(len, matches), default=0))
        self._named, ending = NumberSets(len(matches)), NumberSets(len(matches))
        for number, words in enumerate(matches):
            ending.add(min(len(words), self._places), number)
            for place, word in enumerate(words[: self._places]):
                self._named.add((place, word), number)
        # by number of words: those that have no more
        self._short = list(accumulate((ending[length] for length in range(self._places + 1)), or_))
        self._free = [self._named[place, None] | self._short[place] for place in range(self._places)]

    def fitting(self, words: Words, *, longer: bool = False) -> int:
        """Those whose words do not differ from these; ``longer``: also those that have more."""
        found = self._all if longer or len(words) >= self._places else self._short[len(words)]
        for place, word in enumerate(words[: self._places]):
            if word is not None and found:
                found &= self._free[place] | self._named[place, word]
        return found


def numbers_of(found: int) -> Iterator[int]:
    """The numbers in a set, in order."""
    while found:
        lowest = found & -found
        yield lowest.bit_length() - 1
        found ^= lowest
