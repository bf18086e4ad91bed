"""Losses by a crash at its instant: what was not written yet, and what was not synced yet.

Source: docs/spec/paging-engine.md 4.1.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

from pageengine.clients.run import Run
from pageengine.model.message import Message
from pageengine.model.outcome import CrashLoss
from pageengine.model.page import PagedMessage
from pageengine.model.reference import Reference
from pageengine.model.sizes import RECORD_FRAME
from pageengine.paging.store import AddressStore
from pageengine.queues.queue import Queue
from pageengine.trace.operations import Crash, CrashKind

LONG_AGO: Final = -(2**62)
NEVER: Final = 2**62
# Bytes of a message's and its reference's records in the journal beyond the message, at least.
MESSAGE_FRAME = 100


def references(run: Run, queue: Queue) -> list[Reference]:
    """Return references that were never paged and are not acknowledged, in the order they came."""
    refs = [*queue.references, *queue.scheduled, *queue.stuck]
    for consumer in queue.consumers:
        refs += consumer.delivering.values()
    for tx in run.transactions():
        refs += [ref for ref, _ in tx.acked if ref.queue is queue and not ref.gone]
    kept = {id(ref): ref for ref in refs if ref.record is None}
    return sorted(kept.values(), key=lambda ref: ref.sequence)


def alive_references(run: Run, queue: Queue) -> list[Reference]:
    """Return those of the queue's unpaged references that the journal holds: durable ones."""
    return [ref for ref in references(run, queue) if ref.message.durable]


