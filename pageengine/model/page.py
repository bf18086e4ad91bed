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
    """A message in a page, routed to the queues with these ids. ``size`` is its payload, ``at`` when it came."""

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
    """One page file, its records in order; the first ``loaded`` of them were written before the last start."""

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
    """Whether the records of a transaction may be delivered; keeps the records that cursors passed too early."""

    id: int
    messages: int = 0
    durable: int = 0
    committed: bool = False
    rolled_back: bool = False
    prepared: bool = False
    redelivers: bool = False
    late: list[ParkedRecord] = field(default_factory=list)

    def commit(self) -> None:
        """Its records may be delivered."""
        for parked in self.late:
            parked.deliver()
        self.late = []
        self.committed = True
        self.prepared = False

    def roll_back(self, known: dict[int, PageTransactionInfo]) -> None:
        """Its records are ignored."""
        self.rolled_back = True
        self.committed = False
        self.prepared = False
        for parked in self.late:
            parked.drop()
            self.finished(1, known)
        self.late = []

    def finished(self, count: int, known: dict[int, PageTransactionInfo]) -> None:
        """``count`` of its messages are finished; with the last one it is forgotten."""
        self.messages -= count
        if self.messages <= 0:
            known.pop(self.id, None)
