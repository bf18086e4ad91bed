"""Consumer: its credits at the broker, its window at the client, and its unacknowledged messages.

Source: docs/spec/trace-format.md 1.2 (window), docs/spec/paging-engine.md 3.3.
"""

from __future__ import annotations

from pageengine.model.message import DEFAULT_PRIORITY
from pageengine.model.reference import Reference
from pageengine.model.reference_list import ReferenceIterator
from pageengine.queues.client_buffer import ClientBuffer
from pageengine.queues.ports import ConsumerPort, HandleStatus, MessageMatcher
from pageengine.queues.queue import Queue

# Bytes of a delivered message beyond its encoding.
PACKET_BYTES = 25
# Bytes of the broker's answer "nothing more" beyond the name of the queue.
FORCED_BYTES = 132


class Consumer(ConsumerPort):
    """Consumer of a queue.

    ``credits`` is in bytes, None for no limit. ``opened``: passed to the application and not yet acknowledged there.
    """

    __slots__ = ("buffer", "closed", "forced", "individually", "name", "opened", "queue", "returned", "window")

    def __init__(self, name: str, queue: Queue, selector: MessageMatcher | None, window: int) -> None:
        self.name = name
        self.queue = queue
        self.selector = selector
        self.window = window
        self.credits: int | None = None if window < 0 else window
        self.returned = 0
        self.delivering: dict[int, Reference] = {}
        self.buffer = ClientBuffer()
        self.opened: dict[int | None, Reference] = {}
        self.individually = False
        self.closed = False
        self.forced = False
        self.iterator: ReferenceIterator | None = None

    def status(self, ref: Reference) -> HandleStatus:
        """Return whether the consumer would accept a message that is offered."""
        if self.credits is not None and self.credits <= 0:
            return HandleStatus.BUSY
        return HandleStatus.HANDLED if self.selector is None or self.selector(ref.message) else HandleStatus.NO_MATCH

    def change_selector(self, selector: MessageMatcher | None) -> None:
        """Set the selector and look at the whole queue again, because the old one passed over messages."""
        self.selector = selector
        if self.iterator is not None:
            self.iterator.close()
            self.iterator = None

    def handle(self, ref: Reference) -> None:
        """Take a message: it goes to the client's buffer and costs credits."""
        ref.delivery_count += 1
        self.delivering[ref.message.id] = ref
        self.queue.counts.deliver(ref)
        if self.credits is not None:
            self.credits -= ref.message.enc + PACKET_BYTES
        if ref.message.priority != DEFAULT_PRIORITY:
            self.individually = True
        self.buffer.append(ref)

    def take_buffered(self) -> Reference | None:
        """Return the message that the client handles next, or None.

        Highest priority first, then in order of arrival.
        """
        ref, credits = self.buffer.take(), self.credits
        if ref is None or credits is None:
            return ref
        size, window = ref.message.enc + PACKET_BYTES, self.window
        if window == 0:
            self.credits = credits + size - 1
            return ref
        self.returned = returned = self.returned + size
        if returned >= window // 2:
            self.credits = credits + returned
            self.returned = 0
        return ref

    def cleared(self) -> None:
        """Clear the client's buffer at a rollback, returning credits even for the answer that ended its wait."""
        while self.take_buffered() is not None:
            pass
        if self.forced and self.credits is not None and self.window == 0:
            self.forced = False
            self.credits += FORCED_BYTES + 2 * len(self.queue.name)

    def cancel(self) -> list[Reference]:
        """Return everything that was delivered and not acknowledged, oldest first; delivery counts go back by one."""
        refs = list(self.delivering.values())
        for ref in refs:
            ref.delivery_count -= 1
        self.delivering.clear()
        self.buffer.clear()
        return refs