class CrashState:
    """State of a run on the disk at the instant of a crash.

    ``journal``: by queue the references that are surely or perhaps there. Pages, page transactions and
    acknowledgements of the run lose what is surely not.
    """

    def __init__(self, run: Run, op: Crash) -> None:
        self.run = run
        self.broker = run.broker
        self.kind = op.kind
        self.t = op.t
        self.loss = CrashLoss()
        self.names = {queue.id: queue.name for queue in run.broker.queues.values()}
        queues = run.broker.queues.values()
        self.journal = {queue.id: alive_references(run, queue) for queue in queues if queue.durable}
        self.flushes = op.kind is CrashKind.KILL and run.profile.flushes_unsynced
        self.held: dict[str, list[tuple[int, int]]] = {}
        self.committed = {tx: at for at, tx in self.broker.latest.committed}
        self._again()
        if op.kind is not CrashKind.REST and op.t > run.began:
            self._unwritten_pages()
            self._journal()
            if op.kind is CrashKind.POWER:
                self._unsynced_pages()
        self._volatile()
        self.loss.answered.sort()
        for losses in (self.loss.lost, self.loss.perhaps_lost, self.loss.again, self.loss.perhaps_again):
            for name, seqs in losses.items():
                losses[name] = sorted(set(seqs))

    # what is lost or given again whenever it happens

    def _volatile(self) -> None:
        """Count messages in memory that are not durable, and everything in queues that are not durable, as lost."""
        for queue in self.broker.queues.values():
            lost = [ref.message for ref in references(self.run, queue) if not (queue.durable and ref.message.durable)]
            if not queue.durable and queue.store is not None:
                pages = queue.store.pages
                lost += [
                    record.message
                    for n in sorted(pages)
                    for record in pages[n].records
                    if self._waits(queue.id, record)
                ]
            self._lose(self.loss.lost, queue, lost)

    def _again(self) -> None:
        """Count as delivered again what clients have not acknowledged, or only in transactions the crash ends."""
        run = self.run
        refs = [ref for consumer in run.consumers.values() for ref in consumer.opened.values()]
        refs += [ref for tx in run.transactions() if not tx.prepared for ref, _ in tx.acked]
        self._give_again(self.loss.again, refs)

    def _give_again(self, losses: dict[str, list[int]], refs: Iterable[Reference]) -> None:
        for ref in refs:
            if ref.queue.durable and not ref.queue.deleted and (ref.record is not None or ref.message.durable):
                losses.setdefault(ref.queue.name, []).append(ref.message.source.seq)

    @staticmethod
    def _lose(losses: dict[str, list[int]], queue: Queue, messages: list[Message]) -> None:
        if messages:
            losses.setdefault(queue.name, []).extend([message.source.seq for message in messages])

    def _add(self, losses: dict[str, list[int]], records: Iterable[PagedMessage]) -> None:
        """Add the records to the losses of their queues."""
        for record in records:
            for id in record.queues:
                name = self.names.get(id)
                if name is not None and self.broker.queues[name].durable and self._waits(id, record):
                    losses.setdefault(name, []).append(record.message.source.seq)

    def _waits(self, queue: int, record: PagedMessage) -> bool:
        """Return whether the record is for the queue, finally sent, and not acknowledged by it."""
        name = self.names.get(queue)
        cursor = self.broker.queues[name].cursor if name is not None and queue in record.queues else None
        if cursor is None:
            return False
        if record.tx >= 0:
            transaction = self.broker.page_transactions.get(record.tx)
            if transaction is None or not transaction.committed:
                return False
        info = cursor.pages.get(record.page)
        return info is None or not (cursor.is_done(info) or info.is_ack(record.nr))

    # pages

    def _unwritten_pages(self) -> None:
        """Remove records that still wait for the timer, and the commits that wait for them."""
        if not self.run.profile.writes_pages_in_batches:
            return
        undone: set[int] = set()
        stores = list(self.broker.stores.values())
        timers = PageTimers(self.run.settings.page_sync_timeout, stores, self.t)
        self.held = timers.held
        for store in stores:
            read = _last_read(self.run, store)
            unwritten = []
            for record in _fresh(store):
                at = timers.written.get(id(record))
                if at is None and (record.page, record.nr) > read:
                    unwritten.append(record)
                elif record.tx in self.committed:
                    self.committed[record.tx] = max(self.committed[record.tx], self.t if at is None else at)
            undone |= {record.tx for record in unwritten if record.tx >= 0}
            self._add(self.loss.lost, unwritten)
            _cut(store, unwritten)
        self._undo(undone)

    def _undo(self, transactions: set[int]) -> None:
        """Undo commits that wait for pages and so have not reached the journal."""
        latest, loss = self.broker.latest, self.loss
        for store in self.broker.stores.values():
            self._add(loss.lost, (record for record in _fresh(store) if record.tx in transactions))
        for tx in transactions:
            transaction = self.broker.page_transactions.get(tx)
            if transaction is not None:
                transaction.committed = False
        gone = {place for _, tx, place in latest.sent if tx in transactions}
        for id_, refs in self.journal.items():
            lost = [ref.message for ref in refs if ref.place in gone]
            if lost:
                self._lose(loss.lost, self.broker.queues[self.names[id_]], lost)
                self.journal[id_] = [ref for ref in refs if ref.place not in gone]
        back = [ref for _, tx, ref in latest.acked if tx in transactions]
        for ref in back:
            self._unacknowledge(ref)
        self._give_again(loss.again, back)

    def _unacknowledge(self, ref: Reference) -> None:
        if ref.record is None:
            refs = self.journal.get(ref.queue.id)
            if refs is not None and ref.message.durable:
                refs.append(ref)
                refs.sort(key=lambda other: other.sequence)
            return
        cursor = ref.queue.cursor
        info = cursor.pages.get(ref.record.page) if cursor is not None else None
        if info is not None and info.acks is not None:
            info.acks.discard(ref.record.nr)

    # the journal

    def _sure(self) -> int:
        """Return the time up to which all of the journal is surely on the disk.

        That is the time of the last entry that was synced long enough ago.
        """
        settings, latest = self.run.settings, self.broker.latest
        until = self.t - settings.journal_buffer_timeout
        times = [LONG_AGO]
        if settings.journal_sync_transactional or self.flushes:
            times += [at for at in self.committed.values() if at <= until]
            times += [at for at, tx, _ in latest.acked if tx not in self.committed and at <= until]
            times += [at for at, _, _ in latest.alone if at <= until]
        if settings.journal_sync_non_transactional or self.flushes:
            times += [at for at, _ in self._alone() if at <= until]
        return max(times)

    def _alone(self) -> list[tuple[int, Reference]]:
        """Return (time of arrival, reference) of durable messages in memory that no recent transaction sent."""
        latest = self.broker.latest
        released = {message: at for at, message in latest.released}
        sent = {place for _, _, place in latest.sent}
        result = []
        for ref in (ref for refs in self.journal.values() for ref in refs if ref.place not in sent):
            source = ref.message.source
            at = released.get(ref.message.id, source.t)
            later = [end for begin, end in self.held.get(source.session, ()) if begin < at < end]
            result.append((max([at, *later]), ref))
        return result

    def _journal(self) -> None:
        """Count what came after the last certain write as perhaps lost: the timer of the journal's buffer decides."""
        settings, latest, loss = self.run.settings, self.broker.latest, self.loss
        sure = self._sure()
        loss.incomplete = latest.since is not None and latest.since > sure
        recent = [(at, ref, settings.journal_sync_non_transactional) for at, ref in self._alone() if at > sure]
        kept = {ref.place: ref for refs in self.journal.values() for ref in refs}
        recent += [
            (self.committed[tx], kept[place], settings.journal_sync_transactional)
            for _, tx, place in latest.sent
            if place in kept and self.committed.get(tx, LONG_AGO) > sure
        ]
        room = settings.journal_buffer_size if self.kind is CrashKind.KILL else NEVER
        lost: list[Reference] = []
        for _, ref, synced in sorted(recent, key=lambda item: -item[0]):
            room -= ref.message.enc + MESSAGE_FRAME
            if synced or self.flushes or room > 0:
                lost.append(ref)
                if not synced:
                    loss.answered.append(ref.message.source.seq)
        for ref in reversed(lost):
            loss.perhaps_lost.setdefault(ref.queue.name, []).append(ref.message.source.seq)
        unsure = {tx for tx, at in self.committed.items() if at > sure}
        for store in self.broker.stores.values():
            self._add(loss.perhaps_lost, (item for item in _fresh(store) if item.tx in unsure))
        undone = {id(ref) for refs in self.journal.values() for ref in refs}
        self._give_again(
            loss.perhaps_again,
            (ref for at, tx, ref in latest.acked if self.committed.get(tx, at) > sure and id(ref) not in undone),
        )
        for at, queue, seq in latest.alone:
            if at > sure and seq is not None and queue.durable and not queue.deleted:
                loss.perhaps_again.setdefault(queue.name, []).append(seq)

    # loss of power

    def _unsynced_pages(self) -> None:
        answered = not self.run.settings.journal_sync_non_transactional
        for store in self.broker.stores.values():
            records = self._unsynced(store)
            self._add(self.loss.perhaps_lost, records)
            alone = (record.message for record in records if answered and record.tx < 0 and record.message.durable)
            self.loss.answered += [message.source.seq for message in alone]

    def _unsynced(self, store: AddressStore) -> list[PagedMessage]:
        """Return records that are written but perhaps not synced: those after the last one that surely is."""
        profile, settings = self.run.profile, self.run.settings
        until = self.t if profile.writes_pages_in_batches else self.t - settings.page_sync_timeout
        unsynced: list[PagedMessage] = []
        for record in reversed(_fresh(store)):
            if profile.syncs_closed_pages and record.page != store.current_id and record.page != max(store.pages):
                break
            if record.tx >= 0:
                synced = self.committed.get(record.tx, record.at) <= until
            else:
                asks = profile.writes_pages_in_batches or record.message.durable
                synced = asks and settings.journal_sync_non_transactional and record.at <= until
            if synced:
                break
            unsynced.append(record)
        return unsynced[::-1]


