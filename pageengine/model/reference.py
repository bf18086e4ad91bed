"""Reference: one message in one queue, in memory or read back from a page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import Final

from pageengine.model.message import Message
from pageengine.model.page import PagedMessage
from pageengine.model.page_infos import PageCounter, PageInfo, PageInfos


class AckReason(Enum):
    """Reason for which a reference leaves its queue for good."""

    NORMAL = "acknowledged"
    EXPIRED = "expired"
    KILLED = "killed"
    REPLACED = "replaced"


NORMAL: Final = AckReason.NORMAL


class CursorPort(ABC):
    """Paging cursor of a queue as the store of its address and transactions see it."""

    __slots__ = ("counter", "empty", "pages", "queue")
    queue: QueuePort
    counter: PageCounter
    pages: PageInfos
    empty: bool

    @abstractmethod
    def info(self, page: int) -> PageInfo:
        """Return the cursor's state of a page, created if missing."""

    @abstractmethod
    def count(self, add: int, size: int) -> None:
        """Count paged messages in, or out (negative); ``size`` in bytes."""

    @abstractmethod
    def first_page(self) -> int:
        """Return the first page with something unconfirmed; -1: no content; 0: content that was not examined yet."""

    @abstractmethod
    def is_complete(self, page: int) -> bool:
        """Return whether the cursor has finished with the page of this number."""

    @abstractmethod
    def is_done(self, info: PageInfo) -> bool:
        """Return whether every record of the page is confirmed."""

    @abstractmethod
    def process_ack(self, page: int, nr: int) -> PageInfo:
        """Confirm one record; number -1 confirms none and marks the page as looked at."""

    @abstractmethod
    def process_acks(self, page: int, numbers: list[int]) -> None:
        """Confirm records of one page."""

    @abstractmethod
    def leave_page_mode(self) -> None:
        """Reset the counter, because page mode of the address has ended."""


class QueuePort(ABC):
    """Queue as its references, its cursor and its consumers see it."""

    id: int
    name: str
    address: str
    durable: bool
    deleted: bool
    non_destructive: bool
    cursor: CursorPort | None
    counts: ReferenceCounts

    @property
    @abstractmethod
    def message_count(self) -> int:
        """Return the number of messages in memory and in pages."""

    @abstractmethod
    def add_tail(self, ref: Reference) -> None:
        """Append a new reference at the end of the queue."""

    @abstractmethod
    def add_back(self, ref: Reference) -> None:
        """Put a reference that was being delivered back in its old place."""

    @abstractmethod
    def reference_down(self, ref: Reference) -> None:
        """Stop counting an unpaged reference as memory."""

    @abstractmethod
    def removed(self, ref: Reference) -> None:
        """Update the counts after a reference left the list of waiting messages."""

    @abstractmethod
    def delivered(self, ref: Reference) -> None:
        """Stop counting the reference as being delivered."""

    @abstractmethod
    def settle(self, refs: list[Reference], reason: AckReason) -> None:
        """Finish references after the commit of their acknowledgement."""

    @abstractmethod
    def settle_one(self, ref: Reference, reason: AckReason) -> None:
        """Finish one reference after the commit of its acknowledgement."""

    @abstractmethod
    def expire_waiting(self, ref: Reference) -> None:
        """Expire a message that a delivery round took out of the list."""

    @abstractmethod
    def returns_go_on(self) -> bool:
        """Return whether a returning reference is kept: the queue exists and is not purged for lack of consumers."""

    @abstractmethod
    def deliver_later(self) -> None:
        """Schedule a delivery round."""

    @abstractmethod
    def rest(self) -> None:
        """Read ahead and deliver now, when nothing else is going on."""

    @abstractmethod
    def rests_alone(self) -> bool:
        """Rest if no other queue has to be asked after this one was touched; return False, doing nothing, otherwise."""

    @abstractmethod
    def queues_to_ask(self, queues: dict[QueuePort, None]) -> None:
        """Add the queues that may have something to do after this one was touched."""


