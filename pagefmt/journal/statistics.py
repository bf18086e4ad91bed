"""What a journal consists of: records and bytes by type, references by queue, and what keeps its oldest file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from pagefmt.arrays import Ints
from pagefmt.journal.columns import QUEUE
from pagefmt.journal.files import JournalFile
from pagefmt.journal.held_messages import JournalMessages
from pagefmt.journal.load import LoadedJournal
from pagefmt.journal.numbers import Numbers
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
_BITS: Final = 8  # of a user type
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
    """Live records of one type that are about the same queues, by id. ``first``: the id of the first record."""

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
                keys = frames.kind.astype(np.int64) << _BITS | frames.user_type.view(np.uint8)
                for key in np.flatnonzero(np.bincount(keys)).tolist():
                    mine = keys == key
                    kind = RecordKind(key >> _BITS)
                    kind = _IN_TRANSACTION.get(kind, kind)
                    name = (kind, key & (1 << _BITS) - 1 if kind in _TYPED else 0)
                    records[name] += int(np.count_nonzero(mine))
                    sizes[name] += int(frames.total[mine].sum())
    live = _live(loaded)
    live[RecordKind.PREPARE, 0] = len(loaded.prepared)
    counts = [
        TypeCount(
            RecordKind(kind),
            type_name(_signed(user_type)) if kind in _TYPED else None,
            number,
            sizes[kind, user_type],
            live[kind, user_type],
        )
        for (kind, user_type), number in records.items()
    ]
    return sorted(counts, key=lambda row: (-row.bytes, row.kind, row.type or ""))


def _signed(byte: int) -> int:
    return byte - (1 << _BITS) if byte >> _BITS - 1 else byte


def _live(loaded: LoadedJournal) -> Counter[tuple[int, int]]:
    """Return how many records of each kind and type count, those of prepared transactions among them."""
    live: Counter[tuple[int, int]] = Counter()
    for rows in _live_rows(loaded):
        types, updates = loaded.columns.types.at(rows), loaded.columns.updates.at(rows)
        for update, kind in enumerate(_LIVE_KINDS):
            for user_type, number in Counter(types[updates == update].tolist()).items():
                live[kind, user_type] += number
    return live


def _live_rows(loaded: LoadedJournal) -> Iterator[Ints]:
    for numbers in (loaded.rows, *(Numbers(branch.rows) for branch in loaded.prepared)):
        yield from numbers.portions()


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


def oldest_file(loaded: LoadedJournal, messages: JournalMessages | None) -> OldestFile | None:
    """Return the oldest file with live records, None if no file has any.

    ``messages``: of the journal; None for one that has no messages. Records of a message, its references and
    acknowledgements count for the queues that have not acknowledged it, records about pages for the queue they name.
    """
    columns = loaded.columns
    first = min((int(rows.min()) for rows in _live_rows(loaded) if len(rows)), default=None)
    if first is None:
        return None
    number = int(np.searchsorted(columns.begins, first, "right")) - 1
    end = columns.begins[number + 1] if number + 1 < len(columns.begins) else len(columns)
    parts = [rows[(rows >= columns.begins[number]) & (rows < end)] for rows in _live_rows(loaded)]
    queues_of = _queues_by_message(messages, columns.ids.at(np.concatenate(parts)))
    groups: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    live = 0
    for mine in parts:
        live += len(mine)
        ids, types = columns.ids.at(mine), columns.types.at(mine)
        named = np.isin(types, _NAME_A_QUEUE) & (columns.sizes.at(mine) >= QUEUE)
        queue = np.zeros(len(mine), np.int64)
        queue[named] = columns.beginnings(mine[named], QUEUE).view(">i8")
        every = zip(types.tolist(), ids.tolist(), named.tolist(), queue.tolist(), strict=True)
        for user_type, record, is_named, queue_id in every:
            queues = (queue_id,) if is_named else queues_of.get(record, ())
            groups.setdefault((user_type, queues), []).append(record)
    holders = [Holder(type_name(kind), queues, len(ids), ids[0]) for (kind, queues), ids in groups.items()]
    return OldestFile(columns.files[number], live, tuple(sorted(holders, key=lambda row: (-row.records, row.type))))


def _queues_by_message(messages: JournalMessages | None, wanted: Ints) -> dict[int, tuple[int, ...]]:
    """Return for each of the ``wanted`` message ids the queues that have not acknowledged the message."""
    if messages is None:
        return {}
    references = messages.references
    chosen = np.flatnonzero(np.isin(messages.ids, wanted))
    waiting = np.flatnonzero(~references.acked & np.isin(references.message, chosen))
    by_message: dict[int, tuple[int, ...]] = {}
    ids = messages.ids[references.message[waiting]].tolist()
    for message, queue in zip(ids, references.queue[waiting].tolist(), strict=True):
        by_message[message] = (*by_message.get(message, ()), queue)
    return by_message
