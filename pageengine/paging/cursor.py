"""A queue's reading state over the pages of its address: confirmed and removed records, and where it reads on.

Source: docs/spec/paging-engine.md 3.2, 3.4 and 3.5.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from pageengine.model.page import PagedMessage, WrittenPage
from pageengine.model.page_infos import PageCounter, PageInfo, PageInfos
from pageengine.model.ports import ParkedRecord
from pageengine.model.reference import CursorPort, QueuePort
from pageengine.paging.cleanup import schedule_cleanup
from pageengine.paging.store import AddressStore


class Cursor(CursorPort):
    """Positions of one queue. ``empty``: it never had a paged message since page mode was last left."""

    __slots__ = ("checks_scheduled", "iterator", "last_acked", "store")

    def __init__(self, queue: QueuePort, store: AddressStore) -> None:
        self.queue = queue
        self.store = store
        self.pages = PageInfos()
        self.counter = PageCounter()
        self.empty = True
        self.last_acked: tuple[int, int] | None = None
        self.checks_scheduled = False
        self.iterator = PageIterator(self, browsing=False)

    @property
    def message_count(self) -> int:
        """Return the number of unacknowledged messages in the pages."""
        return 0 if self.empty else self.counter.value

    def count(self, add: int, size: int) -> None:
        """Count paged messages in, or out if negative; reaching page-limit-messages closes the store."""
        counter = self.counter
        counter.value += add
        counter.bytes += size
        if add > 0:
            counter.added += add
            store, limits = self.store, self.store.page_limits
            if limits.policy is not None and not limits.reached and limits.check_messages(counter.value):
                store.schedule.touched_stores.add(store)

    def info(self, page: int) -> PageInfo:
        """Return the state of a page, created if missing."""
        return self.pages.get(page) or self.pages.add(page)

    def is_done(self, info: PageInfo) -> bool:
        """Return whether every record of the page is confirmed."""
        if info.complete or not self.store.paging:
            return True
        if info.pending_tx:
            return False
        page = self.store.pages.get(info.page)
        return page is None or info.confirmed >= page.count

    def is_complete(self, page: int) -> bool:
        """Return whether the cursor no longer needs the page."""
        info = self.pages.get(page)
        if info is None:
            return self.empty
        return self.is_done(info)

    def first_page(self) -> int:
        """Return the first page with something unconfirmed; -1: no content; 0: content that was not examined yet."""
        if not self.pages:
            return -1 if self.empty else 0
        for info in self.pages.from_first_open():
            if not (info.pending_delete or self.is_done(info)):
                return info.page
        return self.pages.last

    def process_ack(self, page: int, nr: int) -> PageInfo:
        """Confirm one record; number -1 confirms none and marks the page as looked at."""
        last = self.last_acked
        if last is None or (page, nr) > last:
            if last is not None and last[0] != page:
                self.schedule_check()
            self.last_acked = (page, nr)
        info = self.pages.get(page) or self.pages.add(page)
        acks, removed = info.acks, info.removed
        if removed is not None:
            removed.add(nr)
        if acks is not None and nr not in acks:
            acks.add(nr)
            if nr >= 0:
                info.confirmed += 1
                if self.is_done(info):
                    self.done(info)
        return info

    def process_acks(self, page: int, numbers: list[int]) -> None:
        """Confirm several records of one page, with the same effect as ``process_ack`` for each but fewer steps.

        The page can become done only after the last of them.
        """
        if len(numbers) == 1 or min(numbers) < 0:
            for nr in numbers:
                self.process_ack(page, nr)
            return
        last, highest = self.last_acked, (page, max(numbers))
        if last is None or highest > last:
            if last is not None and last[0] != page:
                self.schedule_check()
            self.last_acked = highest
        info = self.info(page)
        if info.removed is not None:
            info.removed.update(numbers)
        if info.acks is not None:
            before = len(info.acks)
            info.acks.update(numbers)
            info.confirmed += len(info.acks) - before
            if len(info.acks) > before and self.is_done(info):
                self.done(info)

    def ignore(self, record: PagedMessage) -> PageInfo:
        """Confirm a record that does not concern the queue; nothing of that is stored."""
        info = self.process_ack(record.page, record.nr)
        info.ignored.add(record.nr)
        return info

    def done(self, info: PageInfo) -> None:
        """Schedule a check, because the page is done."""
        self.pages.maybe_done.add(info.page)
        self.schedule_check()

    def pending_done(self, info: PageInfo) -> None:
        """Note that a transaction has ended which a record of the page waited for."""
        info.pending_tx -= 1
        if self.is_done(info):
            self.done(info)

    def schedule_check(self) -> None:
        """Look for done pages after what is going on now."""
        if not self.checks_scheduled:
            self.checks_scheduled = True
            self.store.later(self.check)

    def check(self) -> None:
        """Mark done pages as complete, then let the store clean up."""
        self.checks_scheduled = False
        if self.last_acked is None:
            return
        store = self.store
        current = store.current
        for info in self.pages.worth_checking(everything=not store.paging):
            if info.pending_delete or info.complete:
                continue
            if not self.is_done(info):
                self.pages.maybe_done.discard(info.page)
                continue
            if current is not None and current.number == info.page:
                continue
            page = store.pages.get(info.page)
            if page is None or not page.count:
                self.pages.forget(info.page)
                continue
            info.complete = self.queue.durable
            self.pages.finish(info)
        schedule_cleanup(store)

    def leave_page_mode(self) -> None:
        """Reset the counter, because page mode of the address has ended."""
        self.counter.value = 0
        self.counter.bytes = 0
        self.empty = True


@dataclass(eq=False)
class PageIterator:
    """Reader of a store's pages for one cursor; a browser's does not confirm and sees messages being delivered."""

    cursor: Cursor
    browsing: bool
    page: WrittenPage | None = None
    at: int = 0
    cached: PagedMessage | None = None
    live: bool = False
    redeliveries: deque[PagedMessage] = field(default_factory=deque)

    def redeliver(self, record: PagedMessage) -> None:
        """Give the record before the rest of the page."""
        self.redeliveries.append(record)

    def has_next(self) -> bool:
        """Return whether there is another record, reading on in the pages to find it."""
        if self.cached is not None:
            info = self.cursor.pages.get(self.cached.page)
            if info is None or not info.is_removed(self.cached.nr):
                return True
            # another iterator, of a purge, took it meanwhile
            self.cached = None
        store, page = self.cursor.store, self.page
        if not store.paging:
            return False
        if page is not None and self.at >= page.count and page.number >= store.current_id and not self.redeliveries:
            return False
        self.cached = record = self._advance()
        if record is None:
            return False
        current = store.current
        self.live = current is not None and record.page == current.number and record.nr >= current.loaded
        return True

    def next(self) -> PagedMessage:
        """Return the record that ``has_next`` found."""
        record = self.cached
        assert record is not None
        self.cached = None
        return record

    def take(self) -> PagedMessage:
        """Return the next record and exclude it from further iteration by the main iterator."""
        record = self.next()
        self.cursor.info(record.page).remove(record.nr)
        return record

    def plain(self, take: bool) -> PagedMessage | None:
        """Return the next record if it is untouched and needs no decision; None means that ``has_next`` must decide.

        A fast path; the record is consumed if ``take``.
        """
        page, cursor, nr = self.page, self.cursor, self.at
        if page is None or nr >= page.count or self.cached is not None or self.redeliveries or not cursor.store.paging:
            return None
        info = cursor.pages.get(page.number)
        if info is None or info.removed is None or info.acks is None:
            return None
        record = page.records[nr]
        if record.tx >= 0 or nr in info.removed or nr in info.acks or cursor.queue.id not in record.queues:
            return None
        if take:
            info.removed.add(nr)
            self.live = page is cursor.store.current and nr >= page.loaded
            self.at = nr + 1
        return record

    def _advance(self) -> PagedMessage | None:
        cursor = self.cursor
        store = cursor.store
        if self.page is None:
            self.page = store.page_to_read(store.first_page)
            self.at = 0
        queue_id = cursor.queue.id
        while True:
            if self.redeliveries:
                return self.redeliveries.popleft()
            if self.at < self.page.count:
                record = self.page.records[self.at]
                self.at += 1
            else:
                following = self._following()
                if following < 0:
                    return None
                self.page = store.page_to_read(following)
                self.at = 0
                continue
            nr, page = record.nr, record.page
            info = cursor.pages.get(page) or cursor.pages.add(page)
            if not self.browsing and info.is_removed(nr):
                continue
            if info.is_ack(nr):
                continue
            if queue_id not in record.queues:
                if not self.browsing:
                    cursor.ignore(record)
                continue
            if record.tx < 0 or self._decided(record):
                return record

    def _decided(self, record: PagedMessage) -> bool:
        """Return whether a record of a transaction may be delivered now; otherwise it is ignored or parked."""
        cursor = self.cursor
        transactions = cursor.store.page_transactions
        tx = transactions.get(record.tx)
        if tx is None:
            if not self.browsing:
                cursor.ignore(record)
            return False
        if tx.committed:
            if not tx.redelivers:
                return True
            cursor.info(record.page).pending_tx += 1
            self.redeliver(record)
            cursor.pending_done(cursor.info(record.page))
            return False
        if tx.rolled_back:
            cursor.ignore(record)
            tx.finished(1, transactions)
            return False
        tx.redelivers = True
        cursor.info(record.page).pending_tx += 1
        tx.late.append(PassedTooEarly(self, record))
        return False

    def _following(self) -> int:
        assert self.page is not None
        number = self.page.number + 1
        current = self.cursor.store.current_id
        while number <= current:
            info = self.cursor.pages.get(number)
            if info is None or not (info.complete or info.pending_delete):
                return number
            number += 1
        return -1


class PassedTooEarly(ParkedRecord):
    """Record of a transaction that was still open when the cursor's iterator reached it."""

    def __init__(self, iterator: PageIterator, record: PagedMessage) -> None:
        self.iterator = iterator
        self.record = record

    def deliver(self) -> None:
        """Let the iterator deliver the record after all."""
        self.iterator.redeliver(self.record)
        cursor = self.iterator.cursor
        cursor.store.schedule.touch(cursor.queue)
        info = cursor.pages.get(self.record.page)
        if info is not None:
            cursor.pending_done(info)

    def drop(self) -> None:
        """Count the record as confirmed."""
        cursor = self.iterator.cursor
        cursor.pending_done(cursor.ignore(self.record))
