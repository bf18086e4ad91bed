"""A consumer: its credits at the broker, its window at the client, and what it holds unacknowledged.

Source: spec/trace-format.md 1.2 (window), spec/paging-engine.md 3.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pageengine.client_buffer import ClientBuffer
from pageengine.message import DEFAULT_PRIORITY, Reference

if TYPE_CHECKING:
    from pageengine.queue import Matches, Queue
    from pageengine.session import Session

PACKET_BYTES = 25
"""What a delivered message costs beyond its encoding."""
FORCED_BYTES = 132
"""What the broker's answer "nothing more" costs beyond the name of the queue."""


class Consumer:
    """``credits`` in bytes, None: no limit. ``opened``: handed to the application and not yet acknowledged there."""

    __slots__ = (
        "browsed_up_to", "buffer", "closed", "credits", "delivering", "forced", "individually", "name", "opened",
        "passed", "queue", "returned", "selector", "session", "window",
    )  # fmt: skip

    def __init__(self, name: str, session: Session, queue: Queue, selector: Matches | None, window: int) -> None:
        self.name = name
        self.session = session
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
        self.passed: dict[int, Reference | None] = {}
        self.browsed_up_to = -1

    def next_for(self, queue: Queue) -> Reference | None:
        """The first waiting reference that this consumer did not already pass over."""
        if self.credits is not None and self.credits <= 0:
            return self._head(queue)
        if queue.non_destructive:
            return next((ref for ref in queue.references if ref.sequence > self.browsed_up_to), None)
        if self.selector is None:
            return queue.references.first()
        return self._matching(queue)

    def _head(self, queue: Queue) -> Reference | None:
        """A busy consumer still looks at its next one: it may have expired."""
        references = queue.references
        ref: Reference | None = None
        for priority in range(references.highest, -1, -1):
            last = self.passed.get(priority)
            ref = references.heads[priority] if last is None else last.next
            if ref is not None:
                break
        if ref is not None and ref.message.expiration and ref.message.expiration <= queue.broker.now:
            return ref
        return None

    def _matching(self, queue: Queue) -> Reference | None:
        selector = self.selector
        assert selector is not None
        references = queue.references
        now = queue.broker.now
        for priority in range(references.highest, -1, -1):
            last = self.passed.get(priority)
            ref = references.heads[priority] if last is None else last.next
            while ref is not None:
                message = ref.message
                if (message.expiration and message.expiration <= now) or selector(message):
                    return ref
                self.passed[priority] = ref
                ref = ref.next
        return None

    def forget(self, ref: Reference) -> None:
        """A reference leaves the queue: what was passed up to it now ends before it."""
        priority = ref.message.priority
        if self.passed.get(priority) is ref:
            self.passed[priority] = ref.prev

    def accepts(self, ref: Reference) -> bool:
        if self.credits is not None and self.credits <= 0:
            return False
        return self.selector is None or self.selector(ref.message)

    def handle(self, ref: Reference) -> None:
        ref.consumer = self
        ref.delivery_count += 1
        self.delivering[ref.message.id] = ref
        self.queue.delivering(ref)
        if self.credits is not None:
            self.credits -= ref.message.enc + PACKET_BYTES
        if ref.message.priority != DEFAULT_PRIORITY:
            self.individually = True
        self.buffer.append(ref)

    def take_buffered(self) -> Reference | None:
        """What the client gives next: highest priority first, then in order of arrival."""
        ref = self.buffer.take()
        if ref is None:
            return None
        self._return_credits(ref)
        return ref

    def _return_credits(self, ref: Reference) -> None:
        if self.credits is None:
            return
        if self.window == 0:
            self.credits += ref.message.enc + PACKET_BYTES - 1
            return
        self.returned += ref.message.enc + PACKET_BYTES
        if self.returned >= max(1, self.window // 2):
            self.credits += self.returned
            self.returned = 0

    def cleared(self) -> None:
        """At a rollback the client clears its buffer, and returns credits even for the answer that ended its wait."""
        while (ref := self.buffer.take()) is not None:
            self._return_credits(ref)
        if self.forced and self.credits is not None and self.window == 0:
            self.forced = False
            self.credits += FORCED_BYTES + 2 * len(self.queue.name)

    def cancel(self) -> list[Reference]:
        """Everything the broker delivered and that was not acknowledged there, oldest first; counts go back by one."""
        refs = list(self.delivering.values())
        for ref in refs:
            ref.delivery_count -= 1
        self.delivering.clear()
        self.buffer.clear()
        return refs
