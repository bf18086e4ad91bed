"""What survives of a journal: transactions and deletes applied as at a broker's start (docs/spec/journal.md 3.2)."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pagefmt.errors import PageFmtError
from pagefmt.journal.columns import JournalColumns
from pagefmt.journal.damage import JournalDamage, damage_of
from pagefmt.journal.files import FileNote, FileProblem, Journal, JournalFile, JournalListing, not_read
from pagefmt.journal.listing import list_files
from pagefmt.journal.numbers import TOGETHER, Numbers
from pagefmt.journal.record_types import MESSAGES, type_name
from pagefmt.journal.records import JournalFrame, RecordKind
from pagefmt.journal.scan import JournalBytes, TornRecords
from pagefmt.quantities import count_text
from pagefmt.storage.files import FileStretches, NotReadable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from pagefmt.journal.fast_scan import Ints, JournalFrames

# Attempts to read a journal while it keeps changing.
TRIES: Final = 5
_MESSAGES: Final = sorted(MESSAGES)
_WITH_ROWS: Final = (RecordKind.ADD, RecordKind.UPDATE, RecordKind.ADD_TX, RecordKind.UPDATE_TX, RecordKind.DELETE_TX)


class JournalMoves(PageFmtError):
    """A journal that a broker changed each time while it was read."""


class JournalRow(NamedTuple):
    """One surviving record. ``body`` is left in its file until asked for: ``LoadedJournal.columns.body(row)``."""

    row: int
    id: int
    user_type: int
    update: bool
    compact: int
    size: int


class UnreadableRecord(NamedTuple):
    """A surviving record whose body does not fit its type. ``longer``: no more than that; else no broker starts."""

    record: int
    user_type: int
    detail: str
    longer: bool = False


class MisplacedRecords(NamedTuple):
    """Surviving records of types that do not belong into a journal. ``text``: how many of which types."""

    rows: Numbers
    ids: frozenset[int]
    text: str


class PreparedTransaction(NamedTuple):
    """A transaction in doubt: ``xid`` as stored, rows of its records and of its deletes in the order of arrival.

    ``file``: the number of the file in which it was prepared.
    """

    tx: int
    xid: bytes
    rows: array[int]
    deletes: array[int]
    file: int = 0


class DroppedTransaction(NamedTuple):
    """A transaction that a broker does not carry out: never ended, or fewer records than its end names.

    ``open``: nothing in the journal ends it.
    """

    tx: int
    records: int
    reason: str
    open: bool = False


@dataclass(slots=True)
class _OpenTransaction:
    rows: array[int] = field(default_factory=lambda: array("q"))
    deletes: array[int] = field(default_factory=lambda: array("q"))
    per_file: Counter[int] = field(default_factory=Counter)
    xid: bytes | None = None
    file: int = 0
    invalid: bool = False


@dataclass(frozen=True, slots=True)
class LoadedJournal:
    """A journal after loading. ``rows`` are the survivors in load order; ``torn`` has an entry for each file.

    ``paged``: events that keep a copy of a paged message, which a broker with journal retention writes and never loads.
    """

    columns: JournalColumns
    rows: Numbers
    prepared: tuple[PreparedTransaction, ...]
    dropped: tuple[DroppedTransaction, ...]
    torn: tuple[tuple[JournalFile, TornRecords], ...]
    notes: tuple[FileNote, ...]
    paged: int = 0

    @property
    def files(self) -> tuple[JournalFile, ...]:
        """Return the files in load order."""
        return tuple(file for file, _ in self.torn)

    def written_to(self, file: JournalFile) -> bool:
        """Return whether no later file has records, so that a running broker writes to this one."""
        behind = self.torn[self.files.index(file) + 1 :]
        return not any(torn.holds_records for _, torn in behind)

    @property
    def damage(self) -> JournalDamage | None:
        """Return what cannot be read, or None if the journal is as a broker leaves it."""
        return damage_of(self.torn, self.notes)

    @property
    def is_continued(self) -> bool:
        """Return whether several files have one id: a broker continued one that a compaction had written.

        Then a record may be in two of them, and a later one deleted already.
        """
        return any(note.kind is FileProblem.CONTINUED for note in self.notes)

    def newest(self, rows: Iterable[int]) -> bool:
        """Return whether one of the rows comes from the file that a running broker writes to."""
        return any(self.written_to(self.columns.file_of(row)) for row in rows)

    def records(self) -> Iterator[JournalRow]:
        """Yield the surviving records in load order."""
        return map(self.record, self.rows)

    def live_rows(self) -> Iterator[Ints]:
        """Yield the rows of records that count: the survivors, then records and deletes of prepared transactions."""
        branches = [numbers for branch in self.prepared for numbers in (branch.rows, branch.deletes)]
        for numbers in (self.rows, *map(Numbers, branches)):
            yield from numbers.portions()

    def rows_of(self, *user_types: int) -> Numbers:
        """Return the rows of surviving records of these user types, in load order."""
        if not self.rows:
            return self.rows
        import numpy as np

        return _chosen(self.rows, lambda rows: np.isin(self.columns.types.at(rows), user_types))

    def misplaced(self, own: Collection[int]) -> MisplacedRecords | None:
        """Return the survivors that are of none of the journal's ``own`` user types, or None if there are none."""
        if not self.rows:
            return None
        import numpy as np

        rows = _chosen(self.rows, lambda rows: ~np.isin(self.columns.types.at(rows), list(own)))
        if not rows:
            return None
        kinds = ", ".join(sorted({type_name(self.columns.types[row]) for row in rows}))
        text = f"{count_text(len(rows), 'record')} of a type that does not belong there ({kinds})"
        return MisplacedRecords(rows, frozenset(self.columns.ids[row] for row in rows), text)

    def other_sizes(self, user_type: int, size: int) -> Numbers:
        """Return the rows of surviving records of a type whose body has another size."""
        types, sizes = self.columns.types, self.columns.sizes
        return _chosen(self.rows, lambda rows: (types.at(rows) == user_type) & (sizes.at(rows) != size))

    def without(self, user_type: int) -> LoadedJournal:
        """Return the journal without the survivors of a type, and without the records that did not survive."""
        if not self.rows:
            return self
        import numpy as np

        rows = _chosen(self.rows, lambda rows: self.columns.types.at(rows) != user_type)
        in_doubt = [
            np.frombuffer(numbers, np.int64) for branch in self.prepared for numbers in (branch.rows, branch.deletes)
        ]
        kept = np.zeros(len(self.columns), bool)
        for some in (*rows.portions(), *in_doubt):
            kept[some] = True
        before, left = np.zeros(len(kept) + 1, np.int32), Numbers()
        np.cumsum(kept, out=before[1:])
        for start in range(0, len(kept), TOGETHER):
            left.extend(start + np.flatnonzero(kept[start : start + TOGETHER]))

        def again(rows: array[int]) -> array[int]:
            return array("q", before[np.frombuffer(rows, np.int64)].astype(np.int64).tobytes())

        prepared = tuple(
            branch._replace(rows=again(branch.rows), deletes=again(branch.deletes)) for branch in self.prepared
        )
        now = Numbers()
        for some in rows.portions():
            now.extend(before[some].astype(np.int64))
        columns = self.columns.of_rows(left, before[self.columns.begins].tolist())
        return replace(self, columns=columns, rows=now, prepared=prepared)

    def record(self, row: int) -> JournalRow:
        """Return the record in a row of the columns."""
        col = self.columns
        return JournalRow(row, col.ids[row], col.types[row], bool(col.updates[row]), col.compacts[row], col.sizes[row])


