"""All records of a history about messages, in columns, with what became of their transactions (docs/spec/history.md 2).

A broker that starts looks for what survives; here everything that was written counts, in the order in which it was
written, as long as it took effect.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from pagefmt.arrays import Ints, Mask, distinct, narrow
from pagefmt.history.files import HistoryListing, TimeBracket, WrittenFile, brackets, written_order
from pagefmt.journal.columns import JournalColumns
from pagefmt.journal.damage import JournalDamage, damage_of
from pagefmt.journal.fast_scan import JournalFrames
from pagefmt.journal.files import FileNote, JournalFile, not_read
from pagefmt.journal.numbers import Numbers
from pagefmt.journal.record_types import RecordType
from pagefmt.journal.records import RecordKind
from pagefmt.journal.scan import TornRecords
from pagefmt.journal.windows import frames_in_windows
from pagefmt.storage.files import FileStretches, NotReadable

# positions of effects that no record has
NEVER: Final = (1 << 31) - 1  # rolled back, or its transaction has no end
PREPARED: Final = NEVER - 1  # its transaction is prepared, and waits for its end
BEFORE: Final = -1  # before the first file: a compaction copied what was written earlier
_ABOUT_MESSAGES: Final = (
    RecordType.ADD_LARGE_MESSAGE,
    RecordType.ADD_MESSAGE,
    RecordType.ADD_MESSAGE_PROTOCOL,
    RecordType.ADD_REF,
    RecordType.ACKNOWLEDGE_REF,
    RecordType.UPDATE_DELIVERY_COUNT,
    RecordType.SET_SCHEDULED_DELIVERY_TIME,
    RecordType.PAGE_TRANSACTION,
    RecordType.ACKNOWLEDGE_CURSOR,
    RecordType.PAGE_CURSOR_COMPLETE,
    RecordType.ADD_MESSAGE_BODY,
)
_IN_TRANSACTION: Final = (RecordKind.ADD_TX, RecordKind.UPDATE_TX)
_ENDS: Final = (RecordKind.PREPARE, RecordKind.COMMIT, RecordKind.ROLLBACK)
_WITH_TYPE: Final = (RecordKind.ADD, RecordKind.UPDATE, RecordKind.EVENT, *_IN_TRANSACTION)
_WITH_ID: Final = (RecordKind.ADD, RecordKind.EVENT, RecordKind.ADD_TX)


@dataclass(frozen=True)
class HistoryRecords:
    """Records about messages as rows, in the order of the files' ids; ``order`` has the files as they were written.

    ``kinds``: of ``RecordKind``; ``transactions``: 0 for records outside of one. ``brackets``: of each file, in the
    order of ``columns.files``. ``ends``: positions behind the last record of each file of ``order``.
    """

    columns: JournalColumns
    kinds: Numbers
    transactions: Numbers
    order: tuple[int, ...]
    brackets: tuple[TimeBracket, ...]
    ends: tuple[int, ...]
    torn: tuple[tuple[JournalFile, TornRecords], ...]
    notes: tuple[FileNote, ...]
    _shifts: Ints

    @property
    def damage(self) -> JournalDamage | None:
        """Return what cannot be read, or None."""
        return damage_of(self.torn, self.notes)

    def file_numbers(self, rows: Ints) -> Ints:
        """Return for each row the index of its file in ``columns.files``."""
        return np.searchsorted(self.columns.begins, rows, "right") - 1

    def positions(self, rows: Ints) -> Ints:
        """Return the positions of rows among all records, in the order in which these were written."""
        return rows + self._shifts[self.file_numbers(rows)] if len(rows) else rows.astype(np.int64)

    def position_before(self, number: int, offset: int) -> int:
        """Return the position of the last record that ends before an offset of a file, which is read again."""
        file, first = self.columns.files[number], self.ends[self.order.index(number)] - self._rows_in(number)
        before = 0
        with FileStretches(file.path) as content:
            for frames in frames_in_windows(content, file.header, TornRecords()):
                before += int(np.count_nonzero(frames.at[_chosen(frames)] < offset))
        return first + before - 1

    def offsets(self, rows: Ints) -> Ints:
        """Return the offsets of records in their files, which are read again. Raise ``NotReadable``."""
        offsets, numbers = np.zeros(len(rows), np.int64), self.file_numbers(rows)
        for number in distinct(numbers).tolist():
            file, mine = self.columns.files[number], np.flatnonzero(numbers == number)
            with FileStretches(file.path) as content:
                windows = frames_in_windows(content, file.header, TornRecords())
                at = np.concatenate([np.zeros(0, np.int64), *(frames.at[_chosen(frames)] for frames in windows)])
            offsets[mine] = at[rows[mine] - self.columns.begins[number]]
        return offsets

    def end_row(self, row: int) -> int | None:
        """Return the row that ends the transaction of a row; None without a transaction, or if nothing ends it."""
        if self.kinds[row] not in _IN_TRANSACTION:
            return None
        ends = self.rows_of_kinds(RecordKind.COMMIT, RecordKind.ROLLBACK)
        ends = ends[self.transactions.at(ends) == self.transactions[row]]
        at = self.positions(ends)
        later = ends[at > self.positions(np.array([row]))[0]]
        return int(later[np.argmin(self.positions(later))]) if len(later) else None

    def _rows_in(self, number: int) -> int:
        begins = [*self.columns.begins, len(self.columns)]
        return begins[number + 1] - begins[number]

    def rows_of(self, *user_types: int) -> Ints:
        """Return the rows with records of these types, in the order in which they were written."""
        rows = _rows_with(self.columns.types, user_types)
        if self.order == tuple(range(len(self.order))):
            return rows
        return rows[np.argsort(self.positions(rows), kind="stable")]

    def rows_of_kinds(self, *kinds: int) -> Ints:
        """Return the rows with records of these kinds, in the order of the files' ids."""
        return _rows_with(self.kinds, kinds)

    def effects(self, rows: Ints) -> Ints:
        """Return the positions at which rows took effect, that of the commit for a row of a transaction.

        ``NEVER`` if that was rolled back or has no end, ``PREPARED`` if it waits for its end.
        """
        at = self.positions(rows)
        inside = np.flatnonzero(np.isin(self.kinds.at(rows), _IN_TRANSACTION))
        if len(inside):
            at[inside] = self._ends_after(self.transactions.at(rows[inside]), at[inside])
        return at

    def _ends_after(self, transactions: Ints, at: Ints) -> Ints:
        """Return where transactions took effect whose records are at these positions.

        The first end behind a record counts: a broker may use the id of a transaction again after a restart.
        """
        transaction, end, effect = self._transaction_ends
        if not len(transaction):
            return np.full(len(transactions), NEVER)
        span = self.ends[-1] + 1
        distinct_ids = distinct(transaction)
        which = np.searchsorted(distinct_ids, transactions).clip(max=len(distinct_ids) - 1)
        first = np.searchsorted(np.searchsorted(distinct_ids, transaction) * span + end, which * span + at)
        first = first.clip(max=len(transaction) - 1)
        has_end = (transaction[first] == transactions) & (end[first] > at)
        return np.where(has_end, effect[first], NEVER)

    @cached_property
    def _transaction_ends(self) -> tuple[Ints, Ints, Ints]:
        """Return the ends of transactions by id and position: id, position, and where the transaction took effect.

        A PREPARE is an end if no other one follows.
        """
        rows = self.rows_of_kinds(*_ENDS)
        kinds, transactions, at = self.kinds.at(rows), self.transactions.at(rows), self.positions(rows)
        order = np.lexsort((at, transactions))
        kinds, transactions, at = kinds[order], transactions[order], at[order]
        ended = np.append(transactions[1:] == transactions[:-1], False)[: len(order)]
        kept = (kinds != RecordKind.PREPARE) | ~ended
        effect = np.where(kinds == RecordKind.COMMIT, at, np.where(kinds == RecordKind.PREPARE, PREPARED, NEVER))
        return transactions[kept], at[kept], effect[kept]

    def is_event(self, rows: Ints) -> Mask:
        """Return which rows are events, which a broker writes for paged messages and for pieces of large bodies."""
        events: Mask = self.kinds.at(rows) == RecordKind.EVENT
        return events

    def is_copy(self, rows: Ints) -> Mask:
        """Return which rows were written by a compaction, as copies of earlier records."""
        copies: Mask = self.columns.compacts.at(rows) > 0
        return copies


