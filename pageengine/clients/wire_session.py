"""Session of a client that speaks another protocol than core: its connection, and the sends that wait for each other.

A send that gets no answer stays pending, and those after it are not transmitted. After each operation that is no send,
the client's own thread checks whether it can go on (docs/spec/trace-format.md 2.1).
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
)
from pageengine.paging.gates import Grant
from pageengine.trace.operations import OpenSession, Send, TraceHeader

_BROKER = (QUEUED, PAGED, DROPPED, FAILED)


class WireSession(Session):
    """Session over another protocol than core.

    ``started``: the first of the pending sends was transmitted, or began to wait for credit.
    """

    def __init__(self, broker: Broker, header: TraceHeader, releases: list[Released], opened: OpenSession) -> None:
        super().__init__(broker, header, releases, opened.session, opened.kind)
        self.client = opened.client
        self.connected = False
        self.was_connected = False
        self.started = False

    # what a protocol decides

    def attach(self, op: Send) -> bool:
        """Connect for this send; return False if the broker refuses every connection."""
        return True

    @abstractmethod
    def deliver(self, op: Send) -> ClientDecision:
        """Transmit a send, or wait until the client may."""

    def answer(self, op: Send) -> ClientDecision | None:
        """Return the outcome of the first pending send, or None if there is none yet."""
        return None

    def shows(self, verdict: ClientDecision, *, credit: bool) -> None:
        """Add what the client sees of its link once the broker rests, ``credit`` only if requested."""

    # sends

    def send(self, op: Send) -> Decision:
        """Return the verdict of a send, `blocked` if there is none yet."""
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
        """End the pending sends that can end now, in order; each is a release."""
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
        """Do nothing: no grant of credits resumes such a session, because ``go_on`` checks for itself."""

    def routed(self, message: Message, r: str = ACCEPTED) -> ClientDecision:
        """Route the message and return the verdict, ``r`` unless routing refused it."""
        decision = self.arrive(message)
        became = decision.r if decision.r in _BROKER else decision.status or decision.r
        return ClientDecision(
            REFUSED if decision.r == FAILED else r,
            why=decision.why,
            mem=message.mem,
            enc=message.enc,
            large=message.large,
            broker=became,
        )

    def dropped_connection(self, verdict: ClientDecision, frame: str, error: str | None = None) -> ClientDecision:
        """Close the connection from the broker's side, and return ``verdict``, changed to `closed`.

        ``frame``: the last one that the broker sends, `none` if it sends none. ``error``: the one in the verdict.
        """
        verdict.r = CLOSED
        verdict.frame = frame
        verdict.error = error
        self.disconnect()
        return verdict

    def forget(self, grant: Grant) -> None:
        """Withdraw a grant from every store that it may wait for."""
        if self.broker.profile.forgets_closed:
            for store in self.broker.stores.values():
                if store.gates.waiting:
                    store.gates.forget(grant)

    def disconnect(self) -> None:
        """End the connection, if there is one."""
        if self.connected:
            self.connected = False
            self.broker.connections -= 1

    def close(self) -> None:
        """Close the session and its connection."""
        self.disconnect()
        super().close()
