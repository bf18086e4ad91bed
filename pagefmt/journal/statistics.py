"""What a journal consists of: records and bytes by type, references by queue, and what keeps its oldest file."""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

import numpy as np

from pagefmt.arrays import Ints
from pagefmt.journal.columns import QUEUE
from pagefmt.journal.files import JournalFile
from pagefmt.journal.held_messages import JournalMessages
from pagefmt.journal.load import LoadedJournal
from pagefmt.journal.record_types import RecordType, type_name
from pagefmt.journal.records import RecordKind
from pagefmt.journal.scan import TornRecords
from pagefmt.journal.windows import frames_in_windows
from pagefmt.storage.files import FileStretches

_IN_TRANSACTION: Final = {
    RecordKind.ADD_TX: RecordKind.ADD, RecordKind.UPDATE_TX: RecordKind.UPDATE, RecordKind.DELETE_TX: RecordKind.DELETE,
}  # fmt: skip
_TYPED: Final = (RecordKind.EVENT, RecordKind.ADD, RecordKind.UPDATE)
_LIVE_KINDS: Final = (RecordKind.ADD, RecordKind.UPDATE)
_BITS: Final = 8  # of a user type, which is signed
_LOWEST: Final = 1 << _BITS - 1
_NO_TYPE: Final = 0  # of kinds without a type; of rows it means a delete of a prepared transaction
# records about pages: their bodies begin with the id of a queue
_NAME_A_QUEUE: Final = (
    RecordType.ACKNOWLEDGE_CURSOR,
    RecordType.PAGE_CURSOR_COMPLETE,
    RecordType.PAGE_CURSOR_COUNTER_VALUE,
    RecordType.PAGE_CURSOR_COUNTER_INC,
    RecordType.PAGE_CURSOR_PENDING_COUNTER,
)


class TypeCount(NamedTuple):
    """Records of one kind and type. ``type``: None for kinds without one. ``bytes``: of whole records.

    ``live``: how many a broker loads at its start.
    """

    kind: RecordKind
    type: str | None
    records: int
    bytes: int
    live: int


class WaitingCount(NamedTuple):
    """Messages in the journal that a queue has not acknowledged, and the bytes of their records' bodies."""

    queue: int
    references: int
    bytes: int


class Holder(NamedTuple):
    """Live records of one type that are about the same queues, by id. ``first``: the id of the first record.

    ``type`` is PREPARE or DELETE for such records of prepared transactions; the id of a PREPARE is its transaction.
    """

    type: str
    queues: tuple[int, ...]
    records: int
    first: int


class OldestFile(NamedTuple):
    """The oldest file with live records, which a broker cannot reuse. ``holders``: most records first."""

    file: JournalFile
    live: int
    holders: tuple[Holder, ...]


def type_counts(loaded: LoadedJournal) -> list[TypeCount]:
    """Return the records of all files by kind and type, most bytes first. Records in transactions count as others.

    Every file is read once more, window by window. Raises ``NotReadable``.
    """
    records: Counter[tuple[int, int]] = Counter()
    sizes: Counter[tuple[int, int]] = Counter()
    for file in loaded.files:
        with FileStretches(file.path) as content:
            for frames in frames_in_windows(content, file.header, TornRecords()):
                keys = (frames.kind.astype(np.int64) << _BITS) + (frames.user_type.astype(np.int64) + _LOWEST)
                for key in np.flatnonzero(np.bincount(keys)).tolist():
                    mine = keys == key
                    kind = RecordKind(key >> _BITS)
                    kind = _IN_TRANSACTION.get(kind, kind)
                    name = (kind, (key & (1 << _BITS) - 1) - _LOWEST if kind in _TYPED else _NO_TYPE)
                    records[name] += int(np.count_nonzero(mine))
                    sizes[name] += int(frames.total[mine].sum())
    live = _live(loaded)
    live[RecordKind.PREPARE, _NO_TYPE] = len(loaded.prepared)
    counts = [
        TypeCount(
            RecordKind(kind),
            type_name(user_type) if kind in _TYPED else None,
            number,
            sizes[kind, user_type],
            live[kind, user_type],
        )
        for (kind, user_type), number in records.items()
    ]
    return sorted(counts, key=lambda row: (-row.bytes, row.kind, row.type or ""))


