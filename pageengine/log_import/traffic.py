"""Operations in order from the lines of a log, and what stayed unknown (docs/spec/trace-format.md 3)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pageengine.log_import.messages import LoggedMessage, LoggedTransaction
from pageengine.trace import operations as ops
from pageengine.trace.operations import Operation, SessionKind

# The connection of a client that speaks another protocol than core, as the broker prints it.
FOREIGN_CONNECTION = re.compile(r"\b(?:ActiveMQProtonRemoting|OpenWire|Stomp|MQTT)Connection@")


@dataclass(slots=True)
class KnownQueue:
    """Queue as far as the logs show it; ``created``: a line of the log reports its creation."""

    name: str
    address: str
    routing: ops.RoutingType | None = None
    filter: str | None = None
    durable: bool = True
    created: bool = False


@dataclass(slots=True)
class LogFacts:
    """Facts about the whole log, gathered in a first pass."""

    queues: dict[str, KnownQueue] = field(default_factory=dict)
    messages: dict[int, LoggedMessage] = field(default_factory=dict)
    described: set[int] = field(default_factory=set)
    # Address by message id, as a line of a delivery names it.
    delivered_from: dict[int, str] = field(default_factory=dict)
    # Messages whose size is a guess.
    guessed: set[int] = field(default_factory=set)
    min_large: int | None = None
    smallest_large: int | None = None
    first_t: int | None = None
    # Sessions that send outside transactions, whatever was requested when they were created.
    alone: set[str] = field(default_factory=set)
    # Protocol and options by session, of those whose messages did not come by core.
    clients: dict[str, tuple[ops.ClientProtocol, ops.ClientOptions]] = field(default_factory=dict)

    def queue(self, name: str, address: str) -> KnownQueue:
        """Return the queue of this name, recorded if it is new."""
        return self.queues.setdefault(name, KnownQueue(name, address))

    def guess_sizes(self) -> None:
        """Describe each delivered message of unknown size by the mean size of the described ones of its address."""
        sizes: dict[str, list[int]] = {}
        for message in self.messages.values():
            sizes.setdefault(message.address, []).append(message.body)
        for number, address in self.delivered_from.items():
            if number not in self.messages and number not in self.described and address in sizes:
                mean = round(sum(sizes[address]) / len(sizes[address]))
                self.messages[number] = LoggedMessage(
                    number,
                    address,
                    durable=True,
                    priority=4,
                    expire_ms=0,
                    body=mean,
                    large=False,
                    props=ops.MessageProperties(),
                    uncertain=False,
                )
                self.guessed.add(number)

    def saw_client(self, session: str, message: LoggedMessage) -> None:
        """Note the protocol that a session sends by."""
        if message.protocol is not ops.ClientProtocol.CORE:
            self.clients.setdefault(session, (message.protocol, message.client))

    def saw_large(self, message: LoggedMessage) -> None:
        """Note the smallest large message: it bounds the client's limit."""
        if message.large:
            self.smallest_large = min(self.smallest_large or message.body, message.body)


@dataclass(slots=True)
class LoggedConsumer:
    """Consumer of the trace; ``holds``: what it got and has not acknowledged (seq by message id)."""

    name: str
    queue: str
    session: str
    selector: str | None
    holds: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True)
