"""Consumers and browsers of a trace: opening, receiving, acknowledging (docs/spec/trace-format.md 1.2)."""

from __future__ import annotations

from functools import partial

from pageengine.broker.broker import Broker
from pageengine.broker.managing import acknowledge_in_pages
from pageengine.broker.transaction import Transaction, acknowledge_alone
from pageengine.clients.run import Run
from pageengine.clients.session import SessionConsumer
from pageengine.model.failure import OperationFailed
from pageengine.model.message import DEFAULT_PRIORITY, Message
from pageengine.model.outcome import OperationResult
from pageengine.model.reference import NORMAL, Reference
from pageengine.queues.filters import compiled
from pageengine.queues.ports import MessageMatcher
from pageengine.queues.queue import Queue
from pageengine.trace.operations import Ack, AckMode, Browse, CloseConsumer, OpenConsumer, Receive, ReceiveAck
from pagefmt.selector import SelectorError

DRY = 3


def selector_of(text: str | None) -> MessageMatcher | None:
    """Return the filter or selector, or None without a text; raise ``OperationFailed`` if the broker refuses it."""
    try:
        return compiled(text)
    except SelectorError as err:
        raise OperationFailed("INVALID_FILTER_EXPRESSION") from err


def _queue(run: Run, name: str) -> Queue:
    queue = run.broker.queues.get(name)
    if queue is None:
        raise OperationFailed("QUEUE_DOES_NOT_EXIST")
    return queue


def open_consumer(run: Run, op: OpenConsumer, result: OperationResult) -> None:
    """Open a consumer on a queue. Raises OperationFailed."""
    session = run.session(op.session)
    queue = _queue(run, op.queue)
    selector = selector_of(op.selector)
    if queue.max_consumers != -1 and len(queue.consumers) >= queue.max_consumers:
        raise OperationFailed("MAX_CONSUMER_LIMIT_EXCEEDED")
    consumer = SessionConsumer(op.consumer, session, queue, selector, op.window)
    run.consumers[op.consumer] = consumer
    session.consumers[op.consumer] = consumer
    queue.consumers.append(consumer)
    queue.dispatch.consumers_changed()
    run.broker.schedule.touch(queue)


def close(run: Run, op: CloseConsumer, result: OperationResult) -> None:
    """Close a consumer if it is open."""
    consumer = run.consumers.pop(op.consumer, None)
    if consumer is not None and not consumer.closed:
        run.close_consumer(consumer)


def receive(run: Run, op: Receive, result: OperationResult) -> None:
    """Receive up to ``max`` messages; three empty attempts, with the broker at rest in between, are the end.

    Raises ``OperationFailed`` if messages are named for a consumer with a window.
    """
    consumer = run.consumer(op.consumer)
    if op.seq is not None:
        _receive_named(run, consumer, op, result)
        return
    queue = consumer.queue
    got: list[int] = []
    redelivered: list[int] = []
    last: Reference | None = None
    dry = 0
    schedule, store = run.broker.schedule, queue.store
    acknowledges_each = op.ack is ReceiveAck.EACH
    plain = not acknowledges_each and consumer.window != 0 and _is_plain(queue)
    result.got = got
    while len(got) < op.max and dry < DRY:
        if plain and got and consumer.buffer.size and _rests(run.broker, queue):
            dry, credits = 0, consumer.credits
            last = _take_held(consumer, op.max, got, redelivered)
            if consumer.credits != credits and len(got) < op.max and store is not None and store.paging:
                schedule.touched_queues[queue] = None
                schedule.settle()
            continue
        ref = _next(run, consumer)
        if ref is None:
            dry += 1
            schedule.touch(queue)
            schedule.settle()
            continue
        dry = 0
        if schedule.to_resume or schedule.tasks:
            schedule.producers_turn()
        _hand_over(consumer, ref, got, redelivered)
        if acknowledges_each:
            _acknowledge_one(run, consumer, ref)
        else:
            consumer.opened[ref.message.seq] = ref
            last = ref
        if len(got) < op.max and store is not None and store.paging:
            schedule.touched_queues[queue] = None
            schedule.settle()
    if op.ack is ReceiveAck.END and last is not None:
        _up_to(run, consumer, last.message.seq)
    result.redelivered = redelivered or None
    schedule.touch(queue)


