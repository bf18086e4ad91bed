"""A session of a client that speaks another protocol than core: its connection, and the sends that wait for each other.

A send that gets no answer stays pending, and those behind it are not transmitted. The client's own thread looks after
each operation that is no send whether it can go on (docs/spec/trace-format.md 2.1).
"""

from __future__ import annotations

from abc import abstractmethod

from pageengine.broker.broker import Broker
from pageengine.clients.session import Session
from pageengine.model.message import Message
from pageengine.model.outcome import (
    ACCEPTED,
    BLOCKED,
    CLOSED,
    DROPPED,
    FAILED,
    NOT_ROUTED,
    PAGED,
    QUEUED,
    REFUSED,
    ClientDecision,
    Decision,
    Released,
)  # fmt: skip
from pageengine.paging.store import Grant
from pageengine.trace.operations import OpenSession, Send, TraceHeader

_BROKER = (QUEUED, PAGED, DROPPED, FAILED)


class WireSession(Session):
    """``started``: the first of the pending sends was transmitted, or began to wait for credit."""

    def __init__(self, broker: Broker, header: TraceHeader, releases: list[Released], opened: OpenSession) -> None:
        super().__init__(broker, header, releases, opened.session, opened.kind)
        self.client = opened.client
        self.connected = False
        self.was_connected = False
        self.started = False

    # what a protocol decides

    def attach(self, op: Send) -> bool:
        """A connection is made for this send. False: the broker lets nobody in."""
        return True

    @abstractmethod
    def deliver(self, op: Send) -> ClientDecision:
        """The client transmits, or waits until it may."""

    def answer(self, op: Send) -> ClientDecision | None:
        """What became of the first pending send by now; None: nothing yet."""
        return None

    def shows(self, verdict: ClientDecision, *, credit: bool) -> None:
        """Adds what the client sees of its link once the broker rests, ``credit`` only if that was asked for."""

    # sends

    def send(self, op: Send) -> Decision:
        """The verdict, `blocked` if there is none yet."""
        if self.pending:
            behind = self.pending[0].i
            self.pending.append(op)
            return ClientDecision(BLOCKED, behind=behind)
        verdict = self._transmit(op)
        if verdict.r == BLOCKED:
            self.pending.append(op)
            self.started = True
        return verdict

    def _transmit(self, op: Send) -> ClientDecision:
        if self.connected:
            return self.deliver(op)
        if not self.attach(op):
            return ClientDecision(CLOSED, broker=NOT_ROUTED)
        self.connected = True
        self.broker.connections += 1
        verdict = self.deliver(op)
        verdict.reconnected = self.was_connected
        self.was_connected = True
        return verdict

    def go_on(self) -> None:
        """Pending sends that can end now do, in order; each is a release."""
        while self.pending:
            op = self.pending[0]
            assert isinstance(op, Send)
            verdict = self.answer(op) if self.started else self._transmit(op)
            self.started = True
            if verdict is None or verdict.r == BLOCKED:
                return
            self.pending.popleft()
            self.started = False
            self.releases.append(Released(op.i, verdict))
            self.broker.schedule.settle()

    def continue_sends(self) -> None:
        """Nothing: no grant resumes such a session, ``go_on`` looks for itself."""

    def routed(self, message: Message, r: str = ACCEPTED) -> ClientDecision:
        """The message reaches routing; ``r`` unless it was refused there."""
        found = self.arrive(message)
        became = found.r if found.r in _BROKER else found.status or found.r
        return ClientDecision(
            REFUSED if found.r == FAILED else r, why=found.why, mem=message.mem, enc=message.enc, large=message.large,
            broker=became,
        )  # fmt: skip

    def dropped_connection(self, verdict: ClientDecision, frame: str, error: str | None = None) -> ClientDecision:
        """The broker ends the connection, after a last ``frame`` if it is not `none`."""
        verdict.r = CLOSED
        verdict.frame = frame
        verdict.error = error
        self.disconnect()
        return verdict

    def forget(self, grant: Grant) -> None:
        """A grant that may wait somewhere is wanted no more."""
        if self.broker.profile.forgets_closed:
            for store in self.broker.stores.values():
                if store.waiting:
                    store.forget(grant)

    def disconnect(self) -> None:
        """The connection ends."""
        if self.connected:
            self.connected = False
            self.broker.connections -= 1

    def close(self) -> None:
        """Closes the connection, too."""
        self.disconnect()
        super().close()
