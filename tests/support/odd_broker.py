"""A broker in this process whose answers are odd, made with Proton: it takes messages as Artemis does, unless told."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from proton import Condition, Delivery, Message, symbol
from proton.handlers import MessagingHandler
from proton.reactor import Container

PLAIN = ("[20000]", "[true]", json.dumps([json.dumps({"idCacheSize": 20000, "addressFullMessagePolicy": "PAGE"})]))
OUTCOMES = {"accept": Delivery.ACCEPTED, "release": Delivery.RELEASED, "reject": Delivery.REJECTED}


@dataclass(slots=True)
class Oddity:
    """The settings in which a stand-in deviates from a plain broker, and what it received.

    ``answers`` are replies of management: size of the id cache, whether it is persisted, and address settings.
    ``frame`` is the largest frame, ``verdict`` maps the number of a delivery to its outcome, and ``taken`` collects the
    duplicate ids of messages that were kept.
    """

    version: Any = "2.56.0"
    answers: tuple[Any, Any, Any] = PLAIN
    frame: int | None = None
    verdict: Callable[[int], str] = lambda _: "accept"
    port: int = 0
    taken: list[str] = field(default_factory=list)
    deliveries: int = 0

    @property
    def url(self) -> str:
        return f"amqp://127.0.0.1:{self.port}"


class _OddBroker(MessagingHandler):
    def __init__(self, oddity: Oddity) -> None:
        super().__init__(prefetch=0, auto_accept=False, auto_settle=False)
        self.oddity = oddity
        self.replies: Any = None

    def on_start(self, event: Any) -> None:
        event.container.listen(f"127.0.0.1:{self.oddity.port}")
        self.on_timer_task(event)

    def on_timer_task(self, event: Any) -> None:
        """Wake the container again, so that it checks whether it must stop."""
        event.container.schedule(0.1, self)

    def on_connection_bound(self, event: Any) -> None:
        if self.oddity.frame is not None:
            event.transport.max_frame_size = self.oddity.frame

    def on_connection_opening(self, event: Any) -> None:
        event.connection.properties = {
            symbol("product"): "apache-activemq-artemis",
            symbol("version"): self.oddity.version,
        }

    def on_link_opening(self, event: Any) -> None:
        link = event.link
        link.target.address = link.remote_target.address
        link.source.address = "answers" if link.remote_source.dynamic else link.remote_source.address
        if link.is_sender and link.remote_source.dynamic:
            self.replies = link
        link.open()
        if link.is_receiver:
            link.flow(1000)

    def on_message(self, event: Any) -> None:
        delivery, message, link = event.delivery, event.message, event.link
        if link.target.address == "activemq.management":
            delivery.update(Delivery.ACCEPTED)
            delivery.settle()
            link.flow(1)
            self._answer(message.properties)
            return
        verdict = self.oddity.verdict(self.oddity.deliveries)
        self.oddity.deliveries += 1
        condition = Condition("amqp:internal-error", f"this is {verdict}")
        for name, ended in (("session", link.session), ("connection", event.connection), ("link", link)):
            if verdict == name:
                ended.condition = condition
                ended.close()
                return
        if verdict == "lost":  # kept, and the answer is lost
            self.oddity.taken.append(message.properties["_AMQ_DUPL_ID"])
            event.transport.close_tail()
            event.transport.close_head()
            return
        if verdict == "accept":
            self.oddity.taken.append(message.properties["_AMQ_DUPL_ID"])
        if verdict in OUTCOMES:
            delivery.update(OUTCOMES[verdict])
        elif verdict in ("modified", "undeliverable"):
            delivery.local.undeliverable = verdict == "undeliverable"
            delivery.update(Delivery.MODIFIED)
        if verdict != "silent":
            delivery.settle()
        link.flow(1)

    def _answer(self, properties: dict[str, Any]) -> None:
        which = 2 if "_AMQ_OperationName" in properties else int("Persist" in properties["_AMQ_Attribute"])
        answer = self.oddity.answers[which]
        if answer is not None:
            content = answer if isinstance(answer, bytes) else Message(body=answer).encode()
            self.replies.delivery("answer")
            self.replies.stream(content)
            self.replies.advance()


@contextmanager
def odd_broker(**how: Any) -> Iterator[Oddity]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        oddity = Oddity(port=probe.getsockname()[1], **how)
    container = Container(_OddBroker(oddity))
    thread = threading.Thread(target=container.run, daemon=True)
    thread.start()
    try:
        yield oddity
    finally:
        container.stop()
        thread.join(5)