def _receive_named(run: Run, consumer: SessionConsumer, op: Receive, result: OperationResult) -> None:
    """Take the named messages one by one, each with a selector that matches only that message.

    A window would let the broker deliver other messages ahead of the request. Messages in pages that the broker does
    not read so far are acknowledged there, if each is acknowledged at once.
    """
    if consumer.window != 0:
        raise OperationFailed("IllegalStateException", "messages can be named only for a consumer with window 0")
    selector = consumer.selector
    got: list[int] = []
    redelivered: list[int] = []
    left, again = list(op.seq or ()), True
    try:
        while left and again:
            for seq in left:
                _look_only_for(consumer, seq)
                receive(run, Receive(op.consumer, 1, op.ack, i=op.i, t=op.t), result)
                got += result.got or ()
                redelivered += result.redelivered or ()
            # messages that are acknowledged make room for more of the pages, in which the others may be
            received = set(got)
            missing = [seq for seq in left if seq not in received]
            again = op.ack is ReceiveAck.EACH and len(missing) < len(left)
            left = missing
    finally:
        consumer.change_selector(selector)
    if left and op.ack is ReceiveAck.EACH:
        wanted = frozenset(left)
        got += acknowledge_in_pages(run.broker, consumer.queue, lambda message: message.seq in wanted)
    result.got, result.redelivered = got, redelivered or None


def _look_only_for(consumer: SessionConsumer, seq: int) -> None:
    """Make a consumer want one message only.

    Its iterator begins at that message, so that it need not pass by all that wait before it. Where passing by has an
    effect (messages expire, groups get their consumers), it begins at the head.
    """
    consumer.change_selector(partial(_has_seq, seq))
    queue = consumer.queue
    ref = queue.references.waiting(seq)
    plain = not (queue.broker.expiring or queue.exclusive or queue.dispatch.groups or queue.non_destructive)
    if plain and not queue.references.has_doubles and (ref is None or not ref.message.special):
        consumer.iterator = queue.references.iterator_at(ref)


def _has_seq(seq: int, message: Message) -> bool:
    return message.seq == seq


def _hand_over(consumer: SessionConsumer, ref: Reference, got: list[int], redelivered: list[int]) -> None:
    """Hand a message to the application and note it for the outcome."""
    seq = ref.message.seq
    got.append(seq if seq is not None else -1)
    if ref.message.priority != DEFAULT_PRIORITY:
        consumer.individually = True
    if ref.delivery_count > 1:
        redelivered.append(got[-1])


def _take_held(consumer: SessionConsumer, most: int, got: list[int], redelivered: list[int]) -> Reference:
    """Take buffered messages, at least one, until credits return to the broker; returns the last one."""
    credits, opened = consumer.credits, consumer.opened
    last = None
    while (last is None or consumer.credits == credits) and len(got) < most and consumer.buffer.size:
        ref = last = consumer.take_buffered()
        assert ref is not None
        _hand_over(consumer, ref, got, redelivered)
        opened[ref.message.seq] = ref
    assert last is not None
    return last


def _is_plain(queue: Queue) -> bool:
    """Return whether another delivery round leaves a resting queue unchanged."""
    return not queue.exclusive and queue.last_values is None and (queue.store is None or len(queue.store.cursors) == 1)


def _rests(broker: Broker, queue: Queue) -> bool:
    """Return whether taking a buffered message that returns no credits changes nothing at the broker."""
    return broker.schedule.rests and not broker.expiring and not queue.dispatch.groups


def _next(run: Run, consumer: SessionConsumer) -> Reference | None:
    """Return the next message for the application, or None, requesting one if none is buffered.

    Expired messages go back to the broker.
    """
    slow = consumer.window == 0
    while True:
        if slow and consumer.credits is not None:
            consumer.credits += 1
            consumer.forced = False
        ref = consumer.take_buffered() if consumer.buffer.size else None
        if ref is None:
            queue, schedule = consumer.queue, run.broker.schedule
            if schedule.tasks:
                queue.deliver_later()
            else:
                queue.deliver()
            if schedule.tasks:
                schedule.run_tasks()
            ref = consumer.take_buffered()
            if ref is None:
                if slow:
                    consumer.credits = 0
                return None
            consumer.forced = True
        if ref.message.expiration and ref.message.expiration <= run.broker.now:
            consumer.delivering.pop(ref.message.id, None)
            run.broker.settling.expire(ref)
            continue
        return ref


