"""What queues require of the broker and of their consumers, as small abstract base classes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum

from pageengine.model.message import Message
from pageengine.model.reference import Reference
from pageengine.model.reference_list import ReferenceIterator
from pageengine.settings.profiles import Profile

MessageMatcher = Callable[[Message], bool]


class HandleStatus(Enum):
    """A consumer's answer to a message that is offered."""

    HANDLED = "takes it"
    BUSY = "has no credits"
    NO_MATCH = "selects others"


class ConsumerPort(ABC):
    """Consumer as its queue sees it; ``credits`` is in bytes, None for no limit."""

    __slots__ = ("credits", "delivering", "iterator", "selector")
    selector: MessageMatcher | None
    credits: int | None
    iterator: ReferenceIterator | None
    delivering: dict[int, Reference]

    @abstractmethod
    def status(self, ref: Reference) -> HandleStatus:
        """Return whether the consumer would accept a message."""

    @abstractmethod
    def handle(self, ref: Reference) -> None:
        """Accept a message that is delivered."""


class SettlingPort(ABC):
    """Ends of references: what queues and transactions require of the broker."""

    @abstractmethod
    def discard(self, ref: Reference) -> None:
        """Drop a reference that returns to a deleted queue."""

    @abstractmethod
    def replace(self, ref: Reference) -> None:
        """Drop a reference that a ring or a newer last value displaces."""

    @abstractmethod
    def expire(self, ref: Reference) -> None:
        """Expire a message that counts as being delivered."""

    @abstractmethod
    def give_back(self, refs: list[Reference], *, ignore_delay: bool) -> None:
        """Return references from delivery to their queues."""


class BrokerPort(ABC):
    """Broker as a queue sees it. ``now`` is the trace's clock in ns, ``start_ns`` its zero on the wall clock.

    ``expiring``: there may be messages that expire. ``earliest_due``: when the first scheduled message is due, or
    earlier.
    """

    profile: Profile
    settling: SettlingPort
    now: int
    start_ns: int
    expiring: bool
    earliest_due: int
