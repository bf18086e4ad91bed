"""Paged messages of a history: the events that a broker writes for them, and what became of them.

docs/spec/history.md 1, 6.5 and 6.6 say what is known of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from pagefmt.arrays import Fields, Ints, Mask, ValueIndex, distinct, ranked, spread
from pagefmt.history.positions import UNPLACED, Bookmark, StoreFacts, placed_events
from pagefmt.history.records import BEFORE, NEVER, HistoryRecords
from pagefmt.journal.held_messages import ReferenceKeys
from pagefmt.journal.positions import BOOKMARK
from pagefmt.journal.record_bodies import bodies_of
from pagefmt.journal.record_types import MESSAGES, RecordType

_FRAME: Final = 19  # bytes of a page record around the message and its queue ids (docs/spec/page-files.md 4)
_QUEUE_ID: Final = 8  # bytes of each queue id in that record
_SIZE_IN_FRONT: Final = 4  # bytes: in pages the size of a core large message stands in front of it
_NO_FILE: Final = -1  # the row of an event that no file has
_NO_PAGE: Final = 1 << 62  # behind all pages


class DiskPage(NamedTuple):
    """A page that is still on the disk. ``file``: folder and name, ``offsets``: of its records.

    ``ids``: of its messages in order; ``tx``: their transactions, negative for none. Message k is for the queues from
    ``begins[k]`` up to ``begins[k + 1]``.
    """

    number: int
    ids: Ints
    tx: Ints
    begins: Ints
    queues: Ints
    file: str
    offsets: Ints


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What lies around a history and says more about it.

    ``addresses``: of queues by their ids, also of deleted queues. ``disk``: pages by address; None: the pages of the
    broker are not at hand. ``page_size``: returns page-size-bytes of an address; None: not known.
    """

    addresses: Mapping[int, str]
    disk: Mapping[str, list[DiskPage]] | None
    page_size: Callable[[str], int | None]


@dataclass(frozen=True, slots=True)
class PagedMessages:
    """Messages that a broker paged, once for each address, in the order of their events, then those without an event.

    ``row``: of the event; -1: the message is only in a page on the disk. ``sent``: the position at which the send took
    effect. ``page`` and ``number``: ``UNPLACED`` if not known. ``is_gone``: its page is not on the disk.
    ``is_proved``: a record proves that the send took effect, or did not. References of message k are those from
    ``begins[k]`` up to ``begins[k + 1]``: ``queue``, and ``ack``, the index in ``acks``, -1 without one. ``is_done``:
    the queue is done with the page. ``is_emptied``: the place of the message is not known, but the queue has
    acknowledged every message of all pages in which it can be.
    """

    row: Ints
    id: Ints
    sent: Ints
    page: Ints
    number: Ints
    is_gone: Mask
    is_proved: Mask
    begins: Ints
    queue: Ints
    ack: Ints
    is_done: Mask
    is_emptied: Mask
    acks: CursorAcks

    @property
    def owner(self) -> Ints:
        """Return for each reference the index of its message."""
        return np.repeat(np.arange(len(self.row)), np.diff(self.begins))


class CursorAcks(NamedTuple):
    """Acknowledgements by position, the first of each that took effect. ``at``: where it did.

    ``message``: the index of the paged message; -1: not known.
    """

    row: Ints
    queue: Ints
    page: Ints
    number: Ints
    at: Ints
    message: Ints


class _Events(NamedTuple):
    """Paged messages as they were written. ``at``: their positions. ``begins``: of each one's first queue."""

    row: Ints
    id: Ints
    at: Ints
    begins: Ints
    queue: Ints

    @property
    def owner(self) -> Ints:
        """Return for each queue the index of its event."""
        return np.repeat(np.arange(len(self.row)), np.diff(self.begins))


def paged_messages(records: HistoryRecords, around: Surroundings, *, from_start: bool) -> PagedMessages:
    """Return the paged messages of a history. ``from_start``: none is missing before the first one."""
    reading = _Paged(records, around)
    reading.place(from_start=from_start)
    return reading.messages()


