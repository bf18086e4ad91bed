"""Last-value queue: of the messages with the same key only the newest is kept.

Source: docs/spec/paging-engine.md 3.7; LastValueQueue of 2.56.0 for when an older one is removed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pageengine.model.reference import Reference


@dataclass(eq=False)
class LastValues:
    """Newest reference of each key that waits in the queue, or returned to it when there was no newer one."""

    key: str
    _newest: dict[object, Reference] = field(default_factory=dict)

    def newest(self, ref: Reference) -> None:
        """Record an arriving message as the newest of its key."""
        value = ref.message.property(self.key)
        if value is not None:
            self._newest[value] = ref

    def came_back(self, ref: Reference) -> None:
        """Record a message that returns from delivery, unless a newer one has its key."""
        value = ref.message.property(self.key)
        if value is not None:
            self._newest.setdefault(value, ref)

    def forget(self, ref: Reference) -> None:
        """Remove a message that leaves the queue, to a consumer or for good."""
        value = ref.message.property(self.key)
        if value is not None and self._newest.get(value) is ref:
            del self._newest[value]

    def is_replaced(self, ref: Reference) -> bool:
        """Return whether there is a newer message with the same key."""
        value = ref.message.property(self.key)
        return value is not None and self._newest.get(value) is not ref
