"""Restart and crash: what is on disk becomes a new broker.

Source: docs/spec/paging-engine.md 4.
"""

from __future__ import annotations

from pageengine.broker.broker import Broker
from pageengine.broker.copies import reloaded_bytes
from pageengine.broker.settling import started
from pageengine.broker.transaction import Transaction
from pageengine.clients.run import Run
from pageengine.model.message import Message
from pageengine.model.outcome import OperationResult
from pageengine.model.page import PageTransactionInfo
from pageengine.model.reference import AckReason, Reference
from pageengine.paging.cleanup import schedule_cleanup
from pageengine.paging.cursor import Cursor
from pageengine.paging.store import AddressStore
from pageengine.queues.queue import Queue
from pageengine.running.configured import configure
from pageengine.running.crash import CrashState, alive_references
from pageengine.trace.operations import Crash, Restart


def restart(run: Run, op: Restart | Crash, result: OperationResult) -> None:
    """Stop or kill the broker and start it; sessions, consumers and producers do not survive either."""
    result.abandoned = run.unfinished_sends() or None
    old = run.broker
    if isinstance(op, Restart):
        for consumer in list(run.consumers.values()):
            if not consumer.closed:
                run.close_consumer(consumer)
        for session in list(run.sessions.values()):
            session.close()
        old.schedule.run_all()
        journal = {queue.id: alive_references(run, queue) for queue in old.queues.values() if queue.durable}
    else:
        left = CrashState(run, op)
        journal, result.loss = left.journal, left.loss
    prepared = {xid: tx for xid, tx in run.branches.items() if tx.prepared}
    run.releases.clear()
    run.sessions.clear()
    run.wire_sessions.clear()
    run.consumers.clear()
    _boot(run, old, journal, prepared)


def _boot(run: Run, old: Broker, journal: dict[int, list[Reference]], prepared: dict[str, Transaction]) -> None:
    new = started(run.settings, run.profile, old.start_ns)
    new.now = old.now
    new.ids = old.ids
    new.expiring = old.expiring
    new.late = old.late
    new.shows_clients = old.shows_clients
    new.addresses = old.addresses
    if run.settings.persist_id_cache:
        new.duplicates = old.duplicates
    new.limits.set_disk_full(False)
    run.broker = new
    run.parts_changed = True
    _page_transactions(old, new, prepared)
    for store in old.stores.values():
        if store.had_folder:
            _load_store(new, store)
    for queue in old.queues.values():
        if queue.durable:
            _load_queue(new, queue)
    fresh: set[int] = set()
    for queue in old.queues.values():
        for ref in journal.get(queue.id, ()):
            _reload(new, new.queues[queue.name], ref, fresh)
    run.branches = {xid: _load_branch(new, tx, fresh) for xid, tx in prepared.items()}
    for store in new.stores.values():
        _rebuild_counters(store, {tx.id: tx for tx in run.branches.values()})
    configure(run)


def _page_transactions(old: Broker, new: Broker, prepared: dict[str, Transaction]) -> None:
    waiting = {tx.page_tx.id for tx in prepared.values() if tx.page_tx is not None}
    for transaction in old.page_transactions.values():
        if transaction.committed or transaction.id in waiting:
            new.page_transactions[transaction.id] = PageTransactionInfo(
                transaction.id,
                transaction.messages,
                transaction.messages,
                committed=transaction.committed,
                prepared=not transaction.committed,
            )


def _load_store(new: Broker, old: AddressStore) -> None:
    store = new.store(old.address)
    if store is None:
        return
    store.had_folder = True
    for page in old.pages.values():
        page.loaded = page.count
        for record in page.records:
            if record.message.large and not record.message.durable:
                record.message.lose_body()
    store.pages = old.pages
    store.files = sorted(old.pages)
    store.number_of_pages = len(store.pages)
    store.page_limits.check_pages(store.number_of_pages)
    if not store.pages:
        return
    store.first_page = min(store.pages)
    store.current_id = max(store.pages)
    store.current = store.pages[store.current_id]
    store.current_bytes = store.current.bytes
    if not (store.number_of_pages == 1 and not store.current.count):
        store.start_paging()


def _load_queue(new: Broker, old: Queue) -> None:
    queue = new.make_queue(old.creation, old.traits, old.id)
    if queue.reader is not None and old.reader is not None:
        _load_cursor(queue.reader, old.reader)
    new.schedule.touch(queue)


