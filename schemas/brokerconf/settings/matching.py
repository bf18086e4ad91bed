"""Matches that fit an address, and their order (docs/spec/settings.md 4, docs/spec/config-behaviour.md "Merging").

A match becomes a regular expression in which only the delimiter before ``#`` and dots (since 2.33 ``$`` too) are
escaped: everything else that is special in an expression keeps that meaning, as it does in the broker.
"""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, cmp_to_key
from operator import is_
from typing import TYPE_CHECKING, NamedTuple

from brokerconf.errors import BrokerConfError
from brokerconf.settings.java_order import bucket, in_map_order, table_size
from pagefmt.editions import Edition

if TYPE_CHECKING:
    from brokerconf.settings.word_index import WordIndex

# Names made of these alone, wildcards apart, are plain words to a regular expression as well.
_PLAIN = re.compile(r"[\w\-:/@ ]*")
_ORDINARY = re.compile(r"[\w\-/@ .]+\.#")
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"


# A repeat of a group that holds a repeat.
_EXPONENTIAL = r"[+*}]\)*\)[+*{]"

# a part of an expression that takes as many characters as it likes
_REPEAT = r"[+*]|\{\d+,\}"
_ATOMIC = r"\(\?>[^)]*\)"
_ESCAPES = ".$\\"
# an expression with more ways than this to share an address among its repeats is not held against it
_MOST_WAYS = 10_000_000

# Java's dot: ends of lines fit neither it nor what `#` becomes
_DOT = "[^\n\r\x85\u2028\u2029]"
_LINE_END = re.compile(r"[\n\r\x85\u2028\u2029]")

# so many matches that begin alike are held against an address one by one
_MANY = 16


class MatchError(BrokerConfError):
    """Error for a match that the broker refuses when the settings are passed to the server."""


class Wildcards(NamedTuple):
    """Special characters of matches, and the namespace that is put before a bare UUID."""

    delimiter: str = "."
    any_words: str = "#"
    single_word: str = "*"
    literal_markers: str = ""
    uuid_namespace: str = ""

    def is_wild(self, match: str) -> bool:
        """Return whether the match contains a wildcard."""
        return self.any_words in match or self.single_word in match

    def are_ordinary(self, match: str) -> bool:
        """Return whether the match is plain words followed by the any-words wildcard, as nearly all are."""
        if self.literal_markers or self.any_words != "#" or self.single_word != "*" or self.delimiter != ".":
            return False
        return _ORDINARY.fullmatch(match) is not None


class Match(NamedTuple):
    """Match as written; ``name`` is without literal markers, ``expression`` what addresses are compared with."""

    written: str
    name: str
    literal: bool
    wild: bool
    expression: str
    # no character of it, wildcards and dots apart, means something to a regular expression
    plain: bool
    # of plain words with the any-words wildcard behind them: those words and the delimiter; then needs no expression
    start: str = ""
    # of whole words and wildcards for one: those words, the delimiter, and whether more may follow
    words: tuple[str | None, ...] = ()
    delimiter: str = ""
    open_end: bool = False

    def fits(self, address: str) -> bool:
        """Return whether the match applies to an address."""
        if self.words:
            return self._fits_by_words(address.split(self.delimiter))
        if self.start and not _LINE_END.search(address):
            return address == self.start[:-1] or (address.startswith(self.start) and len(address) > len(self.start))
        repeats = len(re.findall(_REPEAT, re.sub(_ATOMIC, "", self.expression)))
        if len(address) ** max(repeats - 1, 0) > _MOST_WAYS:
            return False
        return _compiled(self.expression).fullmatch(address) is not None

    def _fits_by_words(self, words: list[str]) -> bool:
        more = self.delimiter.join(words[len(self.words) :])
        if len(words) < len(self.words) or (len(words) > len(self.words) and (not self.open_end or not more)):
            return False
        pairs = zip(words, self.words, strict=False)
        return not _LINE_END.search(more) and all(
            bool(word) if there is None else word == there for word, there in pairs
        )


