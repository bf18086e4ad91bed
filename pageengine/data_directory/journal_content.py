"""Engine state as journal records: bindings, messages in memory, acknowledgements in pages.

Source: docs/spec/journal.md 5 and 6, docs/spec/paging-engine.md 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pageengine.data_directory.encoding import stored_message
from pageengine.running.crash import alive_references
from pageengine.trace.operations import RoutingType
from pagefmt.codec.messages.persisted import encode_persisted
from pagefmt.codec.wire import ByteWriter
from pagefmt.directory.bindings import AddressBinding, QueueBinding, encode_address, encode_queue
from pagefmt.journal.bodies import (
    Body,
    CounterValue,
    CursorAck,
    DeliveryCount,
    DuplicateId,
    PageComplete,
    PageTransaction,
    QueueRef,
    ScheduledDelivery,
    Xid,
    encode_body,
)
from pagefmt.journal.record_types import RecordType
from pagefmt.journal.records import JournalRecord, RecordKind

if TYPE_CHECKING:
    from pageengine.broker.transaction import Transaction
    from pageengine.clients.run import Run
    from pageengine.model.message import Message
    from pageengine.model.reference import Reference
    from pageengine.queues.queue import Queue

ROUTING = {RoutingType.MULTICAST: 0, RoutingType.ANYCAST: 1}
TRUE = 0xFF
XID_FORMAT = 1
# Added to the ids in use for the stored counter; a broker continues after it.
FAR_AHEAD = 1 << 31


class RecordIds:
    """New record ids, above everything in use."""

    def __init__(self, run: Run) -> None:
        self.last = run.broker.ids + FAR_AHEAD // 2

    def next(self) -> int:
        """Return the next record id."""
        self.last += 1
        return self.last


def binding_records(run: Run) -> list[JournalRecord]:
    """Return the records of addresses and durable queues; the record of a queue has the queue's id."""
    ids = RecordIds(run)
    counter = ByteWriter()
    counter.i64(run.broker.ids + FAR_AHEAD)
    records = [_add(ids.next(), RecordType.ID_COUNTER_RECORD, counter.done())]
    for name, types in sorted(run.broker.addresses.items()):
        binding = AddressBinding(0, name, tuple(sorted(ROUTING[routing] for routing in types)), 0, 0)
        records.append(_add(ids.next(), RecordType.ADDRESS_BINDING_RECORD, encode_address(binding)))
    for queue in run.broker.queues.values():
        if queue.durable:
            records.append(_add(queue.id, RecordType.QUEUE_BINDING_RECORD, encode_queue(_queue_binding(queue))))
    return records


def _queue_binding(queue: Queue) -> QueueBinding:
    created = queue.creation
    fields: dict[str, str | int | None] = {
        "name": queue.name,
        "address": queue.address,
        "filter": created.filter,
        "metadata": "",
        "auto_created": 0,
        "max_consumers": queue.max_consumers,
        "purge_on_no_consumers": TRUE if queue.purge_on_no_consumers else 0,
        "routing_type": ROUTING[created.routing],
        "exclusive": TRUE if queue.exclusive else 0,
        "last_value": TRUE if queue.last_values is not None else 0,
        "configuration_managed": 0,
        "consumers_before_dispatch": 0,
        "delay_before_dispatch": -1,
        "last_value_key": None,
        "non_destructive": TRUE if queue.non_destructive else 0,
        "group_rebalance": 0,
        "group_buckets": -1,
        "auto_delete": TRUE if created.auto_delete else 0,
        "auto_delete_delay": 0,
        "auto_delete_message_count": 0,
        "group_first_key": None,
        "ring_size": queue.ring_size,
        "enabled": TRUE,
        "group_rebalance_pause_dispatch": 0,
        "internal": 0,
    }
    return QueueBinding(queue.id, fields)


def journal_records(run: Run) -> list[JournalRecord]:
    """Return the records of messages in memory with their references, then of everything about pages."""
    ids = RecordIds(run)
    alive = {queue: alive_references(run, queue) for queue in run.broker.queues.values() if queue.durable}
    messages = {ref.message.id: ref.message for refs in alive.values() for ref in refs}
    records = [_message(run, messages[id], RecordKind.ADD, 0) for id in sorted(messages)]
    for refs in alive.values():
        for ref in refs:
            records += _reference(run, ref)
    records += _pages(run, ids)
    for address, cache in run.broker.duplicates.items():
        records += [_add_body(ids, RecordType.DUPLICATE_ID, DuplicateId(address, duplicate)) for duplicate in cache]
    for xid, tx in run.branches.items():
        if tx.prepared:
            records += _branch(run, ids, xid, tx)
    return records


