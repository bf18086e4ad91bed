"""AMQP 1.0: link credit, refusal with drain, and grants that wait for room (docs/spec/protocols.md 2)."""

from __future__ import annotations

from pageengine.broker.broker import Broker
from pageengine.broker.protocol_messages import amqp_message
from pageengine.clients.wire_session import WireSession
from pageengine.model.amqp_encoding import amqp_bytes
from pageengine.model.outcome import BLOCKED, NOT_ROUTED, REFUSED, SENT, ClientDecision, Released
from pageengine.paging.gates import Grant
from pageengine.settings.acceptors import AmqpAcceptor, amqp_acceptor
from pageengine.settings.settings import AddressFullPolicy
from pageengine.trace.operations import ClientOptions, OpenSession, Send, TraceHeader

RESOURCE_LIMIT = "amqp:resource-limit-exceeded"
ANY_ADDRESS = "#"


class AmqpLink:
    """Sender link of a client, for one address or anonymous (``address`` None).

    ``unsettled``: deliveries that the broker has not settled yet. ``draining``: the broker waits for its credit back.
    ``told``: the client was asked for it, and got no credit since. ``asked``, ``drained``: since the last outcome line.
    """

    def __init__(self, broker: Broker, acceptor: AmqpAcceptor, client: ClientOptions, address: str | None) -> None:
        self.broker = broker
        self.acceptor = acceptor
        self.client = client
        self.address = address
        self.last_address: str | None = None
        self.credit = 0
        self.unsettled = 0
        self.draining = False
        self.drain_told = False
        self.drain_requested = False
        self.drained = 0
        self.closed = False
        self.grant: Grant = self.fill_up

    def top_up(self) -> None:
        """Ask gate A whether the broker may give credit."""
        if self.draining:
            return
        address = self.address or self.last_address
        if address is None:
            self._top_up_unaddressed()
            return
        store = self.broker.store(address)
        if store is None:
            self.fill_up()
        else:
            store.gates.check_memory(self.grant)

    def _top_up_unaddressed(self) -> None:
        """Wait for the broker's limits before the link's first message; for the disk alone if ``#`` is PAGE."""
        limits = self.broker.limits
        pages = self.broker.settings.address_settings.effective(ANY_ADDRESS).policy is AddressFullPolicy.PAGE
        if limits.disk_full if pages else limits.global_full:
            limits.waiting.append(self.grant)
        else:
            self.fill_up()

    def fill_up(self) -> None:
        """Give full credit, if it is at the low mark."""
        if self.draining or self.closed:
            return
        acceptor = self.acceptor
        if self.credit <= acceptor.low_credits - self.unsettled and acceptor.credits > self.credit + self.unsettled:
            self.credit = acceptor.credits - self.unsettled
            self.drain_told = False

    def settle(self) -> None:
        """Note that a delivery has its outcome."""
        self.unsettled -= 1
        if self.draining:
            self._drained()
        else:
            self.top_up()
        self.drain_requested = self.drain_requested or (self.drain_told and not self.client.settled)

    def refuse(self) -> None:
        """Refuse a delivery for lack of room; editions that do so ask for the remaining credit back."""
        drains = self.acceptor.drains and self.broker.profile.drains_refused
        if drains and self.credit > 0 and not self.draining:
            self.draining = self.drain_told = self.drain_requested = True
        self.settle()
        if self.draining and self.client.drain:
            self.drained += self.credit
            self.credit = 0
            self._drained()

    def _drained(self) -> None:
        if not (self.unsettled or self.credit):
            self.draining = False
            self.top_up()

    def close(self) -> None:
        """Accept no further grant."""
        self.closed = True


class AmqpSession(WireSession):
    """Connection with a link for each address, or an anonymous one for all."""

    def __init__(self, broker: Broker, header: TraceHeader, releases: list[Released], opened: OpenSession) -> None:
        super().__init__(broker, header, releases, opened)
        self.acceptor = amqp_acceptor(broker.settings.acceptors, header.acceptor)
        # an outcome that says that a delivery was modified names no error
        self.error = None if self.acceptor.modifies else RESOURCE_LIMIT
        self.links: dict[str | None, AmqpLink] = {}
        self.link: AmqpLink | None = None

    def _link(self, op: Send) -> AmqpLink:
        address = None if self.client.anonymous else op.address
        link = self.links.get(address)
        if link is None:
            link = self.links[address] = AmqpLink(self.broker, self.acceptor, self.client, address)
            link.top_up()
        self.link = link
        return link

    def deliver(self, op: Send) -> ClientDecision:
        """Send, or wait for credit; return the verdict."""
        link = self._link(op)
        before = link.credit
        verdict = self.answer(op) or ClientDecision(BLOCKED, broker=NOT_ROUTED, on_wire=False)
        verdict.credit = before
        return verdict

    def answer(self, op: Send) -> ClientDecision | None:
        """Return the verdict of a send, or None as long as there is no credit."""
        link = self._link(op)
        if not link.credit:
            return None
        link.credit -= 1
        link.unsettled += 1
        client, store = self.client, self.broker.store(op.address)
        if store is not None and store.rejecting:
            return self._rejected(link)
        link.last_address = op.address
        size = amqp_bytes(op, anonymous=client.anonymous)
        message = amqp_message(self.broker, op, size, self.acceptor.min_large, anonymous=client.anonymous)
        verdict = self.routed(message)
        if verdict.r == REFUSED:
            verdict.error = self.error
            link.refuse()
        else:
            link.settle()
        if client.settled:
            verdict.r, verdict.error = SENT, None
        return verdict

    def _rejected(self, link: AmqpLink) -> ClientDecision:
        """Return the verdict of a delivery above the reject threshold.

        If it was settled before it arrived, it is dropped, and the broker never settles it.
        """
        if self.client.settled:
            return ClientDecision(SENT, broker=NOT_ROUTED)
        link.refuse()
        return ClientDecision(REFUSED, error=self.error, broker=NOT_ROUTED)

    def shows(self, verdict: ClientDecision, *, credit: bool) -> None:
        """Add credit, and whether it was requested back, to the verdict."""
        link = self.link
        if link is None:
            return
        if credit and verdict.behind is None:
            verdict.credit_after = link.credit
        for link_of_session in self.links.values():
            verdict.drain_asked = verdict.drain_asked or link_of_session.drain_requested
            verdict.drained = link_of_session.drained or verdict.drained
            link_of_session.drain_requested, link_of_session.drained = False, 0

    def disconnect(self) -> None:
        """End the connection with its links."""
        for link in self.links.values():
            link.close()
            self.forget(link.grant)
        self.links.clear()
        self.link = None
        super().disconnect()
