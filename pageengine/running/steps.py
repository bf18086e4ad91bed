"""Effect of each operation of a trace, except sends, consumers and branches (docs/spec/trace-format.md 1.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pageengine.broker.managing import delete_queue, purge, scan_expired
from pageengine.clients import branches, consuming
from pageengine.clients.run import Run
from pageengine.clients.session import SessionConsumer
from pageengine.model.failure import OperationFailed
from pageengine.model.outcome import OperationResult
from pageengine.paging.store import AddressStore
from pageengine.queues.queue import Queue
from pageengine.running.restart import restart
from pageengine.settings.queue_traits import created
from pageengine.trace import operations as ops
from pageengine.trace.operations import NS_PER_MS

Step = Callable[[Run, Any, OperationResult], None]


def create_address(run: Run, op: ops.CreateAddress, result: OperationResult) -> None:
    """Create an address, unless it exists."""
    run.broker.addresses.setdefault(op.address, set(op.routings))


def delete_address(run: Run, op: ops.DeleteAddress, result: OperationResult) -> None:
    """Delete an address, its queues and its store."""
    broker = run.broker
    if op.address not in broker.addresses:
        raise OperationFailed("ADDRESS_DOES_NOT_EXIST")
    for queue in broker.bound.at(op.address):
        _delete(run, queue)
    broker.schedule.run_all()
    del broker.addresses[op.address]
    broker.forgot_stores = True
    store = broker.stores.pop(op.address, None)
    if store is not None:
        broker.limits.blocked_stores.pop(op.address, None)
        broker.schedule.touched_stores.add(store)


def create_queue(run: Run, op: ops.CreateQueue, result: OperationResult) -> None:
    """Create a queue, its address unless it exists, and the store of that address."""
    broker = run.broker
    if op.queue in broker.queues:
        raise OperationFailed("QUEUE_EXISTS")
    types = broker.addresses.get(op.address)
    if types is not None and op.routing not in types:
        if not broker.settings.address_settings.effective(op.address).auto_create_addresses:
            raise OperationFailed("UNEXPECTED_ROUTING_TYPE_FOR_ADDRESS")
        types.add(op.routing)
    consuming.selector_of(op.filter)
    broker.store(op.address)
    broker.addresses.setdefault(op.address, {op.routing})
    broker.make_queue(op, created(op, broker.settings.address_settings.effective(op.address)))


def queue_named(run: Run, name: str) -> Queue:
    """Return the queue of this name; raise ``OperationFailed``."""
    queue = run.broker.queues.get(name)
    if queue is None:
        raise OperationFailed("IllegalStateException", f"no such queue: {name}")
    return queue


def delete_queue_step(run: Run, op: ops.DeleteQueue, result: OperationResult) -> None:
    """Delete a queue and close its consumers."""
    queue = run.broker.queues.get(op.queue)
    if queue is None:
        raise OperationFailed("QUEUE_DOES_NOT_EXIST")
    _delete(run, queue)


def _delete(run: Run, queue: Queue) -> None:
    consumers = [consumer for consumer in queue.consumers if isinstance(consumer, SessionConsumer)]
    delete_queue(run.broker, queue)
    for consumer in consumers:
        run.close_consumer(consumer)


def open_session(run: Run, op: ops.OpenSession, result: OperationResult) -> None:
    """Open a session of a kind and a protocol."""
    run.kinds[op.session] = op
    run.session(op.session)


def close_session(run: Run, op: ops.CloseSession, result: OperationResult) -> None:
    """Close a session and its consumers. A session that does not exist is ignored."""
    session = run.sessions.pop(op.session, None)
    if session is None:
        return
    run.wire_sessions.pop(op.session, None)
    for name in [name for name, consumer in run.consumers.items() if consumer.session is session]:
        consumer = run.consumers.pop(name)
        if not consumer.closed:
            run.close_consumer(consumer)
    session.close()


def purge_step(run: Run, op: ops.Purge, result: OperationResult) -> None:
    """Remove messages from a queue; the result is their number."""
    queue = queue_named(run, op.queue)
    result.count = purge(run.broker, queue, consuming.selector_of(op.selector))


def expire(run: Run, op: ops.Expire, result: OperationResult) -> None:
    """Scan one queue or all for expired messages."""
    broker = run.broker
    scan_expired(broker, [broker.queues[name] for name in sorted(broker.queues) if op.queue in (None, name)])


def pause(run: Run, op: ops.PauseQueue, result: OperationResult) -> None:
    """Stop delivery from a queue."""
    queue = queue_named(run, op.queue)
    queue.paused = True
    run.broker.schedule.touch(queue)


def resume(run: Run, op: ops.ResumeQueue, result: OperationResult) -> None:
    """Resume delivery from a queue."""
    queue = queue_named(run, op.queue)
    queue.paused = False
    run.broker.schedule.touch(queue)


def block(run: Run, op: ops.BlockAddress, result: OperationResult) -> None:
    """Block the producers of an address."""
    store = _blockable(run, op.address)
    if store is not None:
        store.gates.blocked_by_operator = True
        run.broker.schedule.touched_stores.add(store)
    result.accepted = store is not None


def unblock(run: Run, op: ops.UnblockAddress, result: OperationResult) -> None:
    """Unblock the producers of an address."""
    store = _blockable(run, op.address)
    if store is not None:
        store.gates.blocked_by_operator = False
        run.broker.schedule.touched_stores.add(store)
        store.gates.check_released()


def _blockable(run: Run, address: str) -> AddressStore | None:
    if address not in run.broker.addresses:
        raise OperationFailed("IllegalStateException", f"no such address: {address}")
    return run.broker.store(address)


def disk_full(run: Run, op: ops.DiskFull, result: OperationResult) -> None:
    """Apply a report that the disk is full or has room again, if the disk monitor is on."""
    settings = run.settings
    limited = settings.max_disk_usage != -1 or settings.min_disk_free != -1
    if run.profile.disk_monitor and settings.disk_scan_period >= 0 and limited:
        run.broker.limits.set_disk_full(op.full)


def disk(run: Run, op: ops.DiskSpaceChange, result: OperationResult) -> None:
    """Apply a file system's report of its space to the disk monitor."""
    run.disks.report(op)
    run.broker.limits.set_disk_full(run.disks.full)


