"""Transaction of a session, of one acknowledgement or of a move, and the effect of its end.

Source: docs/spec/paging-engine.md 2.9, 3.4 and 3.7.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby

from pageengine.broker.broker import Broker
from pageengine.model.page import PagedMessage, PageTransactionInfo
from pageengine.model.page_infos import PageInfo
from pageengine.model.reference import NORMAL, AckReason, CursorPort, QueuePort, Reference


def _page(position: tuple[CursorPort, int, int]) -> tuple[CursorPort, int]:
    return position[:2]


def _queue(acked: tuple[Reference, AckReason]) -> tuple[QueuePort, AckReason]:
    return acked[0].queue, acked[1]


def _from_page(ref: Reference) -> bool:
    return ref.record is not None and ref.record.tx < 0


def acknowledge_alone(broker: Broker, ref: Reference) -> None:
    """Do what a transaction with only this acknowledgement does; it takes an id as that would."""
    broker.ids += 1
    queue, record = ref.queue, ref.record
    if record is not None and not queue.non_destructive:
        cursor = queue.cursor
        assert cursor is not None
        transaction = broker.page_transactions.get(record.tx) if record.tx >= 0 else None
        cursor.count(-1, -record.message.enc)
        cursor.process_ack(record.page, record.nr)
        if transaction is not None:
            transaction.finished(1, broker.page_transactions)
    broker.latest.acknowledged(broker.now, ref)
    queue.settle_one(ref, NORMAL)


@dataclass(eq=False)
class Transaction:
    """Sends (``added``) and acknowledgements, in memory and by position, until they are committed or rolled back."""

    broker: Broker
    id: int = 0
    added: list[Reference] = field(default_factory=list)
    acked: list[tuple[Reference, AckReason]] = field(default_factory=list)
    counts: list[tuple[CursorPort, int, int]] = field(default_factory=list)
    positions: list[tuple[CursorPort, int, int]] = field(default_factory=list)
    updates: dict[int, int] = field(default_factory=dict)
    duplicates: list[tuple[str, bytes]] = field(default_factory=list)
    page_tx: PageTransactionInfo | None = None
    failed: str | None = None
    prepared: bool = False
    reloaded: bool = False
    returned: list[Reference] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.id = self.broker.next_id()

    def page_transaction(self) -> PageTransactionInfo:
        """Return the transaction's entry for paged messages, created with the first of them."""
        if self.page_tx is None:
            self.page_tx = PageTransactionInfo(self.id)
            self.broker.page_transactions[self.id] = self.page_tx
        return self.page_tx

    def acknowledge(self, ref: Reference, reason: AckReason) -> None:
        """Finish a reference at commit (spec 3.4)."""
        if ref.queue.non_destructive and reason is NORMAL:
            self.acked.append((ref, reason))
            return
        if ref.record is not None:
            self._acknowledge_paged(ref, ref.record)
        self.acked.append((ref, reason))

    def acknowledge_all(self, queue: QueuePort, refs: list[Reference]) -> None:
        """Acknowledge several messages of one queue for a client, with the effect of ``acknowledge`` for each."""
        cursor = queue.cursor
        if len(refs) == 1 or cursor is None or queue.non_destructive or not all(map(_from_page, refs)):
            for ref in refs:
                self.acknowledge(ref, NORMAL)
            return
        size = page = 0
        info: PageInfo | None = None
        for ref in refs:
            record = ref.record
            assert record is not None
            if info is None or record.page != page:
                page = record.page
                info = cursor.info(page)
            info.remove(record.nr)
            self.positions.append((cursor, page, record.nr))
            size += ref.message.enc
        self.counts.append((cursor, -len(refs), -size))
        self.acked += [(ref, NORMAL) for ref in refs]

    def _acknowledge_paged(self, ref: Reference, record: PagedMessage) -> None:
        cursor = ref.queue.cursor
        assert cursor is not None
        cursor.info(record.page).remove(record.nr)
        self.positions.append((cursor, record.page, record.nr))
        self.counts.append((cursor, -1, -record.message.enc))
        if record.tx >= 0 and record.tx in self.broker.page_transactions:
            self.updates[record.tx] = self.updates.get(record.tx, 0) + 1

    def commit(self) -> None:
        """Apply counts and acknowledgements, and deliver new messages to their queues."""
        broker = self.broker
        now, latest = broker.now, broker.latest
        latest.committed.append((now, self.id))
        for ref, _ in self.acked:
            if self.page_tx is None:
                latest.acknowledged(now, ref)
            else:
                latest.acked.append((now, self.id, ref))
        if self.added:
            latest.sent.extend([(now, self.id, ref.place) for ref in self.added])
        if self.page_tx is not None:
            self.page_tx.commit()
        for cursor, add, size in self.counts:
            cursor.count(add, size)
            broker.schedule.touch(cursor.queue)
        for (cursor, page), positions in groupby(self.positions, _page):
            cursor.process_acks(page, [nr for _, _, nr in positions])
        for tx, count in self.updates.items():
            transaction = broker.page_transactions.get(tx)
            if transaction is not None:
                transaction.finished(count, broker.page_transactions)
        for (queue, reason), refs in groupby(self.acked, _queue):
            queue.settle([ref for ref, _ in refs], reason)
        for ref in self.added:
            if ref.queue.deleted:
                broker.settling.discard(ref)
            elif not ref.gone:
                ref.queue.add_tail(ref)
        for address, duplicate in self.duplicates:
            broker.remember_duplicate(address, duplicate)

    def roll_back(self, *, ignore_delay: bool = False) -> None:
        """Drop what was added, and return what was acknowledged to its queues."""
        for ref in self.added:
            ref.queue.reference_down(ref)
            self.broker.schedule.touch(ref.queue)
        if self.page_tx is not None and not self.reloaded:
            # for a branch that was prepared before a restart the broker forgets this: its records pin their pages
            self.page_tx.roll_back(self.broker.page_transactions)
        self.broker.settling.give_back([ref for ref, _ in self.acked] + self.returned, ignore_delay=ignore_delay)
