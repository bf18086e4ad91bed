"""Messages that a client has buffered and not yet handed to its application: by priority, then in order of arrival."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from pageengine.model.reference import Reference


@dataclass(eq=False)
class ClientBuffer:
    """Constant time at both ends: with a wide window a client buffers a whole queue."""

    _by_priority: dict[int, deque[Reference]] = field(default_factory=dict)

    def append(self, ref: Reference) -> None:
        """A message arrives at the client."""
        priority = ref.message.priority
        waiting = self._by_priority.get(priority)
        if waiting is None:
            waiting = self._by_priority[priority] = deque()
        waiting.append(ref)

    def __bool__(self) -> bool:
        return bool(self._by_priority)

    def take(self) -> Reference | None:
        """The next for the application; None when there is none."""
        if not self._by_priority:
            return None
        priority = max(self._by_priority) if len(self._by_priority) > 1 else next(iter(self._by_priority))
        waiting = self._by_priority[priority]
        ref = waiting.popleft()
        if not waiting:
            del self._by_priority[priority]
        return ref

    def clear(self) -> None:
        """The client drops what it holds."""
        self._by_priority.clear()
