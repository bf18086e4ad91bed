"""What a task reads: pieces of brokers in groups. A piece names pages by runs of numbers, whatever they hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Final, NamedTuple

from pyspark.sql.datasource import InputPartition

from pagefmt.bytes.far_paths import FarPath
from pagefmt.bytes.files import listed, utf8_name
from pagefmt.columns.column_tests import ColumnTest, may_pass
from pagefmt.columns.table_content import StoredIn, TableContent
from pagefmt.directory.fleet import FleetBroker
from pagefmt.pages.gather import Ints
from pagefmt.pages.paging import PageFile, Store

GROUP: Final = 64 << 20
MOST: Final = 10_000
"""Groups of a table, of about equal size; a scheduler keeps all of them in mind."""
Runs = tuple[tuple[int, int], ...]
JOURNAL: Final = -1
"""In the place of a page's number: the messages of the journal."""


class PageMessages(NamedTuple):
    """What of a page, or of the journal, is in a table. ``crc32c`` None: another look decides by the messages alone."""

    size: int
    crc32c: str | None
    numbers: Ints
    ids: Ints


@dataclass(frozen=True, slots=True)
class Piece:
    """Pages of a store by (first, last) of their numbers; ``store`` None: what a broker has beside its pages.

    ``known``: what of them is in the table already, by their numbers; None: nobody asks.
    """

    broker: FleetBroker
    store: str | None
    address: str | None = None
    runs: Runs = ()
    size: int = 0
    known: Mapping[int, PageMessages] | None = None

    def numbers(self) -> Iterator[int]:
        """Of the pages, ascending."""
        for first, last in self.runs:
            yield from range(first, last + 1)


class PageGroup(InputPartition):
    """Pieces of at least ``GROUP`` bytes together: a task costs more than reading a small page."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        super().__init__(None)
        self.pieces = tuple(pieces)


def pieces_of(broker: FleetBroker, stores: Iterable[Store], content: TableContent, within: StoredIn) -> Iterator[Piece]:
    """All that a table is made of, in the order of its rows. ``within``: messages are looked for there alone."""
    beside = content in (TableContent.DAMAGE, TableContent.ACKNOWLEDGEMENTS)
    if beside or (content.of_messages and within is not StoredIn.PAGES):
        yield Piece(broker, None, size=_size(broker.place.journal))
    pages = content is not TableContent.ACKNOWLEDGEMENTS
    if pages and not (content.of_messages and within is StoredIn.JOURNAL):
        whole = content is TableContent.OUTSTANDING
        for store in stores:
            if store.pages or store.problem:
                yield from _cut(broker, store, None if whole else GROUP)


def _cut(broker: FleetBroker, store: Store, most: int | None) -> Iterator[Piece]:
    """The pages of a store in pieces of ``most`` bytes or more; None: in one."""
    mine: list[PageFile] = []
    size = 0
    for page in store.pages:
        mine.append(page)
        size += page.size
        if most is not None and size >= most:
            yield Piece(broker, store.name, store.address, runs_of(page.number for page in mine), size)
            mine, size = [], 0
    if mine or not store.pages:
        yield Piece(broker, store.name, store.address, runs_of(page.number for page in mine), size)


def runs_of(numbers: Iterable[int]) -> Runs:
    """Rising numbers as (first, last)."""
    found: list[tuple[int, int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1] = found[-1][0], number
        else:
            found.append((number, number))
    return tuple(found)


def pruned(pieces: Iterable[Piece], tests: Sequence[ColumnTest]) -> Iterator[Piece]:
    """What of pieces may have rows that pass."""
    for piece in pieces:
        facts: dict[str, str | None] = {"broker": piece.broker.name}
        if piece.store is not None:
            facts |= {"store": utf8_name(piece.store), "store_address": piece.address}
        if all(may_pass(tests, column, value) for column, value in facts.items()):
            runs = runs_of(number for number in piece.numbers() if may_pass(tests, "page", number))
            if runs or not piece.runs:
                yield replace(piece, runs=runs)


def _size(journal: Path | None) -> int:
    try:
        if journal is None:
            return 0
        with listed(journal) as entries:
            return sum(entry.stat().st_size for entry in entries)
    except OSError:
        return 0  # who reads it says so


def _is_stream(broker: FleetBroker) -> bool:
    given = broker.place.given
    return isinstance(given, FarPath) and given.compressed


def grouped(pieces: Sequence[Piece], least: int = GROUP) -> list[PageGroup]:
    """Pieces in order, in groups of ``least`` bytes or more. One task reads a compressed archive: it is a stream."""
    least = max(least, sum(piece.size for piece in pieces) // MOST)
    groups: list[PageGroup] = []
    members: list[Piece] = []
    size = 0
    for piece, behind in zip_longest(pieces, pieces[1:]):
        members.append(piece)
        size += piece.size
        if size >= least and not (behind is not None and behind.broker == piece.broker and _is_stream(piece.broker)):
            groups.append(PageGroup(members))
            members, size = [], 0
    return [*groups, PageGroup(members)] if members or not groups else groups