class _Paged:
    """What is known of the events, one array for each fact."""

    def __init__(self, records: HistoryRecords, around: Surroundings) -> None:
        self.records = records
        self.around = around
        self.events = _with_disk(_events(records), around)
        self.stores = _Stores(around.addresses, self.events)
        count = len(self.events.row)
        self.page, self.number = np.full(count, UNPLACED), np.full(count, UNPLACED)
        self.tx = np.full(count, -1)
        self.on_disk = np.zeros(count, bool)
        self.is_done = np.zeros(len(self.events.queue), bool)
        self.is_emptied = np.zeros(len(self.events.queue), bool)
        acks, self.bookmarks = _cursor_acks(records)
        self.acks = acks._replace(message=np.full(len(acks.row), -1))
        self.completes = _completes(records)

    def place(self, *, from_start: bool) -> None:
        """Find the positions of the events, and the events that were acknowledged, store by store."""
        of_event = self.stores.of(
            self.events.queue[self.events.begins[:-1].clip(max=max(len(self.events.queue) - 1, 0))]
        )
        of_event[np.diff(self.events.begins) == 0] = -1
        of_ack, of_complete = self.stores.of(self.acks.queue), self.stores.of(self.completes["queue"])
        of_bookmark = self.stores.of(self.bookmarks.queue)
        sizes = self._sizes()
        for store in distinct(of_event[of_event >= 0]).tolist():
            mine, acks = np.flatnonzero(of_event == store), self._chosen(of_ack == store)
            completes, marks = self.completes[of_complete == store], np.flatnonzero(of_bookmark == store)
            address = self.stores.address(store)
            disk = self._disk(address)
            written = mine[self.events.row[mine] != _NO_FILE]
            facts = StoreFacts(
                self.events.id[written],
                sizes[written],
                self.events.at[written],
                _highest(completes["page"], completes["number"]),
                _highest(acks.page, acks.number),
                [Bookmark(int(self.bookmarks.at[n]), int(self.bookmarks.page[n])) for n in marks.tolist()],
                {page.number: page.ids for page in disk},
                None if address is None else self.around.page_size(address),
                from_start,
            )
            placed = placed_events(facts)
            self.page[written], self.number[written] = placed.page, placed.number
            self._take_disk(mine, disk)
            self._match(mine, np.flatnonzero(of_ack == store), completes)
            self._note_emptied(written, facts)

    def _chosen(self, mask: Mask) -> CursorAcks:
        return CursorAcks(*(column[mask] for column in self.acks))

    def _disk(self, address: str | None) -> list[DiskPage]:
        if self.around.disk is None or address is None:
            return []
        return self.around.disk.get(address, [])

    def _sizes(self) -> Ints:
        """Return the bytes of each message's record in a page."""
        rows, columns = self.events.row, self.records.columns
        written = np.flatnonzero(rows != _NO_FILE)
        sizes = _FRAME + _QUEUE_ID * np.diff(self.events.begins)
        large = columns.types.at(rows[written]) == RecordType.ADD_LARGE_MESSAGE
        sizes[written] += columns.sizes.at(rows[written]) + _SIZE_IN_FRONT * large
        return sizes

    def _take_disk(self, mine: Ints, disk: list[DiskPage]) -> None:
        """Take page, number and transaction of messages from the pages that hold them."""
        order = mine[np.argsort(self.events.id[mine], kind="stable")]
        ids = self.events.id[order]
        for page in disk:
            at = np.searchsorted(ids, page.ids).clip(max=len(ids) - 1)
            with_event = np.flatnonzero(ids[at] == page.ids)
            events = order[at[with_event]]
            self.page[events], self.number[events] = page.number, with_event
            self.tx[events] = page.tx[with_event]
            self.on_disk[events] = True

    def _match(self, mine: Ints, acks: Ints, completes: Fields) -> None:
        """Find the events that acknowledgements name by position, and the queues that are done with their pages."""
        placed = mine[self.page[mine] != UNPLACED]
        positions = ValueIndex(_position_key(self.page[placed], self.number[placed]))
        index = positions.of(_position_key(self.acks.page[acks], self.acks.number[acks]))
        self.acks.message[acks] = np.append(placed, -1)[index]
        if len(completes):
            references = spread(self.events.begins[placed], np.diff(self.events.begins)[placed])
            page = self.page[self.events.owner[references]]
            done, _ = ReferenceKeys(completes["page"], completes["queue"]).find(page, self.events.queue[references])
            self.is_done[references[done]] = True

    def _note_emptied(self, written: Ints, facts: StoreFacts) -> None:
        """Note unplaced events before a placed one, where each page up to that is acknowledged as a whole.

        Pages follow one another, so such an event is in one of these pages.
        """
        page = self.page[written]
        later = np.minimum.accumulate(np.where(page == UNPLACED, _NO_PAGE, page)[::-1])[::-1]
        unplaced = np.flatnonzero((page == UNPLACED) & (later != _NO_PAGE))
        bounds: dict[int, int] = {}
        for last in distinct(later[unplaced]).tolist():
            bound = last
            while bound in facts.disk:  # what is gone is in no page that is still there
                bound -= 1
            bounds[last] = bound
        events = written[unplaced]
        counts = np.diff(self.events.begins)[events]
        references = spread(self.events.begins[events], counts)
        lasts, which = ranked(np.repeat(later[unplaced], counts))
        queues, which_queue = ranked(self.events.queue[references])
        bound = np.array([bounds[last] for last in lasts.tolist()], np.int64)[which]
        emptied = np.array([self._emptied_pages(queue, facts) for queue in queues.tolist()], np.int64)[which_queue]
        self.is_emptied[references] = emptied >= bound

    def _emptied_pages(self, queue: int, facts: StoreFacts) -> int:
        """Return up to which page a queue has acknowledged every message of all pages from the first one on."""
        pages, counts = np.unique(self.acks.page[self.acks.queue == queue], return_counts=True)
        acknowledged = dict(zip(pages.tolist(), counts.tolist(), strict=True))
        page = 1
        while (count := facts.counts.get(page)) and acknowledged.get(page) == count:
            page += 1
        return page - 1

    def messages(self) -> PagedMessages:
        """Return the messages with their acknowledgements and what is matched of their transactions."""
        events, acks = self.events, self.acks
        matched = np.flatnonzero(acks.message >= 0)
        acknowledged = ReferenceKeys(acks.message[matched], acks.queue[matched])
        references, at = acknowledged.find(events.owner, events.queue)
        ack = np.full(len(events.queue), -1)
        ack[references] = matched[at if acknowledged.first is None else acknowledged.first[at]]
        sent, is_proved = self._sent(ack)
        is_gone = ~self.on_disk if self.around.disk is not None else np.zeros(len(events.row), bool)
        return PagedMessages(
            events.row, events.id, sent, self.page, self.number, is_gone, is_proved, events.begins, events.queue, ack,
            self.is_done, self.is_emptied, acks,
        )  # fmt: skip

    def _sent(self, ack: Ints) -> tuple[Ints, Mask]:
        """Return where each send took effect, and whether that is proved (docs/spec/history.md 6.6)."""
        events = self.events
        sent, is_proved = events.at.copy(), np.zeros(len(events.at), bool)
        transactions = _page_transactions(self.records)
        in_range = np.zeros(len(sent), bool)
        ranged, at = _in_ranges(events, transactions)
        sent[ranged], in_range[ranged] = at, True
        on_disk, latest = np.flatnonzero(self.on_disk & (self.tx >= 0)), transactions[::-1]
        sent[on_disk] = np.append(latest["at"], NEVER)[ValueIndex(latest["tx"]).of(self.tx[on_disk])]
        is_proved |= self.on_disk | in_range
        acknowledged = np.zeros(len(sent), bool)
        acknowledged[events.owner[ack >= 0]] = True
        sent[acknowledged & (sent >= NEVER - 1)] = events.at[acknowledged & (sent >= NEVER - 1)]
        done = np.zeros(len(sent), bool)
        done[events.owner[self.is_done]] = True
        rolled_back = done & ~acknowledged & ~is_proved
        sent[rolled_back] = NEVER
        return sent, is_proved | acknowledged | done


