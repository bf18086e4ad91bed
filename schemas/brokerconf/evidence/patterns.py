"""Wildcard matches that overlap, have equal rank and disagree (docs/spec/settings.md 4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from typing import TYPE_CHECKING

from brokerconf.settings.matching import Wildcards, compare, is_plain, split_match
from brokerconf.settings.word_index import NumberSets, WordIndex, numbers_of
from pagefmt.editions import NEWEST, Edition

if TYPE_CHECKING:
    from brokerconf.settings.address_settings import AddressSetting


def rivals(
    matches: Sequence[AddressSetting], wildcards: Wildcards, edition: Edition = NEWEST
) -> Iterator[tuple[AddressSetting, AddressSetting]]:
    """Yield pairs of matches that tie: the first earlier match of equal rank with other settings, and the match itself.

    Both fit a common address. Only matches of one length can have equal rank. Two without a one-word wildcard that
    overlap and have one length are the same.
    """
    if not any(wildcards.single_word in match.text for match in matches):
        return
    by_rank: defaultdict[Hashable, list[AddressSetting]] = defaultdict(list)
    for match in sorted(matches, key=lambda match: match.number):
        if is_plain(match.text, wildcards):
            by_rank[_rank(match.text, wildcards)].append(match)
    for group in by_rank.values():
        if len(group) > 1:
            yield from _rivals(group, wildcards, edition)


def _rank(text: str, wildcards: Wildcards) -> Hashable:
    """Return a key that is equal for matches which have equal rank and overlap."""
    if wildcards.any_words in text:
        return len(text)
    return len(text), tuple(word is None for word in split_match(text, wildcards)[0])


def _rivals(
    group: list[AddressSetting], wildcards: Wildcards, edition: Edition
) -> Iterator[tuple[AddressSetting, AddressSetting]]:
    words = [split_match(match.text, wildcards)[0] for match in group]
    index, setting = WordIndex(words), NumberSets(len(group))
    for number, match in enumerate(group):
        for name, value in match.read.items():
            setting.add(name, number)
            setting.add((name, value), number)
    for number, match in enumerate(group):
        differing = 0
        for name, value in match.read.items():
            differing |= setting[name] & ~setting[name, value]
        earlier = (1 << number) - 1
        for other in numbers_of(index.fitting(words[number], longer=True) & differing & earlier):
            text = group[other].text
            if compare(text, match.text, wildcards, edition) == 0 and overlap(text, match.text, wildcards):
                yield group[other], match
                break


def overlap(match: str, other: str, wildcards: Wildcards) -> bool:
    """Return whether some address fits both matches."""
    left, left_open = split_match(match, wildcards)
    right, right_open = split_match(other, wildcards)
    if not left_open and not right_open and len(left) != len(right):
        return False
    if (len(left) < len(right) and not left_open) or (len(right) < len(left) and not right_open):
        return False
    return all(a == b or a is None or b is None for a, b in zip(left, right, strict=False))
