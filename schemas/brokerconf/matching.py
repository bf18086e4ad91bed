"""Which matches fit an address, and in which order (spec/settings.md 4, spec/config-behaviour.md "Merging").

A match becomes a regular expression in which only the delimiter before ``#`` and dots (since 2.33 ``$`` too) are taken
care of: everything else that means something to an expression keeps that meaning, as it does in the broker.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cmp_to_key

from brokerconf.errors import BrokerConfError
from brokerconf.java_order import in_map_order
from pagefmt.editions import Edition

_UUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}")


class MatchError(BrokerConfError):
    """A match that the broker refuses when the settings go to the server."""


@dataclass(frozen=True, slots=True)
class Wildcards:
    """The characters of matches, and what is put before a bare UUID."""

    delimiter: str = "."
    any_words: str = "#"
    single_word: str = "*"
    literal_markers: str = ""
    uuid_namespace: str = ""

    def is_wild(self, match: str) -> bool:
        return self.any_words in match or self.single_word in match


@dataclass(frozen=True, slots=True)
class Match:
    """A match as written; ``name`` is without literal markers, ``pattern`` what addresses are held against."""

    written: str
    name: str
    literal: bool
    wild: bool
    pattern: re.Pattern[str]


def compile_match(written: str, wildcards: Wildcards, edition: Edition) -> Match:
    """The match as that edition takes it; raises ``MatchError`` where the broker would not start."""
    name, literal = written, False
    if wildcards.literal_markers:
        if not written:
            raise MatchError("an empty match stops the start while literal-match-markers are set")
        literal = written[0] == wildcards.literal_markers[0] and written[-1] == wildcards.literal_markers[1]
        name = written[1:-1] if literal else written
    name = modified(name, wildcards, edition)
    at = name.find(wildcards.any_words)
    if 0 <= at < len(name) - 1:
        raise MatchError(f"'{wildcards.any_words}' can stand only at the end of a match")
    try:
        pattern = re.compile(_expression(name, wildcards, edition))
    except re.error as err:
        raise MatchError(f"it is taken as a regular expression and is none: {err}") from err
    return Match(written, name, literal, wildcards.is_wild(name), pattern)


def _expression(name: str, wildcards: Wildcards, edition: Edition) -> str:
    any_words, delimiter = wildcards.any_words, wildcards.delimiter
    if name == any_words:
        return ".*"
    text = name.replace(delimiter + any_words, any_words).replace(".", "\\.")
    if edition >= Edition.ARTEMIS_2_44 and "$" not in (delimiter, any_words, wildcards.single_word):
        text = text.replace("$", "\\$")
    if edition <= Edition.ARTEMIS_1_5:
        return text.replace("*", "[^.]+").replace("#", ".*")
    quoted = re.escape(delimiter)
    return text.replace(wildcards.single_word, f"[^{quoted}]+").replace(any_words, f"({quoted}.+)*")


def modified(address: str, wildcards: Wildcards, edition: Edition) -> str:
    """An address or match as the repository looks it up: without the queue, a bare UUID within its name space."""
    if edition >= Edition.ARTEMIS_2_10 and "::" in address:
        address = address.partition("::")[0]
    if edition >= Edition.ARTEMIS_2_44 and wildcards.uuid_namespace and _UUID.fullmatch(address):
        return f"{wildcards.uuid_namespace}{wildcards.delimiter}{address}"
    return address


@dataclass(slots=True)
class MatchTable:
    """All matches of a configuration, looked up as that edition does."""

    wildcards: Wildcards
    edition: Edition
    exact: dict[str, Match]
    literal: dict[str, Match]
    wild: list[Match]

    @classmethod
    def of(cls, matches: Iterable[Match], wildcards: Wildcards, edition: Edition) -> MatchTable:
        """``matches`` in the order of the file; of two with one name the later one replaces the earlier."""
        by_written = {match.written: match for match in matches}
        table = cls(wildcards, edition, {}, {}, [])
        wild: dict[str, Match] = {}
        for written in in_map_order(list(by_written)):
            match = by_written[written]
            if match.literal:
                table.literal[match.name] = match
            elif match.wild or not _separate_exact(edition):
                wild[match.name] = match
            else:
                table.exact[match.name] = match
        table.wild = [wild[name] for name in in_map_order(list(wild))]
        return table

    def fitting(self, address: str) -> list[Match]:
        """The matches that fit, the most specific first."""
        address = modified(address, self.wildcards, self.edition)
        first = [table[address] for table in (self.exact, self.literal) if address in table]
        wild = [match for match in self.wild if match.pattern.fullmatch(address)]
        if self.edition < Edition.ARTEMIS_2_44:
            # the older ones put what fits into a map of its own before they sort it
            named = {match.name: match for match in [*first, *wild]}
            first, wild = [], [named[name] for name in in_map_order(list(named))]
        return first + sorted(wild, key=cmp_to_key(self._compare))

    def _compare(self, one: Match, other: Match) -> int:
        return compare(one.name, other.name, self.wildcards, self.edition)


def _separate_exact(edition: Edition) -> bool:
    return edition >= Edition.ARTEMIS_2_17


def compare(one: str, other: str, wildcards: Wildcards, edition: Edition) -> int:
    """Below zero when ``one`` is the more specific match."""
    for wildcard in (wildcards.any_words, wildcards.single_word):
        here, there = wildcard in one, wildcard in other
        if here != there:
            return 1 if here else -1
        if here and wildcard == wildcards.any_words:
            return len(other) - len(one)
    if wildcards.single_word in one:
        words = _words(one, wildcards.delimiter), _words(other, wildcards.delimiter)
        decided = _by_words(*words, wildcards) if edition >= Edition.ARTEMIS_2_17 else _by_words_1x(*words, wildcards)
        if decided:
            return decided
    return len(one) - len(other)


def _words(name: str, delimiter: str) -> list[str]:
    """As ``String.split``: empty words at the end are left out."""
    words = name.split(delimiter)
    while len(words) > 1 and not words[-1]:
        words.pop()
    return words


def _by_words(one: list[str], other: list[str], wildcards: Wildcards) -> int:
    """At the first word where only one is a wildcard, the other goes first."""
    single = wildcards.single_word
    for at, left in enumerate(one):
        if at >= len(other):
            return -1
        if (left == single) != (other[at] == single):
            return 1 if left == single else -1
    return 0


def _by_words_1x(one: list[str], other: list[str], wildcards: Wildcards) -> int:
    """Up to 2.10 the first wildcard word decides, and a wildcard at the same place does not make a tie."""
    single = wildcards.single_word
    for at, left in enumerate(one):
        if left == single:
            return -1 if at >= len(other) or other[at] != single else 1
    return 0