def _live(loaded: LoadedJournal) -> Counter[tuple[int, int]]:
    """Return how many records of each kind and type count, those of prepared transactions among them."""
    live: Counter[tuple[int, int]] = Counter()
    for rows in loaded.live_rows():
        types, updates = loaded.columns.types.at(rows), loaded.columns.updates.at(rows)
        for update, kind in enumerate(_LIVE_KINDS):
            for user_type, number in Counter(types[updates == update].tolist()).items():
                live[RecordKind.DELETE if user_type == _NO_TYPE else kind, user_type] += number
    return live


def queue_counts(messages: JournalMessages) -> list[WaitingCount]:
    """Return the unacknowledged references by queue, most bytes first."""
    waiting = ~messages.references.acked
    queues, which = np.unique(messages.references.queue[waiting], return_inverse=True)
    sizes = messages.columns.sizes.at(messages.rows[messages.references.message[waiting]])
    counts, totals = np.bincount(which, minlength=len(queues)), np.bincount(which, sizes, len(queues))
    rows = [
        WaitingCount(*row)
        for row in zip(queues.tolist(), counts.tolist(), totals.astype(np.int64).tolist(), strict=True)
    ]
    return sorted(rows, key=lambda row: (-row.bytes, row.queue))


def oldest_file(loaded: LoadedJournal, messages: JournalMessages) -> OldestFile | None:
    """Return the oldest file with live records, None if no file has any.

    ``messages`` are those of the journal. Records of a message, its references and acknowledgements count for the
    queues that have not acknowledged it, records about pages for the queue that they name.
    """
    columns = loaded.columns
    first = [int(rows.min()) for rows in loaded.live_rows() if len(rows)]
    files = [*(np.searchsorted(columns.begins, first, "right") - 1), *(branch.file for branch in loaded.prepared)]
    if not files:
        return None
    number = int(min(files))
    end = columns.begins[number + 1] if number + 1 < len(columns.begins) else len(columns)
    parts = [rows[(rows >= columns.begins[number]) & (rows < end)] for rows in loaded.live_rows()]
    queues_of = _queues_by_message(messages, columns.ids.at(np.concatenate([np.zeros(0, np.int64), *parts])))
    groups: dict[tuple[str, tuple[int, ...]], list[int]] = {}
    for branch in loaded.prepared:
        if branch.file == number:
            groups.setdefault((RecordKind.PREPARE.name, ()), []).append(branch.tx)
    for mine in parts:
        ids, types = columns.ids.at(mine), columns.types.at(mine)
        named = np.isin(types, _NAME_A_QUEUE) & (columns.sizes.at(mine) >= QUEUE)
        queue = np.zeros(len(mine), np.int64)
        queue[named] = columns.beginnings(mine[named], QUEUE).view(">i8")
        every = zip(types.tolist(), ids.tolist(), named.tolist(), queue.tolist(), strict=True)
        for user_type, record, is_named, queue_id in every:
            queues = (queue_id,) if is_named else queues_of.get(record, ())
            name = RecordKind.DELETE.name if user_type == _NO_TYPE else type_name(user_type)
            groups.setdefault((name, queues), []).append(record)
    holders = [Holder(name, queues, len(ids), ids[0]) for (name, queues), ids in groups.items()]
    holders.sort(key=lambda row: (-row.records, row.type))
    return OldestFile(columns.files[number], sum(row.records for row in holders), tuple(holders))


def _queues_by_message(messages: JournalMessages, wanted: Ints) -> dict[int, tuple[int, ...]]:
    """Return for each of the ``wanted`` message ids the queues that have not acknowledged the message."""
    references = messages.references
    chosen = np.flatnonzero(np.isin(messages.ids, wanted))
    waiting = np.flatnonzero(~references.acked & np.isin(references.message, chosen))
    by_message: dict[int, tuple[int, ...]] = {}
    ids = messages.ids[references.message[waiting]].tolist()
    for message, queue in zip(ids, references.queue[waiting].tolist(), strict=True):
        by_message[message] = (*by_message.get(message, ()), queue)
    return by_message