def load_journal(folder: Path, journal: Journal = Journal.MESSAGES) -> LoadedJournal:
    """Load one journal of a folder. Memory: one file at a time, and the columns.

    A running broker compacts its journal, gives files new numbers, and is in the middle of a record: what is loaded
    counts where the same files are there before and after, new ones at the end aside, and damage where it is met twice.
    Raises ``JournalMoves`` after ``TRIES``, ``NotAJournal`` where the folder cannot be listed.
    """
    before: JournalDamage | None = None
    for _ in range(TRIES):
        listing = list_files(folder, journal)
        loaded = load_files(listing)
        after = list_files(folder, journal)
        still = after.notes == listing.notes and after.files[: len(listing.files)] == listing.files
        if still and loaded.damage == before:
            return loaded
        before = loaded.damage
        del loaded
    raise JournalMoves(f"{folder}: a running broker changed its files in each of {TRIES} tries; try again")


def load_files(listing: JournalListing) -> LoadedJournal:
    """Load the files of a listing in its order."""
    loading = _Loader(JournalColumns(listing.files))
    torn, notes = [], list(listing.notes)
    for number, file in enumerate(listing.files):
        torn_records = TornRecords()
        try:
            loading.file(number, file, torn_records)
            torn.append((file, torn_records))
        except NotReadable as err:
            notes.append(not_read(file.name, err, file.size))
    return loading.finish(tuple(torn), tuple(notes))


