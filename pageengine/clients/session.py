"""A client's session: its transaction or branches, its producers' credits, and the sends that wait.

Source: docs/spec/trace-format.md 1.2, docs/spec/paging-engine.md 2.7.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from pageengine.broker.broker import Broker
from pageengine.broker.copies import from_send
from pageengine.broker.late_messages import LateMessage
from pageengine.broker.managing import purge
from pageengine.broker.routing import ROUTED, AddressFull, DroppedElsewhere, route
from pageengine.broker.transaction import Transaction
from pageengine.clients.producer import Credits, SendRefused
from pageengine.model.message import Message
from pageengine.model.outcome import BLOCKED, DROPPED, FAILED, HANDLED, PAGED, QUEUED, UNROUTED, Decision, Released
from pageengine.model.ports import Producer
from pageengine.model.sizes import LARGE_SIZE_PROPERTY, body_bytes, header_bytes, properties_bytes
from pageengine.queues.consumer import Consumer
from pageengine.queues.ports import MessageMatcher
from pageengine.queues.queue import Queue
from pageengine.trace.operations import Send, SessionKind, TraceHeader

ADDRESS_FULL = "ADDRESS_FULL"
UNNAMED = "GENERIC_EXCEPTION"
CHUNK_FRAME = 26
LAST_CHUNK_FRAME = 34


@dataclass(eq=False)
class PendingSend:
    """Send that began: the credits it still needs, in order, and its verdict once it reached the broker.

    Each of ``needs``: credits, how many times, and whether the message reaches the broker before them.
    """

    op: Send
    message: Message
    credits: Credits
    needs: deque[tuple[int, int, bool]] = field(default_factory=deque)
    verdict: Decision | None = None
    reached: bool = False

    @property
    def i(self) -> int:
        """Return the number of the operation."""
        return self.op.i


class SessionConsumer(Consumer):
    """Consumer that belongs to a session."""

    __slots__ = ("session",)

    def __init__(self, name: str, session: Session, queue: Queue, selector: MessageMatcher | None, window: int) -> None:
        super().__init__(name, queue, selector, window)
        self.session = session


class Session(Producer):
    """Client session. Verdicts of blocked sends that go on later are appended to ``releases``."""

    def __init__(
        self, broker: Broker, header: TraceHeader, releases: list[Released], name: str, kind: SessionKind
    ) -> None:
        self.broker = broker
        self.header = header
        self.releases = releases
        self.name = name
        self.kind = kind
        self.closed = False
        self.tx: Transaction | None = Transaction(self.broker) if kind is SessionKind.LOCAL else None
        self.xid: str | None = None
        self.credits: dict[str, Credits] = {}
        self.pending: deque[Send | PendingSend] = deque()
        self.consumers: dict[str, SessionConsumer] = {}

    # sending

    def send(self, op: Send) -> Decision:
        """Send a message and return the verdict.

        It is `blocked` if earlier sends or credits are pending; ``continue_sends`` then continues the send, and its
        verdict is appended to ``releases``. It is `failed` if the client itself refuses to send to a full address.
        """
        if self.pending:
            self.pending.append(op)
            return Decision(BLOCKED)
        message = from_send(self.broker, self.header, op)
        credits = self.credits.get(op.address) or self._credits(op.address)
        if not message.large:
            try:
                if credits.acquire(message.enc):
                    return self.arrive(message)
            except SendRefused:
                return Decision(FAILED, error=ADDRESS_FULL, reached_broker=False)
        waiting = self._waiting(op, message, credits)
        verdict = self._go_on(waiting) if message.large else None
        if verdict is None:
            self.pending.append(waiting)
            return Decision(BLOCKED)
        return verdict

    def continue_sends(self) -> None:
        """Continue one waiting send; if more wait, request another turn for the session."""
        if self.pending:
            head = self.pending[0]
            if isinstance(head, Send):
                head = self.pending[0] = self._begin(head)
                if head.op.expire_ms and self.header.start_ns is None:
                    self.broker.late.append(LateMessage(head.message, head.op.expire_ms))
            verdict = self._go_on(head)
            if verdict is None:
                return
            self.pending.popleft()
            self.broker.latest.released.append((self.broker.now, head.message.id))
            self.releases.append(Released(head.op.i, verdict))
            if self.pending:
                self.broker.schedule.resume(self)

    def _begin(self, op: Send) -> PendingSend:
        return self._waiting(op, from_send(self.broker, self.header, op), self._credits(op.address))

    def _waiting(self, op: Send, message: Message, credits: Credits) -> PendingSend:
        waiting = PendingSend(op, message, credits)
        if message.large:
            self._chunks(waiting)
        else:
            waiting.needs.append((message.enc, 1, True))
        return waiting

    def _chunks(self, waiting: PendingSend) -> None:
        """Plan the credits of a large message.

        It needs them for its header, then for each chunk of its body after that chunk was sent.
        """
        message = waiting.message
        props = [item for item in message.props if item.name != LARGE_SIZE_PROPERTY]
        waiting.needs.append((header_bytes(message.address, properties_bytes(props), len(props)), 1, False))
        piece = self.header.min_large_message_size
        pieces, left = divmod(body_bytes(waiting.op), piece)
        if pieces:
            waiting.needs.append((piece + CHUNK_FRAME, pieces, False))
        waiting.needs.append((left + LAST_CHUNK_FRAME, 1, True))

    def _credits(self, address: str) -> Credits:
        credits = self.credits.get(address)
        if credits is None:
            credits = self.credits[address] = Credits(self.broker, self, address, self.header.producer_window)
        return credits

    def _go_on(self, waiting: PendingSend) -> Decision | None:
        needs = waiting.needs
        try:
            while needs:
                credits, times, last = needs[0]
                if last and waiting.message.large:
                    self._reach(waiting)
                    if waiting.verdict is not None and waiting.verdict.r == FAILED:
                        return waiting.verdict
                if not waiting.credits.acquire(credits):
                    return None
                if times > 1 and waiting.credits.step >= 0:
                    needs[0] = (credits, times - 1, last)
                else:
                    needs.popleft()
        except SendRefused:
            return Decision(FAILED, error=ADDRESS_FULL, reached_broker=waiting.reached)
        self._reach(waiting)
        return waiting.verdict

    def _reach(self, waiting: PendingSend) -> None:
        if not waiting.reached:
            waiting.reached = True
            waiting.verdict = self.arrive(waiting.message)

    def arrive(self, message: Message) -> Decision:
        """Do the broker's side of a send: routing and its verdict (docs/spec/trace-format.md 2)."""
        broker = self.broker
        if message.address == broker.settings.management_address:
            return Decision(HANDLED)
        tx = self.tx
        store = broker.stores.get(message.address) or broker.store(message.address)
        page_full = store is not None and store.page_limits.reached
        try:
            routed = route(broker, message, tx)
        except DroppedElsewhere:
            if tx is None:
                return Decision(FAILED, error="INTERNAL_ERROR", reached_broker=True)
            tx.failed = UNNAMED
            return Decision(FAILED, error="IllegalStateException", reached_broker=True, silent=True)
        except AddressFull:
            if tx is None or broker.profile.fails_in_transaction:
                # the answer to the last piece of a large message does not say what was wrong
                error = UNNAMED if message.large else ADDRESS_FULL
                return Decision(FAILED, error=error, reached_broker=True)
            tx.failed = ADDRESS_FULL
            return Decision(FAILED, error=ADDRESS_FULL, reached_broker=True, silent=True)
        if routed.status != ROUTED:
            return Decision(UNROUTED, status=routed.status, mem=message.mem)
        mem, enc, large = message.mem, message.enc, message.large
        if routed.paged:
            return Decision(PAGED, mem=mem, enc=enc, large=large)
        if routed.dropped and not routed.in_memory:
            page_limit = (
                page_full and store is not None and store.gates.policy.value == "PAGE" and not broker.limits.disk_full
            )
            why = "page_full" if page_limit else "disk_full" if broker.limits.disk_full else "address_full"
            return Decision(DROPPED, why=why, mem=mem, enc=enc, large=large)
        return Decision(QUEUED, mem=mem, enc=enc, large=large)

    # transactions

    def end_local(self, *, commit: bool) -> str | None:
        """Commit or roll back a local session, and start its next transaction. Return the error, or None."""
        tx = self.tx
        assert tx is not None
        self.tx = Transaction(self.broker)
        return self.finish(tx, commit=commit)

    def finish(self, tx: Transaction, *, commit: bool) -> str | None:
        """Commit or roll back a transaction or branch. Return the error for which a commit failed, or None."""
        if commit and tx.failed is None:
            tx.commit()
            return None
        self._cancel_consumers(tx, commit=commit)
        return tx.failed if commit else None

    def _cancel_consumers(self, tx: Transaction, *, commit: bool) -> None:
        if not commit:
            for consumer in self.consumers.values():
                consumer.cleared()
                self.broker.schedule.touch(consumer.queue)
                tx.returned += consumer.cancel()
        tx.roll_back()

    def close(self) -> None:
        """Close producers and consumers, and roll back uncommitted work."""
        self.closed = True
        self.pending.clear()
        for consumer in list(self.consumers.values()):
            close_consumer(self.broker, consumer)
        self.consumers.clear()
        if self.tx is not None and not self.tx.prepared:
            self.tx.roll_back()
            self.tx = None


def close_consumer(broker: Broker, consumer: SessionConsumer) -> None:
    """Close a consumer; its unacknowledged messages return to where they were (docs/spec/trace-format.md 1.2)."""
    consumer.closed = True
    queue = consumer.queue
    refs = consumer.cancel()
    if consumer in queue.consumers:
        queue.consumers.remove(consumer)
    queue.dispatch.forget(consumer)
    consumer.session.consumers.pop(consumer.name, None)
    broker.settling.give_back(refs, ignore_delay=True)
    broker.schedule.touch(queue)
    if not queue.consumers and queue.purge_on_no_consumers:
        purge(broker, queue, None)