class _Bookmarks(NamedTuple):
    queue: Ints
    page: Ints
    at: Ints


class _Stores:
    """The addresses that queues belong to, as numbers. Queues without a binding are of the address of their fellows."""

    def __init__(self, addresses: Mapping[int, str], events: _Events) -> None:
        self._root: dict[int, int] = {}
        self._address: dict[int, str] = {}
        first_of: dict[str, int] = {}
        for queue, address in addresses.items():
            self._root[queue] = first_of.setdefault(address, queue)
            self._address[first_of[address]] = address
        first = events.queue[events.begins[:-1].clip(max=max(len(events.queue) - 1, 0))] if len(events.queue) else None
        if first is not None:
            pairs = np.unique(np.stack([first[events.owner], events.queue]), axis=1)
            for queue, fellow in pairs.T.tolist():
                self._join(queue, fellow)

    def _find(self, queue: int) -> int:
        root = queue
        while self._root.setdefault(root, root) != root:
            root = self._root[root]
        return root

    def _join(self, queue: int, fellow: int) -> None:
        first, second = self._find(queue), self._find(fellow)
        if first != second:
            if first not in self._address:
                first, second = second, first
            self._root[second] = first

    def of(self, queues: Ints) -> Ints:
        """Return the number of the store of each queue."""
        distinct_queues, which = ranked(queues)
        return np.array([self._find(queue) for queue in distinct_queues.tolist()], np.int64)[which]

    def address(self, store: int) -> str | None:
        """Return the address of a store, None if no binding says it."""
        return self._address.get(store)


