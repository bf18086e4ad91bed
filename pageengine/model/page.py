"""Pages of a store, the records in them, and the transactions that records wait for.

Source: docs/spec/paging-engine.md 2.5, 2.9 and 3.2.
"""

from __future__ import annotations

from pageengine.model.message import Message
from pageengine.model.ports import ParkedRecord
from pageengine.model.sizes import RECORD_FRAME

NO_TRANSACTION = -1


class PagedMessage:
    """A message in a page, routed to the queues with these ids. ``size`` is its payload."""

    __slots__ = ("message", "nr", "page", "queues", "size", "tx")

    def __init__(self, message: Message, queues: tuple[int, ...], tx: int, size: int) -> None:
        self.message = message
        self.queues = queues
        self.tx = tx
        self.size = size
        self.page = 0
        self.nr = 0


class WrittenPage:
    """One page file, its records in order; the first ``loaded`` of them were written before the last start."""

    __slots__ = ("bytes", "count", "forced", "loaded", "number", "records")

    def __init__(self, number: int) -> None:
        self.number = number
        self.count = 0
        self.bytes = 0
        self.loaded = 0
        self.forced = False
        self.records: list[PagedMessage] = []

    def add(self, record: PagedMessage) -> None:
        """Append a record, which gets its number."""
        record.page = self.number
        record.nr = self.count
        self.count += 1
        self.records.append(record)
        self.bytes += record.size + RECORD_FRAME


class PageTransactionInfo:
    """Whether the records of a transaction may be delivered; keeps the records that cursors passed too early."""

    __slots__ = ("committed", "durable", "id", "late", "messages", "prepared", "redelivers", "rolled_back")

    def __init__(self, id: int) -> None:
        self.id = id
        self.messages = 0
        self.durable = 0
        self.committed = False
        self.rolled_back = False
        self.prepared = False
        self.redelivers = False
        self.late: list[ParkedRecord] = []

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