def read_records(listing: HistoryListing, advance: Callable[[int], None] = lambda _bytes: None) -> HistoryRecords:
    """Read all files of a history. Memory: one window of a file, and some twenty bytes for each record about messages.

    Files that cannot be read become notes. ``advance`` is called with the bytes of each file that was read.
    """
    reading = _Reading(JournalColumns(listing.files))
    torn, notes = [], list(listing.notes)
    for file in listing.files:
        torn_records = TornRecords()
        try:
            reading.file(file, torn_records)
            torn.append((file, torn_records))
        except NotReadable as err:
            notes.append(not_read(file.name, err, file.size))
        advance(file.size)
    return reading.finish(listing, torn, notes)


def _rows_with(column: Numbers, values: Sequence[int]) -> Ints:
    """Return the rows in which a column has one of these values, ascending, in few bytes each."""
    some, start = [narrow(np.zeros(0, np.int64))], 0
    for portion in column.portions():
        some.append(narrow(np.flatnonzero(np.isin(portion, values)) + start))
        start += len(portion)
    return np.concatenate(some)


def _chosen(frames: JournalFrames) -> Ints:
    """Return the records of a window that are about messages, and the ends of transactions."""
    about = np.isin(frames.kind, _WITH_TYPE) & np.isin(frames.user_type, _ABOUT_MESSAGES)
    return np.flatnonzero(about | np.isin(frames.kind, _ENDS))