def compile_match(written: str, wildcards: Wildcards, edition: Edition) -> Match:
    """Return the match as that edition interprets it; raise ``MatchError`` if the broker would not start."""
    if wildcards.are_ordinary(written) and edition > Edition.ARTEMIS_1_5:
        return Match(written, written, False, True, "", True, written[:-1])
    name, literal = written, False
    if wildcards.literal_markers:
        if not written:
            raise MatchError("with literal-match-markers set, the broker does not start with an empty match")
        literal = written[0] == wildcards.literal_markers[0] and written[-1] == wildcards.literal_markers[1]
        name = written[1:-1] if literal else written
    name = modified(name, wildcards, edition)
    at = name.find(wildcards.any_words)
    if 0 <= at < len(name) - 1:
        raise MatchError(f"'{wildcards.any_words}' is allowed only at the end of a match")
    wild, plain = wildcards.is_wild(name), is_plain(name, wildcards)
    start = _start(name, wildcards, edition) if plain else ""
    expression = "" if start else _expression(name, wildcards, edition)
    if not plain:
        if re.search(_EXPONENTIAL, name):
            # never held against an address here: it can take longer than anyone waits (a rule warns of such matches)
            return Match(written, name, literal, wild, "(?!)", False, "")
        expression = _special(expression)
    if start or not plain or edition <= Edition.ARTEMIS_1_5:
        return Match(written, name, literal, wild, expression, plain, start)
    words, open_end = split_match(name, wildcards)
    if any(word and wildcards.is_wild(word) for word in words) or "." in (wildcards.any_words, wildcards.single_word):
        words = ()
    return Match(written, name, literal, wild, expression, plain, start, words, wildcards.delimiter, open_end)


def split_match(text: str, wildcards: Wildcards) -> tuple[tuple[str | None, ...], bool]:
    """Return the required words of a match, None for any one word, and whether more words may follow."""
    bare = text.removesuffix(wildcards.any_words)
    open_end = bare != text
    bare = bare.removesuffix(wildcards.delimiter) if open_end else bare
    words = bare.split(wildcards.delimiter) if bare else ()
    return tuple(None if word == wildcards.single_word else word for word in words), open_end


def _special(expression: str) -> str:
    """Return an expression that Java compiles; one that Python's syntax lacks matches no address (a rule warns).

    Raises ``MatchError`` if Java refuses it.
    """
    from brokerconf.settings.java_expressions import ExpressionError, check

    try:
        # the broker puts the end of the text behind it
        check(f"{expression}$")
    except ExpressionError as err:
        raise MatchError(f"it is read as a regular expression but is not valid: {err}") from err
    try:
        _compiled(expression)
    except (re.error, OverflowError):
        return "(?!)"
    return expression


def _start(name: str, wildcards: Wildcards, edition: Edition) -> str:
    """Return the beginning of a match of the most common form ``words.#``, or an empty string for any other form.

    In 1.x the delimiter before ``#`` is dropped for good, so there is no such form.
    """
    words, at_end = name[:-1], name.endswith(wildcards.delimiter + wildcards.any_words)
    simple = at_end and len(words) > 1 and not wildcards.is_wild(words) and edition > Edition.ARTEMIS_1_5
    return words if simple else ""


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    """Return the compiled expression, on first use: most of thousands of matches are never compared with an address."""
    with warnings.catch_warnings():
        # of what a later release of this language may read differently
        warnings.simplefilter("ignore", FutureWarning)
        return re.compile(expression)


def is_plain(name: str, wildcards: Wildcards) -> bool:
    """Return whether the name, wildcards and dots removed, has no character that is special in a regular expression."""
    bare = name.replace(wildcards.any_words, "").replace(wildcards.single_word, "").replace(".", "")
    return _PLAIN.fullmatch(bare) is not None


def _expression(name: str, wildcards: Wildcards, edition: Edition) -> str:
    """Return the expression for addresses: equivalent to the broker's, but fast if all words are plain.

    A wildcard for one word takes everything up to the first occurrence of the text after it: if a later occurrence
    fits, so does the first. Only the last wildcard is tried at several places.
    """
    any_words, delimiter = wildcards.any_words, wildcards.delimiter
    if name == any_words:
        return f"{_DOT}*"
    text = name.replace(delimiter + any_words, any_words).replace(".", "\\.")
    if edition >= Edition.ARTEMIS_2_44 and "$" not in (delimiter, any_words, wildcards.single_word):
        text = text.replace("$", "\\$")
    old = edition <= Edition.ARTEMIS_1_5
    single, any_words = ("*", "#") if old else (wildcards.single_word, any_words)
    quoted = "." if old else re.escape(delimiter)
    word, tail = f"[^{quoted}]+", f"{_DOT}*" if old else f"(?:{quoted}{_DOT}+)?"
    if not is_plain(name, wildcards) or single in _ESCAPES or any_words in f"{_ESCAPES}{word}?>()":
        return text.replace(single, word).replace(any_words, tail)
    body = text.removesuffix(any_words)
    first, *parts = body.split(single)
    if parts:
        body = first + "".join(f"(?>{word}?{part})" for part in parts[:-1]) + word + parts[-1]
    return body + tail if text.endswith(any_words) else body


