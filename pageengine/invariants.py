"""What must hold whenever the broker rests: invariants of spec/paging-engine.md 5, by number.

Those about a change (6, 7, 10, 28) compare with what ``Watch`` saw after the operation before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pageengine.errors import PageEngineError
from pageengine.message import Message, Reference
from pageengine.operations import Crash, Operation, Restart, Settings
from pageengine.outcome import DROPPED, FAILED, PAGED, QUEUED, OperationResult
from pageengine.profiles import FullWhen
from pageengine.settings import AddressFullPolicy

if TYPE_CHECKING:
    from pageengine.engine import Engine
    from pageengine.queue import Queue
    from pageengine.store import AddressStore

Pages = tuple[int, int]


class InvariantBroken(PageEngineError):
    """The engine contradicts itself: an error of the program, not of a trace."""


@dataclass(slots=True)
class Seen:
    """Of one store, after the last operation."""

    paging: bool
    size: int
    highest_page: int
    records: int
    written: int


@dataclass(slots=True)
class Watch:
    """What the last look found; ``sent`` counts sends by what became of them."""

    stores: dict[str, Seen] = field(default_factory=dict)
    sent: dict[str, int] = field(default_factory=dict)

    def look(self, engine: Engine, op: Operation, result: OperationResult) -> None:
        """Checks the state, then what the operation changed."""
        if op.op == "send":
            self.sent[result.r] = self.sent.get(result.r, 0) + 1
        live = list(_live(engine))
        _accounts(engine, live)
        for store in engine.broker.stores.values():
            _pages(store)
            _counters(store)
            _flags(store)
            self._changes(store, op, result)
        for queue in engine.broker.queues.values():
            _queue(queue)
        self.stores = {store.address: _seen(store) for store in engine.broker.stores.values()}

    def _changes(self, store: AddressStore, op: Operation, result: OperationResult) -> None:
        before = self.stores.get(store.address)
        if before is None or isinstance(op, Restart | Crash | Settings):
            return
        now = _seen(store)
        if store.paging and not before.paging:
            _require(6, store.policy is AddressFullPolicy.PAGE, f"{store.address} pages with policy {store.policy}")
        if store.policy is not AddressFullPolicy.PAGE:
            _require(9, now.written <= before.written, f"{store.address} writes pages with policy {store.policy}")
        _require(11, now.highest_page >= before.highest_page, f"{store.address}: page numbers go back")
        if result.r in (DROPPED, FAILED) and op.op == "send" and not (result.released or store.broker.expiring):
            same = (now.size, now.written) == (before.size, before.written)
            _require(28, same or result.verdict.silent, f"{store.address} changes by a refused message")
        if result.r == QUEUED and result.verdict.page is not None:
            _require(8, False, "a message in memory has a page")
        if result.r == PAGED and result.verdict.page is not None and getattr(op, "address", "") == store.address:
            _require(8, result.verdict.page <= now.highest_page, "a message on a page that is not there")


def _require(number: int, holds: bool, detail: str) -> None:
    if not holds:
        raise InvariantBroken(f"invariant {number} of the paging engine is broken: {detail}; please report the trace")


def _seen(store: AddressStore) -> Seen:
    records = sum(len(page.records) for page in store.pages.values())
    return Seen(store.paging, store.metric.size, store.current_id, records, store.records_written)


def _live(engine: Engine) -> Iterator[Reference]:
    """References in memory that were never paged: waiting, scheduled, at consumers, in open transactions."""
    for queue in engine.broker.queues.values():
        yield from (ref for ref in queue.references if ref.record is None)
        yield from (ref for ref in queue.scheduled if ref.record is None)
        for consumer in queue.consumers:
            yield from (ref for ref in consumer.delivering.values() if ref.record is None)
    transactions = [session.tx for session in engine.sessions.values() if session.tx is not None]
    transactions += [tx for tx in engine.branches.values() if tx not in transactions]
    for tx in transactions:
        yield from tx.added
        yield from (ref for ref, _ in tx.acked if ref.record is None and not ref.gone)


def _accounts(engine: Engine, live: list[Reference]) -> None:
    """2, 3, 4, 5: sizes are those of what is in memory, and of nothing else."""
    broker = engine.broker
    profile = engine.profile
    if not profile.references_booked_on_queue or profile.books_live_pages:
        return
    sizes = dict.fromkeys(broker.stores, 0)
    counts = dict.fromkeys(broker.stores, 0)
    seen: dict[int, Message] = {}
    for ref in live:
        if ref.queue.store is not None and ref.queue.store.address in sizes:
            sizes[ref.queue.store.address] += profile.reference_bytes
        owner = ref.message.owner
        if ref.message.id not in seen and owner is not None and owner.address in sizes:
            seen[ref.message.id] = ref.message
            sizes[owner.address] += ref.message.mem
            counts[owner.address] += 1
    for address, store in broker.stores.items():
        _require(2, store.metric.size == sizes[address], f"{address}: {store.metric.size} is not {sizes[address]}")
        _require(4, store.metric.count == counts[address], f"{address}: {store.metric.count} elements")
    if not broker.forgot_stores:
        total = sum(store.metric.size for store in broker.stores.values())
        _require(3, broker.metric.size == total, f"global size {broker.metric.size} is not {total}")


def _pages(store: AddressStore) -> None:
    _require(14, store.number_of_pages == len(store.pages) >= 0, f"{store.address}: {store.number_of_pages} pages")
    limit = store.estimated_max_pages
    if limit is not None and store.page_full_policy is not None and not store.settings_changed:
        _require(15, store.number_of_pages <= limit + 1, f"{store.address}: {store.number_of_pages} pages of {limit}")
    previous = None
    for number in store.files:
        page = store.pages[number]
        numbers = [record.nr for record in page.records]
        _require(11, numbers == list(range(len(numbers))), f"{store.address} page {number}: message numbers")
        if store.settings_changed:
            continue
        fits = page.bytes <= store.page_size or len(page.records) == 1
        _require(12, fits, f"{store.address} page {number}: {page.bytes} bytes")
        if previous is not None and previous.number == number - 1 and page.records and not page.forced:
            first = page.records[0].size + 6
            rolled = previous.bytes + first > store.page_size
            _require(13, rolled, f"{store.address} page {number} was begun too early")
        previous = page


def _counters(store: AddressStore) -> None:
    """19: a queue's page counter is the number of its committed, unacknowledged positions."""
    if not store.paging:
        return
    known = store.broker.page_transactions
    for id, cursor in store.cursors.items():
        count = 0
        for number in store.files:
            info = cursor.consumed.get(number)
            for record in store.pages[number].records:
                if id not in record.queues or (info is not None and info.is_ack(record.nr)):
                    continue
                count += record.tx < 0 or (record.tx in known and known[record.tx].committed)
        _require(19, count == cursor.counter.value, f"{cursor.queue.name}: {cursor.counter.value} is not {count}")