def _load_cursor(cursor: Cursor, old: Cursor) -> None:
    """Load stored acknowledgements and page completions that lie within existing pages."""
    store = cursor.store
    for info in old.pages.in_order():
        if not (store.first_page <= info.page <= store.current_id):
            continue
        if info.complete:
            page = store.pages.get(info.page)
            if page is None or not page.count:
                continue
            if page is store.current:
                store.open_new_page()
            done = cursor.pages.add(info.page)
            done.complete = True
            cursor.pages.finish(done, deleting=False)
            continue
        stored = sorted(nr for nr in info.acks or () if nr not in info.ignored)
        for nr in stored:
            loaded = cursor.info(info.page)
            cursor.last_acked = (info.page, nr)
            assert loaded.acks is not None
            loaded.acks.add(nr)
            loaded.remove(nr)
            loaded.confirmed += nr >= 0


def _reload(new: Broker, queue: Queue, old: Reference, fresh: set[int]) -> None:
    ref = _reloaded(new, queue, old.message, fresh)
    ref.delivery_count = ref.stored_count = old.stored_count
    ref.scheduled = old.scheduled
    queue.add_tail(ref)
    if not ref.linked:
        queue.counts.add_phantom(ref)


def _reloaded(new: Broker, queue: Queue, message: Message, fresh: set[int]) -> Reference:
    """Return a new reference to a stored message for a queue of the new broker.

    ``fresh``: ids of the messages reloaded so far. The first reference to a message resets its reference count and
    moves it to the store of the new broker, with its size in memory after a reload, which is not the one when it was
    sent.
    """
    if message.id not in fresh:
        fresh.add(message.id)
        message.references = 0
        if not message.reloads_alike:
            message.mem = reloaded_bytes(new.profile, message.enc, message.mem)
            message.reloads_alike = True
        message.owner = new.store(message.address)
    ref = Reference(message, queue, None)
    queue.reference_up(ref)
    return ref


def _load_branch(new: Broker, old: Transaction, fresh: set[int]) -> Transaction:
    tx = Transaction(new)
    tx.prepared = tx.reloaded = True
    tx.id = old.id
    tx.page_tx = new.page_transactions.get(old.page_tx.id) if old.page_tx is not None else None
    for ref in old.added:
        queue = new.queues.get(ref.queue.name)
        if queue is not None and ref.message.durable:
            tx.added.append(_reloaded(new, queue, ref.message, fresh))
    for ref, reason in old.acked:
        queue = new.queues.get(ref.queue.name)
        if queue is not None and reason is AckReason.NORMAL:
            _reload_ack(tx, queue, ref)
    return tx


def _reload_ack(tx: Transaction, queue: Queue, old: Reference) -> None:
    if old.record is not None:
        ref = Reference(old.message, queue, old.record)
        queue.sequence += 1
        ref.sequence = queue.sequence
    else:
        waiting = _take_out(queue, old.message.id)
        if waiting is None:
            return
        ref = waiting
    queue.counts.deliver(ref)
    queue.counts.acked += 1
    tx.acknowledge(ref, AckReason.NORMAL)


def _take_out(queue: Queue, message_id: int) -> Reference | None:
    waiting = queue.references.iterator()
    while (ref := waiting.peek()) is not None:
        if ref.message.id == message_id:
            waiting.remove()
            queue.removed(ref)
            break
    waiting.close()
    return ref


def _rebuild_counters(store: AddressStore, prepared: dict[int, Transaction]) -> None:
    """Count the pages' records that are unacknowledged and committed (spec 4); then allow clean-up again.

    Records of a prepared branch are counted at its commit, with the size of the record.
    """
    transactions = store.page_transactions
    counts: dict[int, tuple[int, int]] = {}
    for number in sorted(store.pages):
        for record in store.pages[number].records:
            if record.tx in prepared:
                counted = (store.cursors[id] for id in record.queues if id in store.cursors)
                prepared[record.tx].counts += [(cursor, 1, record.size) for cursor in counted]
                continue
            if record.tx >= 0 and record.tx not in transactions:
                continue
            for id in record.queues:
                cursor = store.cursors.get(id)
                if cursor is None:
                    continue
                info = cursor.pages.get(number)
                if info is None or not (cursor.is_done(info) or info.is_ack(record.nr)):
                    count, size = counts.get(id, (0, 0))
                    counts[id] = (count + 1, size + record.message.enc)
    for id, (count, size) in counts.items():
        cursor = store.cursors[id]
        cursor.empty = False
        cursor.count(count, size)
    schedule_cleanup(store)
