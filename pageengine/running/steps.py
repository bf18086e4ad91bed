"""What each operation of a trace does, but for sends, consumers and branches (spec/trace-format.md 1.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pageengine.broker.managing import delete_queue, purge, scan_expired
from pageengine.clients import branches, consuming
from pageengine.model.failure import Failed
from pageengine.model.outcome import OperationResult
from pageengine.queues.filters import compiled
from pageengine.queues.queue import Queue
from pageengine.running.restart import restart
from pageengine.settings.queue_traits import created
from pageengine.trace.operations import (
    Ack,
    Begin,
    BlockAddress,
    Browse,
    Checkpoint,
    CloseConsumer,
    CloseSession,
    Commit,
    Crash,
    CreateAddress,
    CreateQueue,
    DeleteAddress,
    DeleteQueue,
    Disk,
    DiskFull,
    Expire,
    OpenConsumer,
    OpenSession,
    PauseQueue,
    Prepare,
    Purge,
    Receive,
    Restart,
    ResumeQueue,
    Rollback,
    RoutingType,
    Settings,
    UnblockAddress,
    Wait,
)  # fmt: skip
from pagefmt.selector import SelectorError

if TYPE_CHECKING:
    from pageengine.running.engine import Engine

NS_PER_MS = 1_000_000
Step = Callable[["Engine", Any, OperationResult], None]


def create_address(engine: Engine, op: CreateAddress, result: OperationResult) -> None:
    engine.broker.addresses.setdefault(op.address, set(op.routing))


def delete_address(engine: Engine, op: DeleteAddress, result: OperationResult) -> None:
    broker = engine.broker
    if op.address not in broker.addresses:
        raise Failed("ADDRESS_DOES_NOT_EXIST")
    for queue in [queue for queue in broker.queues.values() if queue.address == op.address]:
        _delete(engine, queue)
    broker.run_tasks()
    del broker.addresses[op.address]
    broker.forgot_stores = True
    store = broker.stores.pop(op.address, None)
    if store is not None:
        broker.blocked_stores.pop(op.address, None)
    engine.parts_changed = True


def create_queue(engine: Engine, op: CreateQueue, result: OperationResult) -> None:
    make_queue(engine, op)


def make_queue(engine: Engine, op: CreateQueue, id: int | None = None) -> Queue:
    """Makes the queue, its address where it is missing, and the store of that address."""
    broker = engine.broker
    if op.queue in broker.queues:
        raise Failed("QUEUE_EXISTS")
    types = broker.addresses.get(op.address)
    if types is not None and op.routing not in types:
        if not broker.settings.address_settings.effective(op.address).auto_create_addresses:
            raise Failed("UNEXPECTED_ROUTING_TYPE_FOR_ADDRESS")
        types.add(op.routing)
    _filter(op.filter)
    store = broker.store(op.address)
    broker.addresses.setdefault(op.address, {op.routing})
    traits = created(op, broker.settings.address_settings.effective(op.address))
    queue = Queue(broker, id or broker.next_id(), op, traits, store)
    broker.queues[op.queue] = queue
    broker.routes.clear()
    engine.parts_changed = True
    return queue


def _filter(text: str | None) -> Any:
    try:
        return compiled(text)
    except SelectorError as err:
        raise Failed("INVALID_FILTER_EXPRESSION") from err


def queue_named(engine: Engine, name: str) -> Queue:
    queue = engine.broker.queues.get(name)
    if queue is None:
        raise Failed("IllegalStateException", f"no such queue: {name}")
    return queue


def delete_queue_step(engine: Engine, op: DeleteQueue, result: OperationResult) -> None:
    queue = engine.broker.queues.get(op.queue)
    if queue is None:
        raise Failed("QUEUE_DOES_NOT_EXIST")
    _delete(engine, queue)


def _delete(engine: Engine, queue: Queue) -> None:
    consumers = list(queue.consumers)
    delete_queue(engine.broker, queue)
    for consumer in consumers:
        engine.close_consumer(consumer)
    engine.parts_changed = True


def open_session(engine: Engine, op: OpenSession, result: OperationResult) -> None:
    engine.kinds[op.session] = (op.kind, op.protocol)
    engine.session(op.session)


def close_session(engine: Engine, op: CloseSession, result: OperationResult) -> None:
    session = engine.sessions.pop(op.session, None)
    if session is None:
        return
    for name in [name for name, consumer in engine.consumers.items() if consumer.session is session]:
        consumer = engine.consumers.pop(name)
        if not consumer.closed:
            engine.close_consumer(consumer)
    session.close()


def purge_step(engine: Engine, op: Purge, result: OperationResult) -> None:
    queue = queue_named(engine, op.queue)
    result.count = purge(engine.broker, queue, _filter(op.selector))


def expire(engine: Engine, op: Expire, result: OperationResult) -> None:
    broker = engine.broker
    scan_expired(broker, [broker.queues[name] for name in sorted(broker.queues) if op.queue in (None, name)])


def pause(engine: Engine, op: PauseQueue, result: OperationResult) -> None:
    queue = queue_named(engine, op.queue)
    queue.paused = True
    engine.broker.touch(queue)


def resume(engine: Engine, op: ResumeQueue, result: OperationResult) -> None:
    queue = queue_named(engine, op.queue)
    queue.paused = False
    engine.broker.touch(queue)


def block(engine: Engine, op: BlockAddress, result: OperationResult) -> None:
    store = _blockable(engine, op.address)
    if store is not None:
        store.blocked_by_operator = True
        engine.broker.touched_stores.add(store)
    result.accepted = store is not None


def unblock(engine: Engine, op: UnblockAddress, result: OperationResult) -> None:
    store = _blockable(engine, op.address)
    if store is not None:
        store.blocked_by_operator = False
        engine.broker.touched_stores.add(store)
        store.check_released()


def _blockable(engine: Engine, address: str) -> Any:
    if address not in engine.broker.addresses:
        raise Failed("IllegalStateException", f"no such address: {address}")
    return engine.broker.store(address)


def disk_full(engine: Engine, op: DiskFull, result: OperationResult) -> None:
    settings = engine.settings
    if engine.profile.disk_monitor and (settings.max_disk_usage != -1 or settings.min_disk_free != -1):
        engine.broker.set_disk_full(op.full)


def disk(engine: Engine, op: Disk, result: OperationResult) -> None:
    engine.disks.report(op)
    engine.broker.set_disk_full(engine.disks.full)


def settings(engine: Engine, op: Settings, result: OperationResult) -> None:
    engine.change_settings(op.match, dict(op.values))


def wait(engine: Engine, op: Wait, result: OperationResult) -> None:
    broker = engine.broker
    broker.now += op.ms * NS_PER_MS
    for queue in broker.queues.values():
        if queue.scheduled:
            queue.release_scheduled()
        if queue.consumers:
            broker.touch(queue)


def checkpoint(engine: Engine, op: Checkpoint, result: OperationResult) -> None:
    engine.view.forget()
    engine.parts_changed = True


STEPS: dict[type, Step] = {
    CreateAddress: create_address,
    DeleteAddress: delete_address,
    CreateQueue: create_queue,
    DeleteQueue: delete_queue_step,
    OpenSession: open_session,
    CloseSession: close_session,
    Begin: branches.begin,
    Prepare: branches.prepare,
    Commit: branches.commit,
    Rollback: branches.rollback,
    OpenConsumer: consuming.open_consumer,
    Receive: consuming.receive,
    Ack: consuming.acknowledge,
    CloseConsumer: consuming.close,
    Browse: consuming.browse,
    Purge: purge_step,
    Expire: expire,
    PauseQueue: pause,
    ResumeQueue: resume,
    BlockAddress: block,
    UnblockAddress: unblock,
    DiskFull: disk_full,
    Disk: disk,
    Settings: settings,
    Wait: wait,
    Checkpoint: checkpoint,
    Restart: restart,
    Crash: restart,
}
__all__ = ["STEPS", "RoutingType", "make_queue"]