def _flags(store: AddressStore) -> None:
    metric = store.metric
    reached = (metric.max_bytes >= 0 and metric.size >= metric.max_bytes) or (
        metric.max_messages >= 0 and metric.count >= metric.max_messages
    )
    if store.broker.profile.full_when is FullWhen.AT_CLEARED_BELOW and metric.touched:
        _require(23, store.full == reached, f"{store.address}: full is {store.full} at {metric.size}")
    held = store.full or store.broker.global_full or store.blocked_by_operator
    _require(24, not store.waiting or held, f"{store.address}: producers wait for nothing")
    exempt = store.broker.profile.management_exempt
    management = store.address.startswith(store.broker.settings.management_address)
    _require(25, not (exempt and management), f"{store.address} has a store")


def _queue(queue: Queue) -> None:
    """1, 20: what a queue counts is what it holds."""
    waiting = sum(1 for ref in queue.references if ref.record is None)
    _require(1, waiting == queue.waiting_unpaged, f"{queue.name}: {queue.waiting_unpaged} waiting, {waiting} there")
    count = queue.references.size + len(queue.phantoms)
    _require(1, count == queue.mem_count, f"{queue.name}: {queue.mem_count} in memory")
    size = sum(ref.mem for ref in queue.references) + sum(queue.phantoms)
    _require(2, size == queue.mem_bytes, f"{queue.name}: {queue.mem_bytes} bytes in memory")
    _require(20, queue.message_count >= 0, f"{queue.name}: {queue.message_count} messages")