class _Loader:
    """The state of a load between two records."""

    def __init__(self, columns: JournalColumns) -> None:
        self.columns = columns
        self.rows = Numbers()
        self.deleted = Numbers()
        self.open: dict[int, _OpenTransaction] = {}
        self.dropped: list[DroppedTransaction] = []
        self.paged = 0

    def file(self, number: int, file: JournalFile, torn: TornRecords) -> None:
        self.columns.begin()
        with FileStretches(file.path) as opened:
            self.in_windows(number, file, opened, torn)

    def in_windows(self, number: int, file: JournalFile, buf: FileStretches, torn: TornRecords) -> None:
        """Load a file window by window in columns; only transactions that span windows are loaded record by record."""
        from pagefmt.journal.windows import frames_in_windows

        for frames in frames_in_windows(buf, file.header, torn):
            self.take(number, frames, buf)

    def take(self, number: int, frames: JournalFrames, buf: JournalBytes) -> None:
        """Add the records of a window, which follow those already added."""
        import numpy as np

        from pagefmt.journal.transactions import settled

        self.paged += int(np.count_nonzero((frames.kind == RecordKind.EVENT) & np.isin(frames.user_type, _MESSAGES)))
        done = settled(frames, self.open)
        self.deleted.extend(frames.id[done.deletes])
        kept = np.flatnonzero(np.isin(frames.kind, _WITH_ROWS))
        row_of = np.full(len(frames.kind), -1, np.int64)
        row_of[kept] = self.columns.extend(frames, kept) + np.arange(len(kept))
        upto = 0
        for row in done.others.tolist():
            # Settled rows take effect before this record, which is handled one by one: its transaction spans windows.
            before, upto = upto, int(np.searchsorted(done.when, row))
            self.rows.extend(row_of[done.rows[before:upto]])
            self.in_transaction(frames.frame(row), buf, number, int(row_of[row]))
        self.rows.extend(row_of[done.rows[upto:]])

    def in_transaction(self, frame: JournalFrame, buf: JournalBytes, number: int, row: int) -> None:
        """``row``: of the record, where its kind has one."""
        match frame.kind:
            case RecordKind.ADD_TX | RecordKind.UPDATE_TX | RecordKind.DELETE_TX:
                tx = self.open.setdefault(frame.tx, _OpenTransaction())
                kept = tx.deletes if frame.kind == RecordKind.DELETE_TX else tx.rows
                kept.append(row)
                tx.per_file[number] += 1
            case RecordKind.PREPARE:
                tx = self.open.setdefault(frame.tx, _OpenTransaction())
                tx.xid = bytes(buf[frame.body : frame.body + frame.size])
                tx.file = number
                tx.invalid = tx.per_file[number] != frame.records
            case RecordKind.COMMIT:
                self.commit(frame, number)
            case RecordKind.ROLLBACK:
                self.open.pop(frame.tx, None)

    def commit(self, frame: JournalFrame, number: int) -> None:
        tx = self.open.pop(frame.tx, None)
        if tx is None and not frame.records:
            return  # its records were in files that are not needed any more
        tx = tx or _OpenTransaction()
        count = tx.per_file[number]
        if count != frame.records:
            reason = f"its commit counts {count_text(frame.records, 'record')} in that file, but there are {count}"
            self.dropped.append(DroppedTransaction(frame.tx, len(tx.rows) + len(tx.deletes), reason))
            return
        self.rows.extend(tx.rows)
        ids = self.columns.ids
        self.deleted.extend(array("q", [ids[row] for row in tx.deletes]))

    def finish(self, torn: tuple[tuple[JournalFile, TornRecords], ...], notes: tuple[FileNote, ...]) -> LoadedJournal:
        prepared = []
        for number, tx in self.open.items():
            if tx.xid is not None and not tx.invalid:
                prepared.append(PreparedTransaction(number, tx.xid, tx.rows, tx.deletes, tx.file))
                continue
            reason = "neither committed nor rolled back" if tx.xid is None else "prepared, but records are missing"
            self.dropped.append(DroppedTransaction(number, len(tx.rows) + len(tx.deletes), reason, open=tx.xid is None))
        rows = without(self.rows, self.columns.ids, self.deleted)
        return LoadedJournal(self.columns, rows, tuple(prepared), tuple(self.dropped), torn, notes, self.paged)


def without(rows: Numbers, ids: Numbers, deleted: Numbers) -> Numbers:
    """Return the rows whose id was not deleted, in order.

    Ids are never reused, so the order of deletes does not matter.
    """
    if not rows or not deleted:
        return rows
    import numpy as np

    gone = np.sort(deleted.every())

    def stays(rows: Ints) -> npt.NDArray[np.bool_]:
        wanted = ids.at(rows)
        missing: npt.NDArray[np.bool_] = gone[np.searchsorted(gone, wanted).clip(max=len(gone) - 1)] != wanted
        return missing

    return _chosen(rows, stays)


def _chosen(rows: Numbers, choose: Callable[[Ints], npt.NDArray[np.bool_]]) -> Numbers:
    """Return the rows that ``choose`` selects."""
    chosen = Numbers()
    for some in rows.portions():
        chosen.extend(some[choose(some)])
    return chosen
