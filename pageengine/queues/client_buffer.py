"""Messages that a client has buffered and not yet handed to its application: by priority, then in order of arrival."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from pageengine.model.reference import Reference


@dataclass(eq=False)
class ClientBuffer:
    """Buffer with constant time at both ends, because with a wide window a client buffers a whole queue."""

    size: int = 0
    _by_priority: dict[int, deque[Reference]] = field(default_factory=dict)

    def append(self, ref: Reference) -> None:
        """Add a message that arrives at the client."""
        priority = ref.message.priority
        waiting = self._by_priority.get(priority)
        if waiting is None:
            waiting = self._by_priority[priority] = deque()
        waiting.append(ref)
        self.size += 1

    def take(self) -> Reference | None:
        """Remove and return the next message for the application, or None if there is none.

        Of the messages with the highest priority, it is the first that arrived.
        """
        if not self.size:
            return None
        self.size -= 1
        by_priority = self._by_priority
        if len(by_priority) > 1:
            return by_priority[max(priority for priority in by_priority if by_priority[priority])].popleft()
        (waiting,) = by_priority.values()
        return waiting.popleft()

    def clear(self) -> None:
        """Drop all messages that the client holds."""
        self._by_priority.clear()
        self.size = 0
