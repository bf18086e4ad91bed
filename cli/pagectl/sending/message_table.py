"""The messages of one queue that the broker has not settled, and the state of each: to send, in flight or released."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from pagectl.sending.messages import QueuedMessage
from pagefmt.exchange.outgoing import Outgoing


@dataclass(slots=True)
class UnsettledMessage:
    """A prepared message that the broker has not settled.

    ``crc`` is the CRC-32 of the ids of all messages before it, ``returns`` how often the broker gave it back although
    it had room.
    """

    queued: QueuedMessage
    target: str
    outgoing: Outgoing
    crc: int
    returns: int = 0


class MessageTable:
    """The unsettled messages of one queue by their position in the order of delivery, each in one of three states.

    A message is to be sent (``to_send``, in order), in flight, or released by the broker to be sent again after a
    pause. ``size`` is the memory in bytes that the prepared messages occupy. ``release_reason`` is the broker's reason
    for the latest release.
    """

    def __init__(self) -> None:
        self.to_send: deque[int] = deque()
        self.in_flight: set[int] = set()
        self.released: list[int] = []
        self.release_reason = ""
        self.size = 0
        self._messages: dict[int, UnsettledMessage] = {}

    def __len__(self) -> int:
        return len(self._messages)

    def __getitem__(self, position: int) -> UnsettledMessage:
        return self._messages[position]

    def first_from(self, position: int) -> UnsettledMessage | None:
        """Return the first message at this position or after it, or None. Positions are added in rising order."""
        return next((message for at, message in self._messages.items() if at >= position), None)

    def add(self, message: UnsettledMessage) -> None:
        """Add a message that is to be sent, after all others."""
        self._messages[message.queued.position] = message
        self.size += len(message.outgoing.head)
        self.to_send.append(message.queued.position)

    def mark_sent(self) -> None:
        """Note that the first message to send is in flight."""
        self.in_flight.add(self.to_send.popleft())

    def release(self, position: int, why: str) -> None:
        """Note that the broker gave back a message that was in flight."""
        self.in_flight.discard(position)
        self.released.append(position)
        self.release_reason = why

    def remove(self, position: int) -> UnsettledMessage:
        """Remove and return a message that is settled or given up: the first to send, or one in flight."""
        if self.to_send and self.to_send[0] == position:
            self.to_send.popleft()
        self.in_flight.discard(position)
        message = self._messages.pop(position)
        self.size -= len(message.outgoing.head)
        return message

    def send_released(self) -> None:
        """Make the released messages those to send again, in their original order."""
        self.to_send = deque(sorted([*self.released, *self.to_send]))
        self.released.clear()

    def send_all(self) -> None:
        """Make all messages those to send, in their original order, because a new connection knows of none."""
        self.to_send = deque(sorted(self._messages))
        self.in_flight.clear()
        self.released.clear()