def _fresh(store: AddressStore) -> list[PagedMessage]:
    """Return the records written since the broker started, in order."""
    return [
        record
        for number in sorted(store.pages)
        for page in (store.pages[number],)
        for record in page.records[page.loaded :]
    ]


def _last_read(run: Run, store: AddressStore) -> tuple[int, int]:
    """Return (page, number) of the last record that a client has or has acknowledged; (0, 0) if none."""
    last = (0, 0)
    for consumer in run.consumers.values():
        if consumer.queue.store is store:
            records = [ref.record for ref in consumer.delivering.values() if ref.record is not None]
            last = max([last, *((record.page, record.nr) for record in records)])
    for cursor in store.cursors.values():
        for info in cursor.pages.in_order():
            page = store.pages.get(info.page)
            if page is not None and info.complete:
                last = max(last, (info.page, page.count - 1))
            acked = [nr for nr in info.acks or () if nr not in info.ignored]
            last = max([last, *((info.page, nr) for nr in acked)])
    return last


def _cut(store: AddressStore, unwritten: list[PagedMessage]) -> None:
    """Remove unwritten records from the pages, and pages that were begun for them.

    Records that were written all the same are written again: their connections were not read on.
    """
    if not unwritten:
        return
    first, out = unwritten[0], {id(record) for record in unwritten}
    later_records = [
        record_after
        for record_after in _fresh(store)
        if (record_after.page, record_after.nr) > (first.page, first.nr) and id(record_after) not in out
    ]
    for number in [number for number in store.pages if number > first.page]:
        del store.pages[number]
    page = store.pages[first.page]
    page.cut(first.nr)
    if not page.count and not page.forced:
        del store.pages[first.page]
    if later_records:
        store.current_id = max(store.pages)
        store.current = store.pages[store.current_id]
        store.current_bytes = store.current.bytes
        for record in later_records:
            store.write(record)


