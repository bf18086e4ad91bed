"""Pages of a store, the records in them, and the transactions that records wait for.

Source: spec/paging-engine.md 2.5, 2.9 and 3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pageengine.model.message import Message
from pageengine.model.sizes import RECORD_FRAME

if TYPE_CHECKING:
    from pageengine.paging.cursor import Cursor, PageIterator

NO_TRANSACTION = -1


class Record:
    """A message in a page, routed to the queues with these ids. ``size`` is its payload."""

    __slots__ = ("message", "nr", "page", "queues", "size", "tx")

    def __init__(self, message: Message, queues: tuple[int, ...], tx: int, size: int) -> None:
        self.message = message
        self.queues = queues
        self.tx = tx
        self.size = size
        self.page = 0
        self.nr = 0


class Page:
    """One page file, its records in order; the first ``loaded`` of them were written before the last start."""

    __slots__ = ("bytes", "count", "forced", "loaded", "number", "records")

    def __init__(self, number: int) -> None:
        self.number = number
        self.count = 0
        self.bytes = 0
        self.loaded = 0
        self.forced = False
        self.records: list[Record] = []

    def add(self, record: Record) -> None:
        record.page = self.number
        record.nr = self.count
        self.count += 1
        self.records.append(record)
        self.bytes += record.size + RECORD_FRAME


class PageTransaction:
    """Says whether the records of a transaction may be delivered; remembers the cursors that passed them too early."""

    __slots__ = ("committed", "durable", "id", "late", "messages", "prepared", "redelivers", "rolled_back")

    def __init__(self, id: int) -> None:
        self.id = id
        self.messages = 0
        self.durable = 0
        self.committed = False
        self.rolled_back = False
        self.prepared = False
        self.redelivers = False
        self.late: list[tuple[Cursor, Record, PageIterator]] = []

    def commit(self) -> None:
        for cursor, record, iterator in self.late:
            iterator.redeliver(record)
            info = cursor.pages.get(record.page)
            if info is not None:
                cursor.pending_done(info)
        self.late = []
        self.committed = True
        self.prepared = False

    def roll_back(self, known: dict[int, PageTransaction]) -> None:
        self.rolled_back = True
        self.committed = False
        self.prepared = False
        for cursor, record, _ in self.late:
            info = cursor.ignore(record)
            cursor.pending_done(info)
            self.finished(1, known)
        self.late = []

    def finished(self, count: int, known: dict[int, PageTransaction]) -> None:
        """So many of its messages are done with; forgotten once none is left."""
        self.messages -= count
        if self.messages <= 0:
            known.pop(self.id, None)
