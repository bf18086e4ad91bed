"""What the parts of the engine require of parts above them, as small abstract base classes.

Base classes and not protocols: compilers of typed Python call their methods directly. Ports that know references are
in ``queues/ports.py``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod


class StorePort(ABC):
    """Store of an address: messages and references are accounted to it. ``paging``: it is in page mode."""

    __slots__ = ()
    address: str
    paging: bool

    @abstractmethod
    def add_size(self, size: int, count: int) -> None:
        """Add memory in bytes: of a message (``count`` 1 or -1) or of a reference (0)."""

    @abstractmethod
    def add_quietly(self, size: int, count: int) -> bool:
        """Add memory if that changes nothing but the sums; return False, adding nothing, if it would."""


class GatePort(ABC):
    """Gates of an address: producers wait at them."""

    __slots__ = ()

    @abstractmethod
    def check_released(self) -> bool:
        """Let waiting producers go on, if nothing holds them back. True: they go on."""


class ParkedRecord(ABC):
    """Record that a cursor has passed while its transaction was still open."""

    __slots__ = ()

    @abstractmethod
    def deliver(self) -> None:
        """Deliver the record, because its transaction was committed."""

    @abstractmethod
    def drop(self) -> None:
        """Ignore the record, because its transaction was rolled back."""


class Producer(ABC):
    """Client session as the store sees it: it may go on sending once credits were granted."""

    __slots__ = ()

    @abstractmethod
    def continue_sends(self) -> None:
        """Send the next of the blocked messages."""