def settings(run: Run, op: ops.SettingsChange, result: OperationResult) -> None:
    """Change address-settings of a match."""
    run.change_settings(op.match, dict(op.values))


def wait(run: Run, op: ops.Wait, result: OperationResult) -> None:
    """Let time pass: scheduled messages become due, messages expire."""
    broker = run.broker
    broker.now += op.ms * NS_PER_MS
    broker.release_due()
    for queue in broker.queues.values():
        if queue.consumers:
            broker.schedule.touch(queue)


def checkpoint(run: Run, op: ops.Checkpoint, result: OperationResult) -> None:
    """Show the complete state in this line of the outcome."""
    run.show_everything = run.parts_changed = True


STEPS: dict[type, Step] = {
    ops.CreateAddress: create_address,
    ops.DeleteAddress: delete_address,
    ops.CreateQueue: create_queue,
    ops.DeleteQueue: delete_queue_step,
    ops.OpenSession: open_session,
    ops.CloseSession: close_session,
    ops.Begin: branches.begin,
    ops.Prepare: branches.prepare,
    ops.Commit: branches.commit,
    ops.Rollback: branches.rollback,
    ops.OpenConsumer: consuming.open_consumer,
    ops.Receive: consuming.receive,
    ops.Ack: consuming.acknowledge,
    ops.CloseConsumer: consuming.close,
    ops.Browse: consuming.browse,
    ops.Purge: purge_step,
    ops.Expire: expire,
    ops.PauseQueue: pause,
    ops.ResumeQueue: resume,
    ops.BlockAddress: block,
    ops.UnblockAddress: unblock,
    ops.DiskFull: disk_full,
    ops.DiskSpaceChange: disk,
    ops.SettingsChange: settings,
    ops.Wait: wait,
    ops.Checkpoint: checkpoint,
    ops.Restart: restart,
    ops.Crash: restart,
}