@dataclass(eq=False)
class ReferenceCounts:
    """Counts of one queue's messages outside its pages; sizes in bytes.

    ``mem_count`` and ``mem_bytes`` are of the messages that wait in memory, ``delivering_count`` and
    ``delivering_bytes`` of those being delivered, ``waiting_unpaged`` and ``delivering_unpaged`` of those among them
    that were never paged. ``added``, ``acked``, ``expired`` and ``killed`` only ever grow. ``phantoms`` (with
    ``phantom_bytes``) are counted as waiting though they do not wait; ``taken_off`` were subtracted twice.
    """

    mem_count: int = 0
    mem_bytes: int = 0
    waiting_unpaged: int = 0
    delivering_count: int = 0
    delivering_bytes: int = 0
    delivering_unpaged: int = 0
    added: int = 0
    acked: int = 0
    expired: int = 0
    killed: int = 0
    phantoms: int = 0
    phantom_bytes: int = 0
    taken_off: int = 0

    def wait(self, ref: Reference) -> None:
        """Count a message as waiting in memory."""
        self.mem_count += 1
        self.mem_bytes += ref.mem
        if ref.record is None:
            self.waiting_unpaged += 1

    def stop_waiting(self, ref: Reference) -> None:
        """Stop counting a message as waiting in memory."""
        self.mem_count -= 1
        self.mem_bytes -= ref.mem
        if ref.record is None:
            self.waiting_unpaged -= 1

    def add_phantom(self, ref: Reference) -> None:
        """Count a scheduled message as if it waited, as a reload does; no later event corrects the counts."""
        self.mem_count += 1
        self.mem_bytes += ref.mem
        self.phantoms += 1
        self.phantom_bytes += ref.mem

    def take_off(self, ref: Reference) -> None:
        """Subtract a paged message that returns to a full ring a second time, as the broker does."""
        self.mem_count -= 1
        self.mem_bytes -= ref.mem
        self.taken_off += 1
        self.phantom_bytes -= ref.mem

    def deliver(self, ref: Reference) -> None:
        """Count a message as being delivered."""
        self.delivering_count += 1
        self.delivering_bytes += ref.message.enc
        if ref.record is None:
            self.delivering_unpaged += 1

    def stop_delivering(self, ref: Reference) -> None:
        """Stop counting a message as being delivered."""
        self.delivering_count -= 1
        self.delivering_bytes -= ref.message.enc
        if ref.record is None:
            self.delivering_unpaged -= 1

    def settle(self, reason: AckReason) -> None:
        """Count a message that left the queue for good."""
        if reason is NORMAL:
            self.acked += 1
        elif reason is AckReason.EXPIRED:
            self.expired += 1
        elif reason is AckReason.KILLED:
            self.killed += 1

    def settle_paged(self, refs: list[Reference]) -> None:
        """Count acknowledged messages that were read from pages, which are no longer being delivered."""
        self.delivering_count -= len(refs)
        self.delivering_bytes -= sum(ref.message.enc for ref in refs)
        self.acked += len(refs)


class Reference:
    """Message in one queue. ``record`` is its place in the pages, None for a message that was never paged."""

    __slots__ = (
        "delivery_count",
        "gone",
        "linked",
        "live",
        "mem",
        "message",
        "next",
        "prev",
        "queue",
        "record",
        "scheduled",
        "sequence",
        "stored_count",
    )

    def __init__(self, message: Message, queue: QueuePort, record: PagedMessage | None) -> None:
        self.message = message
        self.queue = queue
        self.record = record
        self.mem = message.mem
        self.delivery_count = self.stored_count = self.sequence = self.scheduled = 0
        self.prev: Reference | None = None
        self.next: Reference | None = None
        self.linked = self.gone = self.live = False

    @property
    def place(self) -> tuple[int, int]:
        """Return (queue id, message id), which identifies a reference after it is gone."""
        return self.queue.id, self.message.id
