"""Invariants of docs/spec/paging-engine.md 5, by number: what must hold whenever the broker rests.

Those about a change (6 to 11, 26 to 28) compare with what ``InvariantCheck`` saw after the operation before. 16 and 22
are about the way to a state, not the state: tests check them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pageengine.clients.run import Run
from pageengine.model.message import Message
from pageengine.model.outcome import OperationResult
from pageengine.model.reference import Reference
from pageengine.paging.store import AddressStore
from pageengine.queues.queue import Queue
from pageengine.running.watched_changes import (
    StoreRecord,
    kept_over_a_restart,
    look_at_positions,
    look_at_refusal,
    look_at_restart,
    look_at_store,
    require,
    store_record,
)
from pageengine.settings.profiles import FullWhen
from pageengine.trace.operations import Operation


@dataclass
class InvariantCheck:
    """State seen at the last check; ``sent`` counts sends by outcome."""

    stores: dict[str, StoreRecord] = field(default_factory=dict)
    sent: dict[str, int] = field(default_factory=dict)
    kept: dict[str, int] = field(default_factory=dict)

    def look(self, run: Run, op: Operation, result: OperationResult) -> None:
        """Check the state, then what the operation changed."""
        if op.op == "send":
            self.sent[result.r] = self.sent.get(result.r, 0) + 1
        # a queue that keeps what it hands out has it twice
        live = list({id(ref): ref for ref in _live(run)}.values())
        _accounts(run, live)
        look_at_refusal(run, self.stores, op, result)
        look_at_restart(run, self.kept, op)
        for store in run.broker.stores.values():
            _pages(store)
            _counters(store)
            _flags(store)
            before = self.stores.get(store.address)
            if before is not None:
                look_at_store(run, store, before, op, result)
        for queue in run.broker.queues.values():
            _queue(queue)
            look_at_positions(queue)
        self.stores = {store.address: store_record(store) for store in run.broker.stores.values()}
        self.kept = kept_over_a_restart(run)


def _live(run: Run) -> Iterator[Reference]:
    """Yield references in memory that were never paged: waiting, scheduled, at consumers, in open transactions."""
    for queue in run.broker.queues.values():
        yield from (ref for ref in queue.references if ref.record is None)
        yield from (ref for ref in (*queue.scheduled, *queue.stuck) if ref.record is None)
        for consumer in queue.consumers:
            yield from (ref for ref in consumer.delivering.values() if ref.record is None)
    for tx in run.transactions():
        yield from tx.added
        yield from (ref for ref, _ in tx.acked if ref.record is None and not ref.gone)


def _accounts(run: Run, live: list[Reference]) -> None:
    """Check that sizes are those of what is in memory, and of nothing else (invariants 2 to 5)."""
    broker = run.broker
    profile = run.profile
    if not profile.references_booked_on_queue or profile.books_live_pages or broker.counts_too_much:
        return
    sizes = {address: store.own_bytes for address, store in broker.stores.items()}
    counts = {address: int(store.own_bytes > 0) for address, store in broker.stores.items()}
    counted: dict[int, Message] = {}
    for ref in live:
        if ref.queue.address in sizes:
            sizes[ref.queue.address] += profile.reference_bytes
        owner = ref.message.owner
        if ref.message.id not in counted and owner is not None and owner.address in sizes:
            counted[ref.message.id] = ref.message
            sizes[owner.address] += ref.message.mem
            counts[owner.address] += 1
    for address, store in broker.stores.items():
        require(2, store.metric.size == sizes[address], f"{address}: {store.metric.size} is not {sizes[address]}")
        require(4, store.metric.count == counts[address], f"{address}: {store.metric.count} elements")
    if not broker.forgot_stores:
        total = sum(store.metric.size for store in broker.stores.values())
        require(3, broker.limits.metric.size == total, f"global size {broker.limits.metric.size} is not {total}")


def _pages(store: AddressStore) -> None:
    require(14, store.number_of_pages == len(store.pages) >= 0, f"{store.address}: {store.number_of_pages} pages")
    limit = store.page_limits.max_pages
    if limit is not None and store.page_limits.policy is not None and not store.settings_changed:
        require(15, store.number_of_pages <= limit + 1, f"{store.address}: {store.number_of_pages} pages of {limit}")
    previous = None
    for number in store.files:
        page = store.pages[number]
        numbers = [record.nr for record in page.records]
        require(11, numbers == list(range(len(numbers))), f"{store.address} page {number}: message numbers")
        if store.settings_changed:
            continue
        fits = page.bytes <= store.page_size or page.count == 1
        require(12, fits, f"{store.address} page {number}: {page.bytes} bytes")
        if previous is not None and previous.number == number - 1 and page.count and not page.forced:
            first = page.records[0].size + 6
            rolled = previous.bytes + first > store.page_size
            require(13, rolled, f"{store.address} page {number} was begun too early")
        previous = page


def _counters(store: AddressStore) -> None:
    """Check that page counters equal the committed, unacknowledged positions in the pages (invariants 19, 21)."""
    if not store.paging:
        return
    transactions = store.page_transactions
    for id, cursor in store.cursors.items():
        count = 0
        for number in store.files:
            info = cursor.pages.get(number)
            for record in store.pages[number].records:
                if id not in record.queues or (info is not None and info.is_ack(record.nr)):
                    continue
                count += record.tx < 0 or (record.tx in transactions and transactions[record.tx].committed)
        require(19, count == cursor.counter.value, f"{cursor.queue.name}: {cursor.counter.value} is not {count}")


def _flags(store: AddressStore) -> None:
    metric, gates = store.metric, store.gates
    reached = (metric.max_bytes >= 0 and metric.size >= metric.max_bytes) or (
        metric.max_messages >= 0 and metric.count >= metric.max_messages
    )
    if store.profile.full_when is FullWhen.AT_CLEARED_BELOW and metric.touched:
        require(23, gates.full == reached, f"{store.address}: full is {gates.full} at {metric.size}")
    profile = store.profile
    held = gates.full or store.limits.global_full or gates.blocked_by_operator or not profile.releases_failed_with_disk
    require(24, not gates.waiting or held, f"{store.address}: producers wait for nothing")
    exempt = profile.management_exempt
    management = store.address.startswith(store.limits.settings.management_address)
    require(25, not (exempt and management), f"{store.address} has a store")


def _queue(queue: Queue) -> None:
    """Check that a queue's counts equal its contents (invariants 1, 20)."""
    counts = queue.counts
    waiting = sum(1 for ref in (*queue.references, *queue.stuck) if ref.record is None)
    require(1, waiting == counts.waiting_unpaged, f"{queue.name}: {counts.waiting_unpaged} waiting, {waiting} there")
    count = queue.references.size + len(queue.stuck) + counts.phantoms - counts.taken_off
    require(1, count == counts.mem_count, f"{queue.name}: {counts.mem_count} in memory")
    size = sum(ref.mem for ref in (*queue.references, *queue.stuck)) + counts.phantom_bytes
    require(2, size == counts.mem_bytes, f"{queue.name}: {counts.mem_bytes} bytes in memory")
    require(20, queue.message_count >= 0, f"{queue.name}: {queue.message_count} messages")
