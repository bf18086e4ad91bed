"""OpenWire: sends parked in the broker, refused at once, or read no further (docs/spec/protocols.md 3)."""

from __future__ import annotations

from collections import deque

from pageengine.broker.broker import Broker
from pageengine.broker.protocol_messages import OPENWIRE_SIZE, openwire_message
from pageengine.clients.wire_session import WireSession
from pageengine.model.message import Message
from pageengine.model.outcome import ACCEPTED, BLOCKED, NOT_ROUTED, REFUSED, SENT, ClientDecision, Released
from pageengine.model.sizes import payload_bytes
from pageengine.paging.gates import Grant
from pageengine.trace.operations import OpenSession, Send, TraceHeader

NO_ROOM = "javax.jms.ResourceAllocationException"
FAILED_IN_ROUTING = "javax.jms.JMSException"


class ParkedSend:
    """Send that waits in the broker for room; it runs once."""

    def __init__(self, session: OpenWireSession, message: Message, size: int) -> None:
        self.session = session
        self.message = message
        self.size = size
        self.verdict: ClientDecision | None = None
        self.grant: Grant = self.run

    def run(self) -> None:
        """Route the message now that there is room, and answer the client."""
        if self in self.session.waiting:
            self.session.waiting.remove(self)
            self.verdict = self.session.routed_or_failed(self.message)
            self.session.acknowledged(self)


class OpenWireSession(WireSession):
    """Connection with one producer, which sends in one of three ways.

    Each send waits for its answer; or the client's window limits what has none (``unanswered`` bytes); or nothing does,
    then the broker stops reading (``paused``), after one more.
    """

    def __init__(self, broker: Broker, header: TraceHeader, releases: list[Released], opened: OpenSession) -> None:
        super().__init__(broker, header, releases, opened)
        self.sent = 0
        self.unanswered = 0
        self.parked: ParkedSend | None = None
        self.waiting: set[ParkedSend] = set()
        self.first_routed: ClientDecision | None = None
        self.held_back: ClientDecision | None = None
        self.paused = self.reads_one_more = False
        self.reading: Grant = self.reads_again
        self.unread: deque[Message] = deque()

    def attach(self, op: Send) -> bool:
        """Make a new connection, whose producer counts from 1."""
        self.sent = self.unanswered = 0
        self.paused = self.reads_one_more = False
        self.unread.clear()
        return True

    def _message(self, op: Send) -> Message:
        self.sent += 1
        return openwire_message(self.broker, op, self.sent)

    def deliver(self, op: Send) -> ClientDecision:
        """Deliver a send in the way that the client sends."""
        if not self.client.asynchronous:
            return self._waiting_for_answer(op)
        if self.client.window:
            return self._within_window(op)
        return self._unlimited(op)

    def answer(self, op: Send) -> ClientDecision | None:
        """Return the verdict of the parked send or of the one that the window held back, or None so far."""
        if not self.client.asynchronous:
            return self.parked.verdict if self.parked is not None else None
        verdict, self.held_back = self.held_back, None
        return verdict

    def routed_or_failed(self, message: Message) -> ClientDecision:
        """Return the verdict of gate B, with the error that the client gets."""
        verdict = self.routed(message, SENT if self.client.asynchronous else ACCEPTED)
        if verdict.r == REFUSED:
            if self.client.asynchronous:
                verdict.r = SENT
            else:
                verdict.error = FAILED_IN_ROUTING
        return verdict

    # a client that waits for each answer

    def _waiting_for_answer(self, op: Send) -> ClientDecision:
        parked = self.parked = ParkedSend(self, self._message(op), 0)
        if not self._ask(parked):
            return ClientDecision(REFUSED, error=NO_ROOM, broker=NOT_ROUTED)
        return parked.verdict or ClientDecision(BLOCKED, broker=NOT_ROUTED)

    def _ask(self, parked: ParkedSend) -> bool:
        """Ask gate A; return False if the send is refused. An operator's block parks the message all the same."""
        store = self.broker.store(parked.message.address)
        self.waiting.add(parked)
        if store is None:
            parked.run()
            return True
        goes_on = store.gates.check_memory(parked.grant, keep_refused=False)
        if not (goes_on or store.gates.blocked_by_operator):
            self.waiting.remove(parked)
        return goes_on

    def disconnect(self) -> None:
        """Drop parked sends with the connection."""
        for parked in self.waiting:
            self.forget(parked.grant)
        self.forget(self.reading)
        self.waiting.clear()
        super().disconnect()

    # a client with a window

    def _within_window(self, op: Send) -> ClientDecision:
        if self.unanswered >= self.client.window:
            self.first_routed = None
            return ClientDecision(BLOCKED, broker=NOT_ROUTED)
        return self._into_window(op)

    def _into_window(self, op: Send) -> ClientDecision:
        parked = ParkedSend(self, self._message(op), OPENWIRE_SIZE + payload_bytes(op))
        self.unanswered += parked.size
        # a refused send is never answered, and keeps its part of the window
        self._ask(parked)
        return parked.verdict or ClientDecision(SENT, broker=NOT_ROUTED)

    def acknowledged(self, parked: ParkedSend) -> None:
        """Tell the client that a parked send was routed, and release the send that waits for its window."""
        self.unanswered -= parked.size
        if not parked.size:
            return
        self.first_routed = self.first_routed or parked.verdict
        if self.pending and self.started and self.held_back is None and self.unanswered < self.client.window:
            op = self.pending[0]
            assert isinstance(op, Send)
            # the answer that let it go is the first thing that the client sees
            first = self.first_routed
            self.held_back = ClientDecision(SENT, broker=NOT_ROUTED)
            own = self._into_window(op)
            self.held_back = first or own

    # a client that nothing limits

    def _unlimited(self, op: Send) -> ClientDecision:
        message = self._message(op)
        if not self.paused:
            return self._take(message)
        if self.reads_one_more:
            # the network layer had begun to read when it was told to stop
            self.reads_one_more = False
            return self._take(message)
        self.unread.append(message)
        return ClientDecision(SENT, broker=NOT_ROUTED)

    def _take(self, message: Message) -> ClientDecision:
        store = self.broker.store(message.address)
        if store is not None:
            before = len(store.gates.waiting)
            if not store.gates.check_memory(self.reading):
                return ClientDecision(SENT, broker=NOT_ROUTED)
            if len(store.gates.waiting) > before and not self.paused:
                self.paused = self.reads_one_more = True
        return self.routed_or_failed(message)

    def reads_again(self) -> None:
        """Read in one go what was sent while the broker did not read, because there is room again."""
        if self.paused:
            self.paused = False
            self.broker.schedule.tasks.append(self._read)

    def _read(self) -> None:
        unread, self.unread = self.unread, deque()
        for message in unread:
            self._take(message)
