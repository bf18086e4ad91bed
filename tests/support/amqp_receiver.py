"""A receiver of AMQP messages in this process, made with Proton: it remembers duplicate ids as a broker does."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from proton import Condition, Delivery, Handler, Message
from proton.handlers import FlowController, Handshaker
from proton.reactor import Container

Verdict = Callable[[int], str]
"""By the number of the delivery, from 0 on: accept, reject, full, release, close (the connection) or silent."""


def accepting(_: int) -> str:
    return "accept"


@dataclass(slots=True)
class Received:
    """``kept``: what a queue would hold, as (address, bytes); ``deliveries``: all that came."""

    port: int
    kept: list[tuple[str, bytes]] = field(default_factory=list)
    deliveries: int = 0
    known: set[str] = field(default_factory=set)
    connections: int = 0

    @property
    def url(self) -> str:
        return f"amqp://127.0.0.1:{self.port}"

    def messages(self) -> list[Message]:
        return [_decoded(content) for _, content in self.kept]


def _decoded(content: bytes) -> Message:
    message = Message()
    message.decode(content)
    return message


class _Receiving(Handler):
    def __init__(self, port: int, received: Received, verdict: Verdict, credit: int, refused: str | None) -> None:
        super().__init__()
        self.handlers = [Handshaker(), FlowController(credit)]
        self._port, self._received, self._verdict, self._refused = port, received, verdict, refused

    def on_reactor_init(self, event: Any) -> None:
        self.acceptor = event.container.listen(f"127.0.0.1:{self._port}")

    def on_connection_remote_open(self, event: Any) -> None:
        self._received.connections += 1

    def on_link_remote_open(self, event: Any) -> None:
        link = event.link
        link.target.copy(link.remote_target)
        link.source.copy(link.remote_source)
        if self._refused is not None and link.remote_target.address == self._refused:
            link.condition = Condition("amqp:not-found", "there is no such queue")
            link.close()

    def on_delivery(self, event: Any) -> None:
        delivery, link = event.delivery, event.link
        if not link.is_receiver or not delivery.readable or delivery.partial:
            return
        content = link.recv(delivery.pending)
        link.advance()
        number = self._received.deliveries
        self._received.deliveries += 1
        verdict = self._verdict(number)
        if verdict == "close":
            event.connection.condition = Condition("amqp:internal-error", "no such message")
            event.connection.close()
            return
        if verdict == "drop":
            event.transport.close_head()
            event.transport.close_tail()
            return
        if verdict in ("accept", "silent"):
            self._keep(link.remote_target.address, content)
        if verdict == "silent":
            return
        if verdict in ("reject", "full"):
            name = "amqp:resource-limit-exceeded" if verdict == "full" else "amqp:not-allowed"
            delivery.local.condition = Condition(name, "this one not")
        delivery.update({"accept": Delivery.ACCEPTED, "release": Delivery.RELEASED}.get(verdict, Delivery.REJECTED))
        delivery.settle()

    def _keep(self, address: str, content: bytes) -> None:
        found = (_decoded(content).properties or {}).get("_AMQ_DUPL_ID")
        key = f"{address.partition('::')[0]} {found}"
        if found is None or key not in self._received.known:
            self._received.kept.append((address, content))
            self._received.known.add(key)


@contextmanager
def receiver(verdict: Verdict = accepting, credit: int = 100, refused: str | None = None) -> Iterator[Received]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    received = Received(port)
    container = Container(_Receiving(port, received, verdict, credit, refused))
    thread = threading.Thread(target=container.run, daemon=True)
    thread.start()
    try:
        yield received
    finally:
        container.stop()
        thread.join(5)