def _add(id: int, type: RecordType, body: bytes) -> JournalRecord:
    return JournalRecord(RecordKind.ADD, id=id, user_type=int(type), body=body)


def _add_body(ids: RecordIds, type: RecordType, body: Body) -> JournalRecord:
    return _add(ids.next(), type, encode_body(body))


def _update(message: int, type: RecordType, body: Body, tx: int = 0) -> JournalRecord:
    kind = RecordKind.UPDATE_TX if tx else RecordKind.UPDATE
    return JournalRecord(kind, id=message, tx=tx, user_type=int(type), body=encode_body(body))


def _message(run: Run, message: Message, kind: RecordKind, tx: int) -> JournalRecord:
    out = ByteWriter()
    encode_persisted(out, stored_message(run, message))
    core_large = message.large and message.amqp is None
    type = RecordType.ADD_LARGE_MESSAGE if core_large else RecordType.ADD_MESSAGE_PROTOCOL
    return JournalRecord(kind, id=message.id, tx=tx, user_type=int(type), body=out.done())


def _reference(run: Run, ref: Reference) -> Iterator[JournalRecord]:
    queue, message = ref.queue.id, ref.message.id
    yield _update(message, RecordType.ADD_REF, QueueRef(queue))
    if ref.stored_count:
        yield _update(message, RecordType.UPDATE_DELIVERY_COUNT, DeliveryCount(queue, ref.stored_count))
    if ref.scheduled:
        at = (ref.scheduled + run.broker.start_ns) // 1_000_000
        yield _update(message, RecordType.SET_SCHEDULED_DELIVERY_TIME, ScheduledDelivery(queue, at))


def _pages(run: Run, ids: RecordIds) -> Iterator[JournalRecord]:
    for tx in run.broker.page_transactions.values():
        if tx.committed:
            yield _add_body(ids, RecordType.PAGE_TRANSACTION, PageTransaction(tx.id, tx.messages))
    for store in run.broker.stores.values():
        for cursor in store.cursors.values():
            queue = cursor.queue
            if not queue.durable:
                continue
            if not cursor.empty:
                counter = cursor.counter
                value = CounterValue(queue.id, counter.value, counter.bytes)
                yield _add_body(ids, RecordType.PAGE_CURSOR_COUNTER_VALUE, value)
            for info in cursor.pages.in_order():
                page = store.pages.get(info.page)
                if info.complete:
                    count = page.count if page is not None else 0
                    complete = PageComplete(queue.id, info.page, count)
                    yield _add_body(ids, RecordType.PAGE_CURSOR_COMPLETE, complete)
                    continue
                for nr in sorted(nr for nr in info.acks or () if nr not in info.ignored):
                    yield _add_body(ids, RecordType.ACKNOWLEDGE_CURSOR, CursorAck(queue.id, info.page, nr))


def _branch(run: Run, ids: RecordIds, xid: str, tx: Transaction) -> Iterator[JournalRecord]:
    """Yield a prepared branch: what it added and acknowledged, in a transaction that was prepared and not ended."""
    records: list[JournalRecord] = []
    seen: set[int] = set()
    for ref in tx.added:
        if ref.message.durable and ref.queue.durable:
            if ref.message.id not in seen:
                seen.add(ref.message.id)
                records.append(_message(run, ref.message, RecordKind.ADD_TX, tx.id))
            records.append(_update(ref.message.id, RecordType.ADD_REF, QueueRef(ref.queue.id), tx.id))
    for ref, _ in tx.acked:
        if ref.record is not None:
            ack = CursorAck(ref.queue.id, ref.record.page, ref.record.nr)
            records.append(_in(tx, _add_body(ids, RecordType.ACKNOWLEDGE_CURSOR, ack)))
        elif ref.message.durable and ref.queue.durable:
            records.append(_update(ref.message.id, RecordType.ACKNOWLEDGE_REF, QueueRef(ref.queue.id), tx.id))
    if tx.page_tx is not None:
        waiting = PageTransaction(tx.id, tx.page_tx.durable)
        records.append(_in(tx, _add_body(ids, RecordType.PAGE_TRANSACTION, waiting)))
    yield from records
    name = xid.encode()
    yield JournalRecord(
        RecordKind.PREPARE, tx=tx.id, body=encode_body(Xid(XID_FORMAT, name, name)), records=len(records)
    )


def _in(tx: Transaction, record: JournalRecord) -> JournalRecord:
    return JournalRecord(RecordKind.ADD_TX, id=record.id, tx=tx.id, user_type=record.user_type, body=record.body)
