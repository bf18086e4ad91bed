"""Operators' actions on queues: purge, scan for expired messages, delete.

Source: docs/spec/paging-engine.md 3.7, docs/spec/trace-format.md 1.2.
"""

from __future__ import annotations

from collections.abc import Iterator

from pageengine.broker.broker import Broker
from pageengine.broker.settling import expire_reference
from pageengine.broker.transaction import Transaction
from pageengine.model.reference import AckReason, Reference
from pageengine.paging.cleanup import schedule_cleanup
from pageengine.paging.cursor import PageIterator
from pageengine.queues.ports import MessageMatcher
from pageengine.queues.queue import Queue


def purge(broker: Broker, queue: Queue, matches: MessageMatcher | None) -> int:
    """Remove matching messages in memory, scheduled and in pages, and return how many.

    Messages in pages that do not match are read into memory.
    """
    tx = Transaction(broker)
    count = 0
    waiting = queue.references.iterator()
    while (ref := waiting.peek()) is not None:
        if matches is None or matches(ref.message):
            waiting.remove()
            queue.removed(ref)
            count += _kill(queue, ref, tx)
    waiting.close()
    for ref in [ref for ref in queue.scheduled if matches is None or matches(ref.message)]:
        queue.scheduled.remove(ref)
        count += _kill(queue, ref, tx)
    tx.commit()
    if queue.reader is not None:
        count += _purge_pages(broker, queue, matches)
    broker.schedule.touch(queue)
    queue.force_delivery()
    return count


def _kill(queue: Queue, ref: Reference, tx: Transaction) -> int:
    queue.counts.deliver(ref)
    tx.acknowledge(ref, AckReason.KILLED)
    return 1


def _purge_pages(broker: Broker, queue: Queue, matches: MessageMatcher | None) -> int:
    assert queue.reader is not None
    in_place = broker.profile.purges_in_place
    iterator = PageIterator(queue.reader, browsing=False) if in_place else queue.reader.iterator
    tx = Transaction(broker)
    count = 0
    while iterator.has_next():
        record = iterator.next() if in_place else iterator.take()
        if matches is None or matches(record.message):
            count += _kill(queue, Reference(record.message, queue, record), tx)
        elif not in_place:
            queue.add_tail(Reference(record.message, queue, record))
    tx.commit()
    return count


def acknowledge_in_pages(broker: Broker, queue: Queue, matches: MessageMatcher) -> list[int]:
    """Acknowledge matching messages that are only in pages, and return their numbers.

    No consumer reaches them yet; an operator does who removes messages by a filter.
    """
    if queue.reader is None:
        return []
    iterator, tx = PageIterator(queue.reader, browsing=False), Transaction(broker)
    numbers: list[int] = []
    while iterator.has_next():
        record = iterator.next()
        if matches(record.message):
            ref = Reference(record.message, queue, record)
            queue.counts.deliver(ref)
            tx.acknowledge(ref, AckReason.NORMAL)
            numbers.append(-1 if record.message.seq is None else record.message.seq)
    tx.commit()
    broker.schedule.touch(queue)
    return numbers


def scan_expired(broker: Broker, queues: list[Queue]) -> None:
    """Scan queues for expired messages, interleaved: each scans its memory, then reads on in its pages."""
    scans = [_scan(broker, queue) for queue in queues]
    while scans:
        scans = [scan for scan in scans if next(scan, None)]


def _scan(broker: Broker, queue: Queue) -> Iterator[bool]:
    """Scan one queue for expired messages, yielding between the steps.

    It reads on in the pages if it found nothing in memory or expired some.
    """
    settings = broker.settings.address_settings.effective(queue.address)
    open_transactions = []
    while settings.expiry_address != queue.address:
        had_elements = queue.references.size > 0
        expired = _take_expired(queue)
        tx = Transaction(broker)
        for ref in expired:
            queue.counts.deliver(ref)
            if not expire_reference(broker, ref, tx):
                queue.stick(ref)
        open_transactions.append(tx)
        if (had_elements and not expired) or queue.reader is None or not queue.reader.iterator.has_next():
            break
        yield True
        if not queue.depage():
            break
    for tx in open_transactions:
        # written to the journal before it takes effect: until then what expired still counts as being delivered
        if tx.failed is None:
            tx.commit()
        else:
            tx.roll_back()


def _take_expired(queue: Queue) -> list[Reference]:
    """Remove expired messages from memory and return them."""
    now = queue.broker.now
    expired = []
    waiting = queue.references.iterator()
    while (ref := waiting.peek()) is not None:
        if ref.message.expiration and ref.message.expiration <= now:
            waiting.remove()
            queue.removed(ref)
            expired.append(ref)
    waiting.close()
    return expired


def delete_queue(broker: Broker, queue: Queue) -> None:
    """Remove a queue, everything in it, its cursor, and the pages that only it needed."""
    queue.deleted = True
    purge(broker, queue, None)
    cursor, store = queue.reader, queue.store
    if cursor is not None and store is not None:
        cursor.counter.value = cursor.counter.bytes = 0
        store.cursors.pop(queue.id, None)
        schedule_cleanup(store)
    broker.forget_queue(queue)
