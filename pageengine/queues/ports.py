"""What queues ask of the broker and of their consumers, as small abstract base classes."""

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
    """What a consumer does with a message that is offered to it."""

    HANDLED = "takes it"
    BUSY = "has no credits"
    NO_MATCH = "selects others"


class ConsumerPort(ABC):
    """A consumer as its queue sees it. ``credits`` in bytes, None: no limit."""

    __slots__ = ("credits", "delivering", "iterator", "selector")
    selector: MessageMatcher | None
    credits: int | None
    iterator: ReferenceIterator | None
    delivering: dict[int, Reference]

    @abstractmethod
    def status(self, ref: Reference) -> HandleStatus:
        """Whether it would take a message."""

    @abstractmethod
    def handle(self, ref: Reference) -> None:
        """Take a message."""


class SettlingPort(ABC):
    """How references end: what queues and transactions ask of the broker."""

    @abstractmethod
    def discard(self, ref: Reference) -> None:
        """A reference that comes to a queue which was deleted."""

    @abstractmethod
    def replace(self, ref: Reference) -> None:
        """A reference that a ring or a newer last value displaces."""

    @abstractmethod
    def expire(self, ref: Reference) -> None:
        """A message that expired and counts as being delivered."""

    @abstractmethod
    def give_back(self, refs: list[Reference], *, ignore_delay: bool) -> None:
        """References that were being delivered return to their queues."""


class BrokerPort(ABC):
    """The broker as a queue sees it. ``now`` is the trace's clock in ns, ``start_ns`` its zero on the wall clock.

    ``expiring``: there may be messages that expire.
    """

    profile: Profile
    settling: SettlingPort
    now: int
    start_ns: int
    expiring: bool
