"""Which wildcard matches overlap and rank alike (docs/spec/settings.md 4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from brokerconf.settings.matching import Wildcards, compare, is_plain
from pagefmt.editions import NEWEST, Edition

if TYPE_CHECKING:
    from brokerconf.settings.address_settings import AddressSetting


def same_rank_pairs(
    matches: Sequence[AddressSetting], wildcards: Wildcards, edition: Edition = NEWEST
) -> Iterator[tuple[AddressSetting, AddressSetting]]:
    """Pairs of equal rank that some address fits both, each once, the earlier in the file first.

    Only matches of one length can rank alike, and only those whose words before the first wildcard agree can overlap:
    thousands of matches are not held against each other. Two without a one-word wildcard that overlap and have one
    length are the same.
    """
    if not any(wildcards.single_word in match.text for match in matches):
        return
    by_start: defaultdict[tuple[int, str], list[AddressSetting]] = defaultdict(list)
    for match in matches:
        if is_plain(match.text, wildcards):
            by_start[len(match.text), _start(match.text, wildcards)].append(match)
    for (length, start), group in by_start.items():
        for other_start in _beginnings(start, wildcards.delimiter):
            for one in group:
                for other in by_start.get((length, other_start), ()):
                    if _ordered_once(one, other, start, other_start) and _tie(one, other, wildcards, edition):
                        yield (one, other) if one.number < other.number else (other, one)


def _ordered_once(one: AddressSetting, other: AddressSetting, start: str, other_start: str) -> bool:
    return one is not other and (start != other_start or one.number < other.number)


def _tie(one: AddressSetting, other: AddressSetting, wildcards: Wildcards, edition: Edition) -> bool:
    return compare(one.text, other.text, wildcards, edition) == 0 and overlap(one.text, other.text, wildcards)


def _start(text: str, wildcards: Wildcards) -> str:
    """The whole words before the first one with a wildcard."""
    words: list[str] = []
    for word in text.split(wildcards.delimiter):
        if wildcards.is_wild(word):
            break
        words.append(word)
    return wildcards.delimiter.join(words)


def _beginnings(start: str, delimiter: str) -> Iterator[str]:
    """The words themselves, and with fewer and fewer of them down to none."""
    while start:
        yield start
        start = start.rpartition(delimiter)[0]
    yield ""


def overlap(one: str, other: str, wildcards: Wildcards) -> bool:
    """Whether some address fits both."""
    left, left_open = _words(one, wildcards)
    right, right_open = _words(other, wildcards)
    if not left_open and not right_open and len(left) != len(right):
        return False
    if (len(left) < len(right) and not left_open) or (len(right) < len(left) and not right_open):
        return False
    single = wildcards.single_word
    return all(a == b or single in (a, b) for a, b in zip(left, right, strict=False))


def _words(text: str, wildcards: Wildcards) -> tuple[list[str], bool]:
    """The words that must be there, and whether more may follow."""
    bare = text.removesuffix(wildcards.any_words)
    open_end = bare != text
    bare = bare.removesuffix(wildcards.delimiter) if open_end else bare
    return (bare.split(wildcards.delimiter) if bare else []), open_end
