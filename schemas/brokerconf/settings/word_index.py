"""Index of thousands of matches by their words: which of them may fit an address, or overlap another match.

A set of matches is an integer with a bit for each, so that one operation on integers tests a word in all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from itertools import accumulate
from operator import or_

# Words of a match that are indexed: those after them rule nothing out.
PLACES = 300
_FEW = 32

# Words of a match, None for any one word.
Words = Sequence[str | None]


class NumberSets:
    """Sets of numbers below ``count``, by a key."""

    def __init__(self, count: int) -> None:
        self._size = (count + 7) // 8
        self._numbers: defaultdict[Hashable, list[int]] = defaultdict(list)
        self._often: dict[Hashable, int] = {}

    def add(self, key: Hashable, number: int) -> None:
        """Add a number to the set of a key."""
        self._numbers[key].append(number)

    def __getitem__(self, key: Hashable) -> int:
        numbers = self._numbers.get(key, ())
        if len(numbers) <= _FEW:
            return sum(1 << number for number in numbers)
        if key not in self._often:
            # a sum of shifted ones copies the whole integer for each number; a large set is filled in place instead
            bits = bytearray(self._size)
            for number in numbers:
                bits[number >> 3] |= 1 << (number & 7)
            self._often[key] = int.from_bytes(bits, "little")
        return self._often[key]


class WordIndex:
    """Index of the words of many matches."""

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
        """Return the set of word lists compatible with these words, as bits; with ``longer``, also of longer lists."""
        numbers = self._all if longer or len(words) >= self._places else self._short[len(words)]
        # one step for each word: keep matches with that word, with any word, or without a word at this place
        for place, word in enumerate(words[: self._places]):
            if word is not None and numbers:
                numbers &= self._free[place] | self._named[place, word]
        return numbers


def numbers_of(numbers: int) -> Iterator[int]:
    """Yield the numbers in a set of bits, in order."""
    while numbers:
        # a number and its negative share the lowest bit that is set, and no other
        lowest = numbers & -numbers
        yield lowest.bit_length() - 1
        numbers ^= lowest