class PageTimers:
    """Timers of stores, which write what waits for their pages: the first record starts one, a run writes all.

    A connection whose message makes more wait than a page of its store holds is not read until that timer runs.
    ``held``: from when to when that was so, by session. ``written``: when each record was, by ``id``, up to the end.
    """

    def __init__(self, timeout: int, stores: list[AddressStore], until: int) -> None:
        self.timeout = timeout
        self.written: dict[int, int] = {}
        self.held: dict[str, list[tuple[int, int]]] = {}
        self._batches: dict[AddressStore, list[PagedMessage]] = {}
        self._due: dict[AddressStore, int] = {}
        self._holding: dict[str, AddressStore] = {}
        self._bytes: dict[AddressStore, int] = {}
        self._unread: dict[str, deque[tuple[AddressStore, PagedMessage]]] = {}
        fresh = [(store, record) for store in stores for record in _fresh(store)]
        for store, record in sorted(fresh, key=lambda item: (item[1].at, item[1].message.id)):
            self._run(record.at)
            self._come(store, record, record.at)
        self._run(until)

    def _come(self, store: AddressStore, record: PagedMessage, at: int) -> None:
        session = record.message.source.session
        if session in self._holding:
            self._unread.setdefault(session, deque()).append((store, record))
            return
        self._batches.setdefault(store, []).append(record)
        self._due.setdefault(store, at + self.timeout)
        self._bytes[store] = self._bytes.get(store, 0) + record.size + RECORD_FRAME
        if self._bytes[store] > store.page_size:
            self._holding[session] = store
            self.held.setdefault(session, []).append((at, NEVER))

    def _run(self, until: int) -> None:
        while self._due:
            store = min(self._due, key=self._due.__getitem__)
            at = self._due[store]
            if at > until:
                return
            del self._due[store], self._bytes[store]
            for record in self._batches.pop(store):
                self.written[id(record)] = at
            released = [session for session, holder in self._holding.items() if holder is store]
            for session in released:
                del self._holding[session]
                self.held[session][-1] = (self.held[session][-1][0], at)
            for session in released:
                unread = self._unread.get(session)
                while unread and session not in self._holding:
                    self._come(*unread.popleft(), at)