def _events(records: HistoryRecords) -> _Events:
    rows = records.rows_of(*MESSAGES)
    rows = rows[records.is_event(rows)]
    references = records.rows_of(RecordType.ADD_REF)
    references = references[records.is_event(references)]
    fits, bodies = bodies_of(records.columns, references, RecordType.ADD_REF)
    references, queue = references[fits], bodies["queue"].astype(np.int64)
    ids, at = records.columns.ids.at(rows), records.positions(rows)
    # A reference belongs to the last event before it that has its id.
    distinct_ids, which = ranked(ids)
    wanted_ids = records.columns.ids.at(references)
    of_id = np.searchsorted(distinct_ids, wanted_ids)
    span = records.ends[-1] + 1 if records.ends else 1
    keys = which * span + at
    order = np.argsort(keys, kind="stable")
    before = np.searchsorted(keys[order], of_id * span + records.positions(references)) - 1
    owner = order[before.clip(min=0)] if len(order) else before
    good = (before >= 0) & (ids[owner] == wanted_ids) if len(order) else np.zeros(len(references), bool)
    owner, queue = owner[good], queue[good]
    by_owner = np.argsort(owner, kind="stable")
    begins = np.searchsorted(owner[by_owner], np.arange(len(rows) + 1))
    return _Events(rows, ids, at, begins, queue[by_owner])


