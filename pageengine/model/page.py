"""Pages of a store, the records in them, and the transactions that records wait for.

Source: docs/spec/paging-engine.md 2.5, 2.9 and 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pageengine.model.message import Message
from pageengine.model.ports import ParkedRecord
from pageengine.model.sizes import RECORD_FRAME

NO_TRANSACTION = -1


class PagedMessage:
    """Message in a page, routed to the queues with these ids. ``size`` is its payload, ``at`` when it came."""

    __slots__ = ("at", "message", "nr", "page", "queues", "size", "tx")

    def __init__(self, message: Message, queues: tuple[int, ...], tx: int, size: int, at: int) -> None:
        self.message = message
        self.queues = queues
        self.tx = tx
        self.size = size
        self.at = at
        self.page = self.nr = 0


@dataclass(eq=False)
class WrittenPage:
    """Page file, its records in order; the first ``loaded`` of them were written before the last start."""

    number: int
    count: int = 0
    bytes: int = 0
    loaded: int = 0
    forced: bool = False
    records: list[PagedMessage] = field(default_factory=list)

    def cut(self, count: int) -> None:
        """Keep the first ``count`` records."""
        self.bytes -= sum(record.size + RECORD_FRAME for record in self.records[count:])
        del self.records[count:]
        self.count = count


@dataclass(eq=False)
class PageTransactionInfo:
    """State of a transaction with paged messages; keeps the records that cursors passed too early."""

    id: int
    messages: int = 0
    durable: int = 0
    committed: bool = False
    rolled_back: bool = False
    prepared: bool = False
    redelivers: bool = False
    late: list[ParkedRecord] = field(default_factory=list)

    def commit(self) -> None:
        """Mark the transaction as committed, so that its records are delivered."""
        for parked in self.late:
            parked.deliver()
        self.late = []
        self.committed = True
        self.prepared = False

    def roll_back(self, transactions: dict[int, PageTransactionInfo]) -> None:
        """Mark the transaction as rolled back, so that its records are ignored."""
        self.rolled_back = True
        self.committed = False
        self.prepared = False
        for parked in self.late:
            parked.drop()
            self.finished(1, transactions)
        self.late = []

    def finished(self, count: int, transactions: dict[int, PageTransactionInfo]) -> None:
        """Count ``count`` of its messages as finished; after the last one remove the transaction."""
        self.messages -= count
        if self.messages <= 0:
            transactions.pop(self.id, None)