class _Reading:
    """The state of reading between two windows."""

    def __init__(self, columns: JournalColumns) -> None:
        self.columns = columns
        self.kinds = Numbers()
        self.transactions = Numbers()
        self.written: list[WrittenFile] = []

    def file(self, file: JournalFile, torn: TornRecords) -> None:
        self.columns.begin()
        self.written.append(WrittenFile(file.header.file_id, is_compacted=False, newest=None))
        with FileStretches(file.path) as content:
            for frames in frames_in_windows(content, file.header, torn):
                self.take(frames)

    def take(self, frames: JournalFrames) -> None:
        """Add the records of a window that are about messages."""
        self._note(frames)
        rows = _chosen(frames)
        if len(rows):
            self.columns.extend(frames, rows)
            self.kinds.extend(frames.kind[rows].astype(np.int64))
            self.transactions.extend(frames.tx[rows].astype(np.int64))

    def _note(self, frames: JournalFrames) -> None:
        """Note what places the file among the others."""
        fresh = frames.compact == 0
        new_ids = np.where(np.isin(frames.kind, _WITH_ID), np.maximum(frames.id, frames.tx), frames.tx)[fresh]
        before = self.written[-1]
        newest = int(new_ids.max(initial=0)) or None
        if before.newest is not None:
            newest = max(before.newest, newest or 0)
        is_compacted = before.is_compacted or not fresh.all()
        self.written[-1] = before._replace(is_compacted=is_compacted, newest=newest)

    def finish(
        self, listing: HistoryListing, torn: list[tuple[JournalFile, TornRecords]], notes: list[FileNote]
    ) -> HistoryRecords:
        order = written_order(self.written)
        begins = np.array([*self.columns.begins, len(self.columns)], np.int64)
        shifts, ends, at = np.zeros(len(order), np.int64), [], 0
        for n in order:
            shifts[n] = at - begins[n]
            at += int(begins[n + 1] - begins[n])
            ends.append(at)
        files = self.columns.files
        times: list[TimeBracket] = [TimeBracket(None, None)] * len(order)
        for n, bracket in zip(order, brackets([files[n].name for n in order], listing.copied), strict=True):
            times[n] = bracket
        return HistoryRecords(
            self.columns,
            self.kinds,
            self.transactions,
            tuple(order),
            tuple(times),
            tuple(ends),
            tuple(torn),
            tuple(notes),
            shifts,
        )