def _with_disk(events: _Events, around: Surroundings) -> _Events:
    """Add the messages of pages that have no event, each where the messages with lower ids end."""
    if around.disk is None:
        return events
    ids, at, counts, queues = [], [], [], []
    order = np.argsort(events.id, kind="stable")
    known_ids = events.id[order]
    reached = np.maximum.accumulate(np.append(BEFORE, events.at[order]))
    for pages in around.disk.values():
        for page in pages:
            missing = np.flatnonzero(~np.isin(page.ids, known_ids))
            ids.append(page.ids[missing])
            at.append(reached[np.searchsorted(known_ids, page.ids[missing])])
            counts.append(np.diff(page.begins)[missing])
            queues.append(page.queues[spread(page.begins[missing], counts[-1])])
    if not queues:
        return events
    more = np.concatenate(counts)
    return _Events(
        np.append(events.row, np.full(len(more), _NO_FILE)),
        np.concatenate([events.id, *ids]),
        np.concatenate([events.at, *at]),
        np.append(events.begins, events.begins[-1] + np.cumsum(more)),
        np.concatenate([events.queue, *queues]),
    )


def _cursor_acks(records: HistoryRecords) -> tuple[CursorAcks, _Bookmarks]:
    rows = records.rows_of(RecordType.ACKNOWLEDGE_CURSOR)
    fits, fields = bodies_of(records.columns, rows, RecordType.ACKNOWLEDGE_CURSOR)
    rows = rows[fits]
    queue, page, number = (fields[name].astype(np.int64) for name in ("queue", "page", "number"))
    at, marks = records.effects(rows), np.flatnonzero(number == BOOKMARK)
    bookmarks = _Bookmarks(queue[marks], page[marks], at[marks])
    order = np.lexsort((at, records.is_copy(rows), number, page, queue))
    order = order[(number[order] != BOOKMARK) & (at[order] != NEVER)]
    keys = np.stack([queue[order], page[order], number[order]])
    order = order[np.append(True, (keys[:, 1:] != keys[:, :-1]).any(axis=0))[: len(order)]]
    order = order[np.argsort(at[order], kind="stable")]
    acks = CursorAcks(rows, queue, page, number, at, np.full(len(rows), -1))
    return CursorAcks(*(column[order] for column in acks)), bookmarks


def _completes(records: HistoryRecords) -> Fields:
    rows = records.rows_of(RecordType.PAGE_CURSOR_COMPLETE)
    fits, fields = bodies_of(records.columns, rows, RecordType.PAGE_CURSOR_COMPLETE)
    names = fields.dtype.names or ()
    completes: Fields = fields[records.effects(rows[fits]) != NEVER].astype([(name, "i8") for name in names])
    return completes


def _page_transactions(records: HistoryRecords) -> Fields:
    """Return page transactions with the ids of their records, and where they took effect."""
    rows = records.rows_of(RecordType.PAGE_TRANSACTION)
    rows = rows[records.columns.updates.at(rows) == 0]
    fits, fields = bodies_of(records.columns, rows, RecordType.PAGE_TRANSACTION)
    rows = rows[fits]
    table = np.zeros(len(rows), [("tx", "i8"), ("record", "i8"), ("references", "i8"), ("at", "i8")])
    table["tx"], table["references"] = fields["tx"], fields["references"]
    table["record"], table["at"] = records.columns.ids.at(rows), records.effects(rows)
    return table


def _in_ranges(events: _Events, transactions: Fields) -> tuple[Ints, Ints]:
    """Return the events of page transactions, and where these took effect.

    They have ids between that of the transaction and that of its record, and as many references as it counts.
    """
    order = np.argsort(events.id, kind="stable")
    ids, sums = events.id[order], np.append(0, np.cumsum(np.diff(events.begins)[order]))
    first = np.searchsorted(ids, transactions["tx"], "right")
    behind = np.searchsorted(ids, transactions["record"], "left")
    matching = np.flatnonzero((behind > first) & (sums[behind] - sums[first] == transactions["references"]))
    counts = (behind - first)[matching]
    return order[spread(first[matching], counts)], np.repeat(transactions["at"][matching], counts)


def _position_key(page: Ints, number: Ints) -> Ints:
    return (page << 32) + number


def _highest(keys: Ints, values: Ints) -> dict[int, int]:
    """Return the highest value of each key."""
    order = np.lexsort((values, keys))
    return dict(zip(keys[order].tolist(), values[order].tolist(), strict=True))
