"""A broker's history as a whole: its files, its queues, and what became of each message (docs/spec/history.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import tzinfo
from pathlib import Path

import numpy as np

from pagefmt.arrays import Ints
from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page import open_page
from pagefmt.codec.pages.page_file import PageFile
from pagefmt.directory.locate import DataLocation, stores
from pagefmt.directory.paging import Store
from pagefmt.history.copies import Copies, find_copies
from pagefmt.history.files import HistoryListing, list_history
from pagefmt.history.messages import ACKNOWLEDGED, EXPIRED, MOVED, OUTCOMES, REMOVED, HistoryMessages, history_messages
from pagefmt.history.paged import DiskPage, Surroundings
from pagefmt.history.queues import PastQueues, past_queues
from pagefmt.history.records import HistoryRecords, read_records
from pagefmt.journal.files import HEADER, FileProblem, JournalFile, encode_header
from pagefmt.journal.load import TRIES, JournalMoves
from pagefmt.storage.files import FileGone, NotReadable, read_start
from pagefmt.vectors import IrregularPage, routed

_ACKNOWLEDGED = OUTCOMES.index(ACKNOWLEDGED)


@dataclass(frozen=True, slots=True)
class History:
    """The messages of a history, the queues that its broker had, and which messages are copies of others.

    ``disk``: pages by address; None: they are not at hand.
    """

    messages: HistoryMessages
    queues: PastQueues
    copies: Copies
    disk: Mapping[str, list[DiskPage]] | None

    def disk_pages(self) -> Iterator[DiskPage]:
        """Yield the pages that are still on the disk."""
        for pages in (self.disk or {}).values():
            yield from pages

    @property
    def records(self) -> HistoryRecords:
        """Return the records."""
        return self.messages.records


def load_history(
    place: DataLocation,
    retention: Path | None,
    zone: tzinfo | None = None,
    page_size: Callable[[str], int | None] = lambda _address: None,
    advance: Callable[[int], None] = lambda _bytes: None,
) -> History:
    """Load the history of a place: a retention folder, the journal and its attic, the pages, the bindings.

    Args:
        place: The broker's directories; of journal files by themselves only those.
        retention: The retention folder; None: there is none.
        zone: Of the broker, which named the files of the retention folder; None: that of this machine.
        page_size: Returns page-size-bytes of an address, None if not known.
        advance: Takes the bytes of each file that was read.

    A running broker rotates and reuses files of its journal: what was read counts where each file is still the same.

    Raises:
        NotAJournal: A folder cannot be listed.
        NotPermitted: This user may not read a folder.
        JournalMoves: A broker changed files in each of ``TRIES`` tries.
    """
    listing, records = _read(retention, place.journal, zone, advance)
    queues = past_queues(place.bindings)
    disk = None if place.paging is None else _disk_pages(stores(place))
    around = Surroundings(queues.addresses, disk, page_size)
    messages = history_messages(records, around, from_start=_from_start(listing))
    copies = find_copies(messages)
    return History(_with_causes(messages, queues, copies), queues, copies, disk)


def _read(
    retention: Path | None, journal: Path | None, zone: tzinfo | None, advance: Callable[[int], None]
) -> tuple[HistoryListing, HistoryRecords]:
    """Return the files of a history and their records, from a moment at which all of them were there together."""
    for _ in range(TRIES):
        # The journal is listed first: a file that is copied meanwhile is in both folders then, not in none.
        listing = list_history(retention, journal, zone)
        records = read_records(listing, advance)
        gone = any(note.kind is FileProblem.GONE for note in records.notes)
        if not gone and all(map(_is_same, listing.files)):
            return listing, records
    raise JournalMoves(
        f"{journal or retention}: a running broker changed its files in each of {TRIES} tries; try again"
    )


def _is_same(file: JournalFile) -> bool:
    """Return whether a file still has the header with which it was listed."""
    try:
        return read_start(file.path, HEADER.size) == encode_header(file.stated or file.header)
    except NotReadable as err:
        return not isinstance(err, FileGone)


def _from_start(listing: HistoryListing) -> bool:
    """Return whether the first files that the broker wrote are there, so that no record before them is missing."""
    ids = [file.header.file_id for file in listing.files]
    retained = [file.header.file_id for file in listing.files if file.name in listing.copied]
    return 1 in retained if retained else ids == list(range(1, len(ids) + 1))


def _with_causes(messages: HistoryMessages, queues: PastQueues, copies: Copies) -> HistoryMessages:
    """Add to the outcomes what copies and deleted queues tell."""
    outcome = messages.outcome.copy()
    outcome[copies.reference] = np.where(copies.is_expired, EXPIRED, MOVED)
    for queue, tx in queues.deleted.items():
        mine = np.flatnonzero((messages.queue == queue) & (outcome == _ACKNOWLEDGED) & (messages.ack >= 0))
        rows = messages.ack[mine]
        transactions = messages.records.transactions.at(rows)
        # without a transaction the id of the record tells, unless it is that of the message
        own = np.where(messages.paged[mine] >= 0, messages.records.columns.ids.at(rows), 0)
        outcome[mine[np.where(transactions > 0, transactions, own) > tx]] = REMOVED
    return replace(messages, outcome=outcome)


def _disk_pages(every: Iterable[Store]) -> dict[str, list[DiskPage]]:
    """Return the pages of all stores with an address. Records after damage are not known."""
    pages: dict[str, list[DiskPage]] = {}
    for store in every:
        if store.address is not None:
            pages.setdefault(store.address, []).extend(_disk_page(store.name, page) for page in store.pages)
    return pages


def _disk_page(store: str, page: PageFile) -> DiskPage:
    try:
        facts = _page_columns(page)
    except (IrregularPage, NotReadable):
        facts = _page_facts(page)
    return DiskPage(page.number, *facts[:4], f"{store}/{page.name}", facts[4])


_PageFacts = tuple[Ints, Ints, Ints, Ints, Ints]  # ids, tx, begins, queues and offsets of a DiskPage


def _page_columns(page: PageFile) -> _PageFacts:
    """Return the records of a page in one pass. Raise ``IrregularPage`` if they have to be read one by one."""
    ids, transactions, offsets, counts, queues = _column([]), _column([]), _column([]), _column([]), _column([])
    for routes in routed(page):
        counts_of_chunk = np.zeros(len(routes), np.int64)
        for named in routes.named:
            counts_of_chunk[named.rows] = named.ids.shape[1]
        first = np.cumsum(counts_of_chunk) - counts_of_chunk
        queues_of_chunk = np.zeros(int(counts_of_chunk.sum()), np.int64)
        for named in routes.named:
            queues_of_chunk[first[named.rows][:, None] + np.arange(named.ids.shape[1])] = named.ids
        ids = np.append(ids, routes.messages().astype(np.int64))
        transactions = np.append(transactions, np.full(len(routes), -1) if routes.tx is None else routes.tx)
        offsets = np.append(offsets, routes.offset + routes.base)
        counts, queues = np.append(counts, counts_of_chunk), np.append(queues, queues_of_chunk)
    return ids, transactions, np.append(0, np.cumsum(counts)), queues, offsets


def _page_facts(page: PageFile) -> _PageFacts:
    """Return the records of a page, read one by one. Records after damage are not known."""
    ids: list[int] = []
    offsets: list[int] = []
    transactions: list[int] = []
    queues: list[int] = []
    begins = [0]
    with open_page(page) as opened:
        for route in opened.handed_out(0, 0):
            if not isinstance(route, Damage):
                offsets.append(route[1])
                transactions.append(route[3])
                ids.append(route[5])
                queues += route[6]
                begins.append(len(queues))
    return _column(ids), _column(transactions), _column(begins), _column(queues), _column(offsets)


def _column(values: list[int]) -> Ints:
    return np.array(values, np.int64)
