"""The facts of the message journal that matter to paging (docs/spec/journal.md 5, 7.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from pagefmt.journal.columns import QUEUE
from pagefmt.journal.files import Journal
from pagefmt.journal.load import JournalRow, LoadedJournal, PreparedTransaction, UnreadableRecord, load_journal
from pagefmt.journal.numbers import TOGETHER
from pagefmt.journal.position_bodies import SIZE as POSITION
from pagefmt.journal.positions import PositionIndex, Positions
from pagefmt.journal.record_types import MESSAGES, RecordType

if TYPE_CHECKING:
    from pagefmt.arrays import Ints, Mask
    from pagefmt.journal.bodies import Body, PageTransaction, Xid


@dataclass(frozen=True, slots=True)
class InDoubtTransaction:
    """One prepared transaction: ``sends`` are ids of page transactions, ``references`` pairs (message, queue)."""

    tx: int
    xid: Xid | None
    sends: tuple[PageTransaction, ...]
    acks: Positions
    references: tuple[tuple[int, int], ...]
    other: int


@dataclass(slots=True)
class MessageJournal:
    """What a broker knows after loading its message journal.

    ``loaded``: what was given, without the acknowledged positions: they are in ``ack_index``.
    ``page_transactions``: id → references to durable queues; ``page_acknowledged``: id → how many of them the
    journal has as acknowledged; ``in_doubt_acks``, ``in_doubt_sends``: what prepared transactions hold back.
    """

    loaded: LoadedJournal
    completes: Positions = field(default_factory=Positions)
    page_transactions: dict[int, int] = field(default_factory=dict)
    page_acknowledged: Counter[int] = field(default_factory=Counter)
    prepared: tuple[InDoubtTransaction, ...] = ()
    bad: list[UnreadableRecord] = field(default_factory=list)
    _bad: set[UnreadableRecord] = field(default_factory=set)
    ack_index: PositionIndex = field(init=False)
    complete_index: PositionIndex = field(init=False)
    in_doubt_acks: PositionIndex = field(init=False)
    in_doubt_sends: frozenset[int] = field(init=False)

    def __post_init__(self) -> None:
        self._read_rows()
        self.loaded = self.loaded.without(RecordType.ACKNOWLEDGE_CURSOR)
        self.prepared = tuple(self._in_doubt(branch_) for branch_ in self.loaded.prepared)
        self.complete_index = PositionIndex(self.completes.chunks)
        held = Positions()
        for branch in self.prepared:
            for ack in branch.acks:
                held.add(*ack)
        self.in_doubt_acks = PositionIndex(held.chunks)
        self.in_doubt_sends = frozenset(send.tx for branch in self.prepared for send in branch.sends)

    def _read_rows(self) -> None:
        from pagefmt.journal.bodies import CursorAck

        loaded, acks = self.loaded, RecordType.ACKNOWLEDGE_CURSOR
        longer = Positions()
        for row in loaded.other_sizes(acks, POSITION):
            if isinstance(ack := self.body(row), CursorAck):
                longer.add(loaded.columns.ids[row], ack.queue, ack.page, ack.number)
        self.ack_index = PositionIndex(lambda: chain(loaded.columns.positions(loaded.rows, acks), longer.chunks()))
        # one type after the other: of two that cannot be read the first is told first
        for kind in (RecordType.PAGE_CURSOR_COMPLETE, RecordType.PAGE_TRANSACTION):
            for row in loaded.rows_of(kind):
                self._read(row)

    def _read(self, row: int) -> None:
        from pagefmt.journal.bodies import PageComplete, PageTransaction

        columns = self.loaded.columns
        match self.body(row):
            case PageComplete(queue, page, messages):
                self.completes.add(columns.ids[row], queue, page, messages)
            case PageTransaction(tx, references) if columns.updates[row]:
                self.page_acknowledged[tx] += references
            case PageTransaction(tx, references):
                self.page_transactions[tx] = references

    def body(self, row: int) -> Body | None:
        """Decode the body of a row. Return None if it cannot be decoded.

        Adds an entry to ``bad`` in that case, and also if the body is too long.
        """
        from pagefmt.journal.bodies import BadBody, Xid, decode_body

        columns = self.loaded.columns
        try:
            return decode_body(columns.types[row], columns.body(row))
        except BadBody as err:
            bad = UnreadableRecord(columns.ids[row], columns.types[row], str(err), err.longer)
            if bad not in self._bad:
                self._bad.add(bad)
                self.bad.append(bad)
            return None if isinstance(err.value, Xid) else err.value

    def _in_doubt(self, prepared: PreparedTransaction) -> InDoubtTransaction:
        from pagefmt.journal.bodies import CursorAck, PageTransaction, QueueRef

        acks = Positions()
        sends: list[PageTransaction] = []
        references: list[tuple[int, int]] = []
        other = len(prepared.deletes)
        columns = self.loaded.columns
        for row in prepared.rows:
            match columns.types[row], self.body(row):
                case _, CursorAck(queue, page, number):
                    acks.add(columns.ids[row], queue, page, number)
                case _, PageTransaction() as send if not columns.updates[row]:
                    sends.append(send)
                case RecordType.ACKNOWLEDGE_REF, QueueRef(queue):
                    references.append((columns.ids[row], queue))
                case _:
                    other += 1
        return InDoubtTransaction(prepared.tx, _xid(prepared.xid), tuple(sends), acks, tuple(references), other)

    def of_type(self, *user_types: int) -> Iterator[JournalRow]:
        """Surviving records of these user types in load order."""
        return map(self.loaded.record, self.loaded.rows_of(*user_types))

    def decoded(self, *user_types: int) -> Iterator[tuple[JournalRow, Body]]:
        """Yield the records of these types with their bodies; undecodable ones are left out and listed in ``bad``."""
        for row in self.of_type(*user_types):
            body = self.body(row.row)
            if body is not None:
                yield row, body

    def messages(self) -> Iterator[tuple[JournalRow, bytes]]:
        """Yield messages in the journal (types 30, 31, 45) with their encoded form."""
        return ((row, self.loaded.columns.body(row.row)) for row in self.of_type(*MESSAGES))

    def references(self) -> Iterator[tuple[int, int, bool]]:
        """Yield (message, queue, acknowledged) of messages in the journal, in load order."""
        message, queue, acknowledged = self.reference_columns()
        for start in range(0, len(message), TOGETHER):
            part = slice(start, start + TOGETHER)
            yield from zip(*(column[part].tolist() for column in (message, queue, acknowledged)), strict=True)

    def reference_columns(self) -> tuple[Ints, Ints, Mask]:
        """Return what ``references`` yields, as columns.

        Memory: some sixty bytes per reference while they are built, then seventeen.
        """
        import numpy as np

        added, done = self._refs(RecordType.ADD_REF), self._refs(RecordType.ACKNOWLEDGE_REF)
        message, queue = (np.concatenate(both) for both in zip(added, done, strict=True))
        order = np.lexsort((queue, message))  # stable: the first of each pair is the first that was added
        new = np.ones(len(order), bool)
        new[1:] = (np.diff(message[order]) != 0) | (np.diff(queue[order]) != 0)
        starts = np.flatnonzero(new)
        first = order[starts]
        acknowledged = np.logical_or.reduceat(order >= len(added[0]), starts) if len(starts) else new
        kept = np.flatnonzero(first < len(added[0]))
        kept = kept[np.argsort(first[kept])]
        return message[first[kept]], queue[first[kept]], acknowledged[kept]

    def _refs(self, user_type: RecordType) -> tuple[Ints, Ints]:
        """Return the message ids and queue ids of references of a type."""
        import numpy as np

        columns = self.loaded.columns
        for row in self.loaded.other_sizes(user_type, QUEUE):
            self.body(row)  # notes what is wrong with it
        parts = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
        for every in self.loaded.rows_of(user_type).portions():
            rows = every[columns.sizes.at(every) >= QUEUE]
            parts.append((columns.ids.at(rows), columns.beginnings(rows, QUEUE).view(">i8").astype(np.int64)))
        message, queue = zip(*parts, strict=True)
        return np.concatenate(message), np.concatenate(queue)


def _xid(stored: bytes) -> Xid | None:
    from pagefmt.journal.bodies import BadBody, decode_xid

    try:
        return decode_xid(stored)
    except BadBody:
        return None


def load_messages(folder: Path) -> MessageJournal:
    """Load the message journal of a folder. Memory: one file, and compact arrays of its records."""
    return MessageJournal(load_journal(folder, Journal.MESSAGES))