def acknowledge(run: Run, op: Ack, result: OperationResult) -> None:
    """Acknowledge messages that were handed to the application. Raises OperationFailed."""
    consumer = run.consumer(op.consumer)
    if op.mode is AckMode.INDIVIDUAL:
        for seq in op.seqs:
            ref = consumer.opened.pop(seq, None)
            if ref is None:
                raise OperationFailed("IllegalStateException", f"not delivered: {seq}")
            _acknowledge_one(run, consumer, ref)
        return
    if op.mode is AckMode.ALL:
        if not consumer.opened:
            return
        upto = next(reversed(consumer.opened))
    else:
        upto = op.seqs[0]
        if upto not in consumer.opened:
            raise OperationFailed("IllegalStateException", f"not delivered: {upto}")
    _up_to(run, consumer, upto)


def _up_to(run: Run, consumer: SessionConsumer, upto: int | None) -> None:
    """Acknowledge everything up to a message: in one go, or one by one once a priority other than 4 was seen."""
    opened = []
    for seq, ref in consumer.opened.items():
        opened.append((seq, ref))
        if seq == upto:
            break
    for seq, _ in opened:
        del consumer.opened[seq]
    if consumer.individually:
        for _, ref in opened:
            _acknowledge_one(run, consumer, ref)
        return
    last = opened[-1][1]
    refs = []
    for ref in consumer.delivering.values():
        refs.append(ref)
        if ref is last:
            break
    _acknowledge(run, consumer, refs)


def _acknowledge(run: Run, consumer: SessionConsumer, refs: list[Reference]) -> None:
    if len(refs) == 1:
        _acknowledge_one(run, consumer, refs[0])
        return
    for ref in refs:
        if consumer.delivering.pop(ref.message.id, None) is None:
            raise OperationFailed("ILLEGAL_STATE")
    tx = consumer.session.tx
    if tx is not None:
        for ref in refs:
            tx.acknowledge(ref, NORMAL)
        return
    own = Transaction(run.broker)
    own.acknowledge_all(consumer.queue, refs)
    own.commit()
    # a released producer sends after the next message was taken: its round trip is longer
    if run.broker.schedule.tasks:
        run.broker.schedule.run_tasks()


def _acknowledge_one(run: Run, consumer: SessionConsumer, ref: Reference) -> None:
    if consumer.delivering.pop(ref.message.id, None) is None:
        raise OperationFailed("ILLEGAL_STATE")
    tx = consumer.session.tx
    if tx is not None:
        tx.acknowledge(ref, NORMAL)
        return
    broker = run.broker
    acknowledge_alone(broker, ref)
    if broker.schedule.tasks:
        broker.schedule.run_tasks()


def browse(run: Run, op: Browse, result: OperationResult) -> None:
    """Return what waits in memory, then what is unacknowledged in the pages; nothing is removed (spec 3.3)."""
    run.session(op.session)
    queue = _queue(run, op.queue)
    selector = selector_of(op.selector)
    now = run.broker.now
    got: list[int] = []
    seen: set[tuple[int, int]] = set()

    def shows(ref_expiration: int) -> bool:
        return not ref_expiration or ref_expiration > now

    for ref in queue.references:
        if ref.record is not None:
            seen.add((ref.record.page, ref.record.nr))
        message = ref.message
        if (selector is None or selector(message)) and shows(message.expiration):
            got.append(message.seq if message.seq is not None else -1)
    pages = queue.browse_pages()
    while pages is not None and (op.max is None or len(got) < op.max) and pages.has_next():
        record = pages.next()
        if (record.page, record.nr) in seen:
            continue
        message = record.message
        if (selector is None or selector(message)) and shows(message.expiration):
            got.append(message.seq if message.seq is not None else -1)
    result.got = got if op.max is None else got[: op.max]
    run.broker.schedule.touch(queue)