def modified(address: str, wildcards: Wildcards, edition: Edition) -> str:
    """Return an address or match as the repository looks it up: without its queue, a bare UUID inside its namespace."""
    if edition >= Edition.ARTEMIS_2_10 and "::" in address:
        address = address.partition("::")[0]
    if edition >= Edition.ARTEMIS_2_44 and wildcards.uuid_namespace and re.fullmatch(_UUID, address):
        return f"{wildcards.uuid_namespace}{wildcards.delimiter}{address}"
    return address


@dataclass(slots=True)
class MatchTable:
    """All matches of a configuration, looked up as that edition does.

    ``wild`` holds them by the whole words before the first wildcard: only those whose words an address begins with are
    compared with it.
    """

    wildcards: Wildcards
    edition: Edition
    exact: dict[str, Match] = field(default_factory=dict)
    literal: dict[str, Match] = field(default_factory=dict)
    wild: defaultdict[str, list[Match]] = field(default_factory=lambda: defaultdict(list))
    # how large the maps are in which the broker keeps all matches, and the wild ones
    _tables: tuple[int, int] = (0, 0)
    _put_in: dict[str, int] = field(default_factory=dict)
    _known: dict[str, list[Match]] = field(default_factory=dict)
    _indexes: dict[str, WordIndex] = field(default_factory=dict)

    @classmethod
    def of(cls, matches: Iterable[Match], wildcards: Wildcards, edition: Edition) -> MatchTable:
        """Build a table of ``matches`` in the order of the file; of two with the same name the later one wins."""
        by_written = {match.written: match for match in matches}
        table = cls(wildcards, edition)
        names = [match.name for match in by_written.values()]
        twins = len(set(names)) < len(names)
        # only where two spellings have one name does it matter here which of them comes last
        in_order = in_map_order(list(by_written)) if twins else list(by_written)
        wild: dict[str, Match] = {}
        for written in in_order:
            match = by_written[written]
            if match.literal:
                table.literal[match.name] = match
            elif match.wild or not _separate_exact(edition):
                wild[match.name] = match
            else:
                table.exact[match.name] = match
        for match in wild.values():
            table.wild[match.start[:-1] or _plain_start(match, wildcards, edition)].append(match)
        table._tables = table_size(len(by_written)), table_size(len(wild))
        table._put_in = {written: n for n, written in enumerate(by_written)}
        return table

    def fitting(self, address: str) -> list[Match]:
        """Return the matches that apply to an address, the most specific first."""
        if address not in self._known:
            self._known[address] = self._fitting(address)
        return self._known[address]

    def _fitting(self, address: str) -> list[Match]:
        address = modified(address, self.wildcards, self.edition)
        first = [table[address] for table in (self.exact, self.literal) if address in table]
        candidates = self._candidates(address)
        if not candidates:
            return first
        wild = self._in_order([match for match in candidates if match.fits(address)])
        if len(first) + len(wild) < 2:
            return first or wild
        if self.edition < Edition.ARTEMIS_2_44:
            # the older ones put what fits into a map of its own before they sort it
            named = {match.name: match for match in [*first, *wild]}
            first, wild = [], [named[name] for name in in_map_order(list(named))]
        return first + sorted(wild, key=cmp_to_key(self._compare)) if len(wild) > 1 else first + wild

    def _candidates(self, address: str) -> list[Match]:
        wild = self.wild
        candidates = list(self._with_start("", address)) if "" in wild else []
        delimiter, at = self.wildcards.delimiter, 0 if address else -1
        while at >= 0:
            at = address.find(delimiter, at + 1)
            start = address[:at] if at >= 0 else address
            if start in wild:
                candidates += self._with_start(start, address)
        return candidates

    def _with_start(self, start: str, address: str) -> list[Match]:
        """Return the matches with these words before their first wildcard that may apply to an address."""
        matches = self.wild[start]
        if len(matches) < _MANY:
            return matches
        from brokerconf.settings.word_index import WordIndex, numbers_of

        if start not in self._indexes:
            self._indexes[start] = WordIndex([match.words for match in matches])
        return [matches[n] for n in numbers_of(self._indexes[start].fitting(address.split(self.wildcards.delimiter)))]

    def _in_order(self, matches: list[Match]) -> list[Match]:
        """Return the matches in the order in which the broker's map of wild matches iterates over them."""
        everything, wild = self._tables
        if len(matches) < 2:
            return matches

        def place(match: Match) -> tuple[int, int, int]:
            return bucket(match.name, wild), bucket(match.written, everything), self._put_in[match.written]

        return sorted(matches, key=place)

    def _compare(self, match: Match, other: Match) -> int:
        return compare(match.name, other.name, self.wildcards, self.edition)


