"""Allowed changes of stores and queues by an operation: invariants (docs/spec/paging-engine.md 5) on two states.

``InvariantCheck`` keeps what was seen after the operation before.
"""

from __future__ import annotations

from dataclasses import dataclass

from pageengine.broker.copies import is_large
from pageengine.clients.run import Run
from pageengine.errors import PageEngineError
from pageengine.model.outcome import DROPPED, FAILED, PAGED, QUEUED, OperationResult
from pageengine.model.sizes import body_bytes
from pageengine.paging.store import AddressStore
from pageengine.queues.queue import Queue
from pageengine.running.crash import alive_references
from pageengine.settings.settings import AddressFullPolicy
from pageengine.trace.operations import Crash, CrashKind, Operation, Restart, Send, SettingsChange

ADDRESS_FULL = "ADDRESS_FULL"


class InvariantBroken(PageEngineError):
    """Error for an engine that contradicts itself: an error of the program, not of a trace."""


def require(number: int, holds: bool, detail: str) -> None:
    """Raise ``InvariantBroken`` with the invariant's number unless the condition holds."""
    if not holds:
        raise InvariantBroken(f"invariant {number} of the paging engine is broken: {detail}; please report the trace")


@dataclass
class StoreRecord:
    """State of one store after the last operation.

    ``held``: gate B would have dropped or failed, or paged and been full.
    """

    paging: bool
    page_full: bool
    held: bool
    size: int
    highest_page: int
    records: int
    written: int


def store_record(store: AddressStore) -> StoreRecord:
    """Return the state of a store that is compared after the next operation."""
    records = sum(page.count for page in store.pages.values())
    page_full = store.page_limits.reached
    held = store.gates.full or page_full or store.limits.global_full
    return StoreRecord(
        store.paging, page_full, held, store.metric.size, store.current_id, records, store.records_written
    )


def look_at_store(run: Run, store: AddressStore, before: StoreRecord, op: Operation, result: OperationResult) -> None:
    """Check invariants 6 to 9, 11, 27 and 28; restarts and new settings may change a store in any way."""
    if isinstance(op, Restart | Crash | SettingsChange):
        return
    now, policy = store_record(store), store.gates.policy
    if store.paging and not before.paging:
        require(6, policy is AddressFullPolicy.PAGE, f"{store.address} pages with policy {policy}")
    if before.paging and not store.paging:
        _left_page_mode(store)
    if policy is not AddressFullPolicy.PAGE:
        require(9, now.written <= before.written, f"{store.address} writes pages with policy {policy}")
    require(11, now.highest_page >= before.highest_page, f"{store.address}: page numbers go back")
    if now.page_full != before.page_full:
        _page_full_changed(store, before, op, now)
    if op.op == "send" and result.r in (DROPPED, FAILED) and not (result.released or run.broker.expiring):
        same = (now.size, now.written) == (before.size, before.written)
        arrived = result.verdict.silent or _refused_behind_its_last_piece(run, op, result)
        require(28, same or arrived, f"{store.address} changes by a refused message")
    if result.r == QUEUED and result.verdict.page is not None:
        require(8, False, "a message in memory has a page")
    if result.r == PAGED and result.verdict.page is not None and getattr(op, "address", "") == store.address:
        require(8, result.verdict.page <= now.highest_page, "a message on a page that is not there")


def _left_page_mode(store: AddressStore) -> None:
    """Check that nothing is left on a page that any queue still has to confirm (invariant 7)."""
    left = sum(page.count for page in store.pages.values())
    counted = sum(cursor.counter.value for cursor in store.cursors.values())
    require(7, left == 0 and counted == 0, f"{store.address} left page mode with {left} records, {counted} to confirm")


def _page_full_changed(store: AddressStore, before: StoreRecord, op: Operation, now: StoreRecord) -> None:
    """Check invariant 27, which says when a store becomes page full and when it stays so.

    It becomes page full only by a new page or a counted message. While it is paging, it is page full unless it is below
    its limits.
    """
    if now.page_full:
        counts = now.written > before.written or op.op in ("commit", "receive", "ack", "expire", "rollback")
        require(27, now.highest_page > before.highest_page or counts, f"{store.address} is page full without a page")
        return
    limits = store.page_limits
    most = max((cursor.counter.value for cursor in store.cursors.values()), default=0)
    below = limits.has_room(store.number_of_pages) and (limits.messages is None or most < limits.messages)
    require(27, below or not store.paging, f"{store.address} is no longer page full with {most} messages")


def _refused_behind_its_last_piece(run: Run, op: Operation, result: OperationResult) -> bool:
    """Return whether a large message was refused after its last piece arrived.

    It arrived, may have filled the address itself, and its client asked for credits once more: gate A. Gate B gives no
    reason for large messages.
    """
    verdict = result.verdict
    if not (isinstance(op, Send) and verdict.r == FAILED and verdict.error == ADDRESS_FULL and verdict.reached_broker):
        return False
    return is_large(run.header, body_bytes(op))


def look_at_refusal(run: Run, before: dict[str, StoreRecord], op: Operation, result: OperationResult) -> None:
    """Check that gate B drops or fails only if something was full at that moment (invariant 10)."""
    if op.op != "send" or result.released or not before:
        return
    verdict = result.verdict
    refused = verdict.r == DROPPED or (verdict.r == FAILED and verdict.reached_broker and verdict.error == ADDRESS_FULL)
    held = run.broker.limits.disk_full or any(store.held for store in before.values())
    fine = not refused or held or _refused_behind_its_last_piece(run, op, result)
    require(10, fine, f"{getattr(op, 'address', '')} refuses a message, and nothing is full")


def kept_over_a_restart(run: Run) -> dict[str, int]:
    """Return the messages of each queue that a restart keeps (invariant 26).

    Queues whose messages may be lost by it are left out.
    """
    if run.branches or any(s.tx is not None and s.tx.acked for s in run.sessions.values()):
        return {}
    return {
        queue.name: len(alive_references(run, queue)) + (queue.reader.message_count if queue.reader else 0)
        for queue in run.broker.queues.values()
        if queue.durable and not (queue.purge_on_no_consumers or queue.last_values or queue.ring_size != -1)
    }


def look_at_restart(run: Run, kept: dict[str, int], op: Operation) -> None:
    """Check that a restart keeps the messages it has to keep (invariant 26)."""
    if not isinstance(op, Restart | Crash) or (isinstance(op, Crash) and op.kind is not CrashKind.REST):
        return
    for name, count in kept.items():
        queue = run.broker.queues[name]
        require(26, queue.message_count == count, f"{name}: {queue.message_count} of {count} after a restart")


def look_at_positions(queue: Queue) -> None:
    """Check that messages read from pages came in their order and are unacknowledged there (invariants 17, 18)."""
    cursor = queue.reader
    if cursor is None:
        return
    read = [ref for ref in queue.references if ref.record is not None and ref.record.tx < 0]
    last = (-1, -1)
    for ref in sorted(read, key=lambda ref: ref.sequence):
        record = ref.record
        assert record is not None
        at = (record.page, record.nr)
        require(17, at > last or ref.live, f"{queue.name}: {at} was read after {last}")
        last = at
        info = cursor.pages.get(record.page)
        acked = info is not None and record.page in cursor.store.pages and info.is_ack(record.nr)
        require(18, not acked, f"{queue.name}: {at} waits, and is acknowledged")