class TraceBuilder:
    """Builder of operations. ``emit`` receives them one by one; adjacent ``receive`` lines of a consumer become one."""

    emit: Callable[[Operation], None]
    facts: LogFacts
    unknown: Counter[str] = field(default_factory=Counter)
    seqs: dict[int, int] = field(default_factory=dict)
    sessions: dict[str, SessionKind] = field(default_factory=dict)
    consumers: dict[str, LoggedConsumer] = field(default_factory=dict)
    # Consumer that has the message, by message id and queue.
    holders: dict[int, dict[str, str]] = field(default_factory=dict)
    transactions: dict[int, str] = field(default_factory=dict)
    # Transaction that the message was sent in, by message id.
    uncommitted: dict[int, LoggedTransaction] = field(default_factory=dict)
    _unsent: dict[int, list[Callable[[], None]]] = field(default_factory=dict)
    _next_seq: int = 0
    _i: int = 0
    _t: int = 0
    _pending: ops.Receive | None = None
    _pending_seqs: list[int] = field(default_factory=list)
    # Sends that the log shows and the trace lacks.
    left_out: int = 0

    def now(self, t: int) -> None:
        """Set the time; it never goes back."""
        self._t = max(self._t, t)

    def add(self, cls: type[Operation], *values: Any, **named: Any) -> None:
        """Append an operation of this class at the present time."""
        self.flush()
        self._emit(cls(*values, t=self._t, **named))

    def _emit(self, operation: Operation) -> None:
        operation.i = self._i
        self._i += 1
        self.emit(operation)

    def flush(self) -> None:
        """Emit the ``receive`` that is still pending."""
        if self._pending is not None:
            self._pending.max, self._pending.seq = len(self._pending_seqs), tuple(self._pending_seqs)
            self._emit(self._pending)
            self._pending, self._pending_seqs = None, []

    def once_sent(self, message: int, action: Callable[[], None]) -> None:
        """Do this now, or once the line of the send comes: the broker may write it after those of a delivery."""
        if message in self.facts.described and message not in self.seqs:
            self._unsent.setdefault(message, []).append(action)
        else:
            action()

    def send(self, session: str, message: LoggedMessage, transaction: LoggedTransaction | None = None) -> None:
        """Add a send: a message arrives in a session, and in a client's transaction unless None."""
        if session not in self.sessions and session in self.facts.clients:
            self.session(session, SessionKind.AUTO)
        seq = self._next_seq
        self._next_seq += 1
        self.seqs[message.id] = seq
        if message.uncertain:
            self.unknown["properties or size of a message uncertain"] += 1
        guessed = message.id in self.facts.guessed
        if guessed:
            self.unknown["size of a send (guessed: the mean of its address)"] += 1
        if message.expire_ms:
            self.unknown["expiry known to the second only"] += 1
        self.add(
            ops.Send,
            message.address,
            seq,
            session,
            size=message.body,
            durable=message.durable,
            priority=message.priority,
            expire_ms=message.expire_ms,
            props=message.props,
            note="size guessed" if guessed else f"size from log{', uncertain' if message.uncertain else ''}",
        )
        if transaction is not None:
            self.uncommitted[message.id] = transaction
        for action in self._unsent.pop(message.id, ()):
            action()

    def leave_out_send(self, why: str) -> None:
        """Count a send that the log shows but does not describe."""
        self.left_out += 1
        self.unknown[why] += 1

    def session(self, name: str, kind: SessionKind) -> None:
        """Open a session unless it is open."""
        if name not in self.sessions:
            kind = SessionKind.AUTO if name in self.facts.alone else kind
            self.sessions[name] = kind
            protocol, client = self.facts.clients.get(name, (ops.ClientProtocol.CORE, ops.PLAIN_CLIENT))
            self.add(ops.OpenSession, name, kind, protocol, client)

    def close_session(self, name: str) -> None:
        """Close a session and its consumers if it is open."""
        if self.sessions.pop(name, None) is None:
            return
        for consumer in [candidate for candidate in self.consumers.values() if candidate.session == name]:
            self._forget(consumer)
        self.add(ops.CloseSession, name)

    def join(self, transaction: LoggedTransaction, session: str) -> str:
        """Return the session that a client's transaction runs in; a branch is begun at its first operation."""
        joined = self.transactions.get(transaction.id)
        if joined is None:
            self.session(session, SessionKind.XA if transaction.xid else SessionKind.LOCAL)
            self.transactions[transaction.id] = joined = session
            if transaction.xid:
                self.add(ops.Begin, session, transaction.xid)
        return joined

    def commit(self, transaction: LoggedTransaction) -> None:
        """Add the commit of a client's transaction."""
        session = self.transactions.pop(transaction.id, None)
        if session is not None:
            if transaction.xid:
                self.unknown["prepare of an XA branch (committed without)"] += 1
            self.add(ops.Commit, session, transaction.xid, False, bool(transaction.xid))

    def rollback(self, transaction: LoggedTransaction) -> None:
        """Add the rollback of a client's transaction."""
        session = self.transactions.pop(transaction.id, None)
        if session is not None:
            self.add(ops.Rollback, session, transaction.xid, False, bool(transaction.xid))
            for consumer in [
                consumer for consumer in self.consumers.values() if consumer.session == session and consumer.holds
            ]:
                # what its client had not acknowledged goes back, too
                self.open_consumer(consumer.name, consumer.queue, session, consumer.selector)

    def open_consumer(self, name: str, queue: str, session: str, selector: str | None) -> LoggedConsumer:
        """Open a consumer; an open one of the same name is closed first."""
        if name in self.consumers:
            self.close_consumer(name)
        self.consumers[name] = consumer = LoggedConsumer(name, queue, session, selector)
        self.add(ops.OpenConsumer, name, queue, session, selector)
        return consumer

    def close_consumer(self, name: str) -> None:
        """Close a consumer if it is open."""
        consumer = self.consumers.get(name)
        if consumer is not None:
            self._forget(consumer)
            self.add(ops.CloseConsumer, name)

    def _forget(self, consumer: LoggedConsumer) -> None:
        for message in consumer.holds:
            self._take_back(consumer.queue, message)
        del self.consumers[consumer.name]

    def deliver(self, name: str, message: int) -> None:
        """Add the delivery of one message to a consumer.

        If another consumer held the message, it must have returned it, so that one is closed first.
        """
        transaction = self.uncommitted.pop(message, None)
        if transaction is not None:
            self.commit(transaction)
        consumer = self.consumers[name]
        holder = self.holders.get(message, {}).get(consumer.queue)
        if holder is not None:
            self.unknown["closing of a consumer, inferred from a redelivery"] += 1
            self.close_consumer(holder)
            if holder == name:
                consumer = self.open_consumer(name, consumer.queue, consumer.session, consumer.selector)
        if message not in self.seqs:
            self.unknown["delivery of a message that was sent before the log begins or cannot be known"] += 1
            return
        consumer.holds[message] = self.seqs[message]
        self.holders.setdefault(message, {})[consumer.queue] = consumer.name
        last = self._pending
        if last is None or last.consumer != consumer.name:
            self.flush()
            self._pending = ops.Receive(consumer.name, t=self._t)
        self._pending_seqs.append(self.seqs[message])

    def acknowledge(self, queue: str, message: int) -> None:
        """Add a client's acknowledgement at the time it took effect."""
        name = self._take_back(queue, message)
        if name is None:
            self.unknown["acknowledgement of a message whose delivery is not in the log"] += 1
            return
        seq = self.consumers[name].holds.pop(message)
        self.add(ops.Ack, name, ops.AckMode.INDIVIDUAL, seq)

    def queue_of(self, message: int) -> str | None:
        """Return the queue whose consumer has this message, for lines that do not name it; None if none has."""
        return next(iter(self.holders.get(message, {})), None)

    def _take_back(self, queue: str, message: int) -> str | None:
        """Take the message from the consumer that has it, and return the consumer's name, or None."""
        queues = self.holders.get(message, {})
        name = queues.pop(queue, None)
        if not queues:
            self.holders.pop(message, None)
        return name

    def create_queue(self, queue: KnownQueue, note: str | None = None) -> None:
        """Create a queue; an unknown routing type is guessed."""
        routing = queue.routing
        if routing is None:
            routing = ops.RoutingType.ANYCAST if queue.name == queue.address else ops.RoutingType.MULTICAST
            self.unknown["routing type of a queue (guessed by its name)"] += 1
        self.add(ops.CreateQueue, queue.name, queue.address, routing, queue.filter, queue.durable, note=note)