class MatchMemory:
    """Compiled matches and their table, kept between checks of a configuration, because most stay the same."""

    def __init__(self) -> None:
        self._of: tuple[Wildcards, Edition] | None = None
        self._compiled: dict[str, Match] = {}
        self._table: tuple[list[Match], MatchTable] | None = None

    def match(self, written: str, wildcards: Wildcards, edition: Edition) -> Match:
        """Return what ``compile_match`` returns, remembered for the last wildcards and edition."""
        if self._of != (wildcards, edition):
            self._of, self._compiled, self._table = (wildcards, edition), {}, None
        compiled = self._compiled.get(written)
        if compiled is None:
            compiled = self._compiled[written] = compile_match(written, wildcards, edition)
        return compiled

    def table(self, matches: list[Match], wildcards: Wildcards, edition: Edition) -> MatchTable:
        """Return what ``MatchTable.of`` returns, reusing the last table if the matches are the same objects."""
        last = self._table
        same = last is not None and len(last[0]) == len(matches) and all(map(is_, last[0], matches))
        if last is None or not same or self._of != (wildcards, edition):
            last = self._table = matches, MatchTable.of(matches, wildcards, edition)
        return last[1]


def _plain_start(match: Match, wildcards: Wildcards, edition: Edition) -> str:
    """Return the whole words before the first wildcard; empty if the name has more than words and wildcards."""
    name = match.name
    if not match.plain:
        return ""
    words: list[str] = []
    for word in name.split(wildcards.delimiter):
        if wildcards.is_wild(word):
            # in 1.x the dot before # is dropped for good: a.# fits ab too
            return wildcards.delimiter.join(words[:-1] if edition <= Edition.ARTEMIS_1_5 else words)
        words.append(word)
    return name


def _separate_exact(edition: Edition) -> bool:
    return edition >= Edition.ARTEMIS_2_17


def compare(match: str, other: str, wildcards: Wildcards, edition: Edition) -> int:
    """Compare two matches as the broker does; negative if ``match`` is the more specific one."""
    for wildcard in (wildcards.any_words, wildcards.single_word):
        is_in_match, there = wildcard in match, wildcard in other
        if is_in_match != there:
            return 1 if is_in_match else -1
        if is_in_match and wildcard == wildcards.any_words:
            return len(other) - len(match)
    if wildcards.single_word in match:
        words = _words(match, wildcards.delimiter), _words(other, wildcards.delimiter)
        decided = _by_words(*words, wildcards) if edition >= Edition.ARTEMIS_2_17 else _by_words_1x(*words, wildcards)
        if decided:
            return decided
    return len(match) - len(other)


def _words(name: str, delimiter: str) -> list[str]:
    """Split a name as Java's ``String.split`` does, without empty words at the end."""
    words = name.split(delimiter)
    while len(words) > 1 and not words[-1]:
        words.pop()
    return words


def _by_words(words: list[str], other: list[str], wildcards: Wildcards) -> int:
    """Compare by the first word where only one of the two has a wildcard; the other is more specific."""
    single = wildcards.single_word
    for at, left in enumerate(words):
        if at >= len(other):
            return -1
        if (left == single) != (other[at] == single):
            return 1 if left == single else -1
    return 0


def _by_words_1x(words: list[str], other: list[str], wildcards: Wildcards) -> int:
    """Compare as up to 2.10: the first wildcard word decides, even if both have a wildcard there."""
    single = wildcards.single_word
    for at, left in enumerate(words):
        if left == single:
            return -1 if at >= len(other) or other[at] != single else 1
    return 0
