"""What a task reads: pieces of brokers in groups. A piece names pages by runs of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Final, NamedTuple

from pyspark.sql.datasource import InputPartition

from pagefmt.arrays import Ints
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.directory.fleet import FleetBroker
from pagefmt.directory.paging import Store
from pagefmt.storage.files import listed, utf8_name
from pagefmt.storage.remote_paths import FarPath
from pagefmt.table.row_filters import ColumnTest, may_pass
from pagefmt.table.table_content import StoredIn, TableContent

GROUP: Final = 64 << 20
MOST: Final = 10_000  # largest number of groups of a table: a scheduler keeps all of them in memory
Runs = tuple[tuple[int, int], ...]
JOURNAL: Final = -1  # page number that stands for the messages of the journal


class PageMessages(NamedTuple):
    """What of a page, or of the journal, is in a table. ``crc32c`` None: another look decides by the messages alone."""

    size: int
    crc32c: str | None
    numbers: Ints
    ids: Ints


@dataclass(frozen=True, slots=True)
class Piece:
    """Pages of a store as (first, last) of their numbers; ``store`` None: the broker's data outside of pages.

    ``known``: messages that are in the table already, by page number; None if the table has no log.
    """

    broker: FleetBroker
    store: str | None
    address: str | None = None
    runs: Runs = ()
    size: int = 0
    known: Mapping[int, PageMessages] | None = None

    def numbers(self) -> Iterator[int]:
        """Yield the page numbers, ascending."""
        for first, last in self.runs:
            yield from range(first, last + 1)


class PageGroup(InputPartition):
    """Pieces of at least ``GROUP`` bytes together: a task costs more than reading a small page."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        super().__init__(None)
        self.pieces = tuple(pieces)


def pieces_of(broker: FleetBroker, stores: Iterable[Store], content: TableContent, within: StoredIn) -> Iterator[Piece]:
    """Yield all pieces of a table in the order of its rows. ``within`` restricts where messages are read."""
    beside = content in (TableContent.DAMAGE, TableContent.ACKNOWLEDGEMENTS)
    if beside or (content.of_messages and within is not StoredIn.PAGES):
        past = broker.history.retention if broker.history is not None else None
        yield Piece(broker, None, size=_size(broker.place.journal) + _size(past))
    pages = content is not TableContent.ACKNOWLEDGEMENTS
    if pages and not (content.of_messages and within in (StoredIn.JOURNAL, StoredIn.HISTORY)):
        whole = content is TableContent.OUTSTANDING
        for store in stores:
            if store.pages or store.problem:
                yield from _cut(broker, store, None if whole else GROUP)


def _cut(broker: FleetBroker, store: Store, most: int | None) -> Iterator[Piece]:
    """Yield the pages of a store in pieces of at least ``most`` bytes, or in one piece if None."""
    pages: list[PageFile] = []
    size = 0
    for page in store.pages:
        pages.append(page)
        size += page.size
        if most is not None and size >= most:
            yield Piece(broker, store.name, store.address, runs_of(page.number for page in pages), size)
            pages, size = [], 0
    if pages or not store.pages:
        yield Piece(broker, store.name, store.address, runs_of(page.number for page in pages), size)


def runs_of(numbers: Iterable[int]) -> Runs:
    """Return ascending numbers as runs of (first, last)."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return tuple(runs)


def pruned(pieces: Iterable[Piece], tests: Sequence[ColumnTest]) -> Iterator[Piece]:
    """Yield the parts of pieces that may have rows that pass the tests."""
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
    path = broker.place.given
    return isinstance(path, FarPath) and path.compressed


def grouped(pieces: Sequence[Piece], least: int = GROUP) -> list[PageGroup]:
    """Return the pieces in order, in groups of at least ``least`` bytes.

    One task reads all of a compressed archive, which is a stream.
    """
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
