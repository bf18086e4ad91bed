"""The messages of a journal with their references, as a broker that starts finds them (docs/spec/journal.md 5.2).

In columns: a million messages take some fifty bytes each. Bodies stay in their files until asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from pagefmt.journal.columns import JournalColumns
from pagefmt.journal.load import LoadedJournal
from pagefmt.journal.record_types import MESSAGES, RecordType
from pagefmt.pages.gather import Ints, Mask

NO_TRANSACTION: Final = -1
_QUEUE: Final = np.dtype([("queue", ">i8")])
_COUNT: Final = np.dtype([("queue", ">i8"), ("value", ">i4")])
_TIME: Final = np.dtype([("queue", ">i8"), ("value", ">i8")])
_LAYOUTS: Final = {
    RecordType.ADD_REF: _QUEUE,
    RecordType.ACKNOWLEDGE_REF: _QUEUE,
    RecordType.UPDATE_DELIVERY_COUNT: _COUNT,
    RecordType.SET_SCHEDULED_DELIVERY_TIME: _TIME,
}


class QueueReferences(NamedTuple):
    """References, each of a message to a queue. ``message``: its number among the journal's messages.

    ``acked``: acknowledged; ``held``: in a prepared transaction. ``delivered``: how often; ``scheduled``: not before
    that time (ms), 0: at once.
    """

    message: Ints
    queue: Ints
    acked: Mask
    held: Mask
    delivered: Ints
    scheduled: Ints

    def of(self, rows: Ints) -> QueueReferences:
        """Some of them."""
        return QueueReferences(
            self.message[rows], self.queue[rows], self.acked[rows], self.held[rows], self.delivered[rows],
            self.scheduled[rows],
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class JournalMessages:
    """``rows``: in the columns, in load order, those of prepared transactions last; ``tx``: of these, else -1.

    ``references`` by message, those of one message in their order of arrival; message k has those from ``begins[k]``
    up to ``begins[k + 1]``. ``arrived``: the references in the order in which a queue gets them. ``lost``: pairs of
    ids, message and queue, of references to a message that is not there.
    """

    columns: JournalColumns
    rows: Ints
    ids: Ints
    tx: Ints
    begins: Ints
    references: QueueReferences
    arrived: Ints
    lost: tuple[tuple[int, int], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def sizes(self) -> Ints:
        """Bytes of each message's record, without its frame."""
        return np.frombuffer(self.columns.sizes, np.int32)[self.rows].astype(np.int64)


class _Facts(NamedTuple):
    """Records about references, in load order; ``tx`` of prepared ones."""

    row: Ints
    message: Ints
    queue: Ints
    value: Ints
    tx: Ints


def journal_messages(loaded: LoadedJournal) -> JournalMessages:
    """What a journal holds beside what it says about pages."""
    rows, tx = _rows(loaded, MESSAGES)
    ids = np.frombuffer(loaded.columns.ids, np.int64)[rows] if len(rows) else rows
    added = _facts(loaded, RecordType.ADD_REF)
    number = numbers_of(ids, added.message)
    lost = number < 0
    kept = np.flatnonzero(~lost)
    keys = _Keys(number[kept], added.queue[kept])
    first, last = keys.first, keys.last
    references = QueueReferences(
        keys.message, keys.queue, *_acknowledged(loaded, ids, keys, added.row[kept][last]),
        _latest(loaded, RecordType.UPDATE_DELIVERY_COUNT, ids, keys),
        _latest(loaded, RecordType.SET_SCHEDULED_DELIVERY_TIME, ids, keys),
    )  # fmt: skip
    by_message = np.lexsort((first, keys.message))
    references = references.of(by_message)
    arrived = np.argsort(first[by_message], kind="stable")
    begins = np.searchsorted(references.message, np.arange(len(rows) + 1))
    pairs = tuple(zip(added.message[lost].tolist(), added.queue[lost].tolist(), strict=True))
    return JournalMessages(loaded.columns, rows, ids, tx, begins, references, arrived, pairs)


def astray(loaded: LoadedJournal, messages: JournalMessages) -> Iterator[tuple[RecordType, Ints, Ints]]:
    """By type, message and queue of the records about references that are not there."""
    keys = _Keys(messages.references.message, messages.references.queue)
    for kind in _LAYOUTS.keys() - {RecordType.ADD_REF}:
        facts = _facts(loaded, kind)
        here, _ = keys.find(numbers_of(messages.ids, facts.message), facts.queue)
        rest = np.delete(np.arange(len(facts.row)), here)
        if len(rest):
            yield kind, facts.message[rest], facts.queue[rest]


class _Keys:
    """Distinct pairs of message number and queue, ascending; ``first`` and ``last``: where each stands."""

    def __init__(self, message: Ints, queue: Ints) -> None:
        order = np.lexsort((np.arange(len(message)), queue, message))
        new = np.ones(len(order), bool)
        new[1:] = (np.diff(message[order]) != 0) | (np.diff(queue[order]) != 0)
        starts = np.flatnonzero(new)
        self.first: Ints = order[starts]
        self.last: Ints = order[np.append(starts[1:], len(order))[: len(starts)] - 1]
        self.message, self.queue = message[self.first], queue[self.first]
        self._known = _pairs(self.message, self.queue)

    def find(self, message: Ints, queue: Ints) -> tuple[Ints, Ints]:
        """(which of the given are known, where they stand)."""
        wanted = _pairs(message, queue)
        at = np.searchsorted(self._known, wanted).clip(max=max(len(self._known) - 1, 0))
        here = np.flatnonzero(self._known[at] == wanted) if len(self._known) else at[:0]
        return here, at[here]


def _pairs(message: Ints, queue: Ints) -> npt.NDArray[np.void]:
    found = np.empty(len(message), [("message", np.int64), ("queue", np.int64)])
    found["message"], found["queue"] = message, queue
    return found


def _rows(loaded: LoadedJournal, types: frozenset[RecordType]) -> tuple[Ints, Ints]:
    """Rows of the survivors of these types, then of what prepared transactions hold; and the transaction of each."""
    kinds = np.frombuffer(loaded.columns.types, np.int8)
    parts = [np.frombuffer(loaded.rows_of(*types), np.int64)]
    owners = [np.full(len(parts[0]), NO_TRANSACTION, np.int64)]
    for each in loaded.prepared:
        rows = np.frombuffer(each.rows, np.int64)
        parts.append(rows[np.isin(kinds[rows], list(types))])
        owners.append(np.full(len(parts[-1]), each.tx, np.int64))
    return np.concatenate(parts), np.concatenate(owners)


def _facts(loaded: LoadedJournal, kind: RecordType) -> _Facts:
    layout, columns = _LAYOUTS[kind], loaded.columns
    rows, tx = _rows(loaded, frozenset((kind,)))
    fits = np.frombuffer(columns.sizes, np.int32)[rows] >= layout.itemsize
    rows, tx = rows[fits], tx[fits]
    bodies = columns.beginnings(rows, layout.itemsize).view(layout)
    message = np.frombuffer(columns.ids, np.int64)[rows] if len(rows) else rows
    value = bodies["value"] if "value" in (layout.names or ()) else np.zeros(len(rows))
    return _Facts(rows, message, bodies["queue"].astype(np.int64), value.astype(np.int64), tx)


def numbers_of(ids: Ints, wanted: Ints) -> Ints:
    """The number of each message; -1 where it is not there."""
    if not len(ids):
        return np.full(len(wanted), -1, np.int64)
    order = np.argsort(ids, kind="stable")
    at = np.searchsorted(ids[order], wanted).clip(max=len(ids) - 1)
    return np.where(ids[order][at] == wanted, order[at], -1)


def _acknowledged(loaded: LoadedJournal, ids: Ints, keys: _Keys, added: Ints) -> tuple[Mask, Mask]:
    """Acknowledged for good, and in a prepared transaction. ``added``: the row that made each reference last."""
    acks = _facts(loaded, RecordType.ACKNOWLEDGE_REF)
    here, at = keys.find(numbers_of(ids, acks.message), acks.queue)
    acked, held = np.zeros(len(added), bool), np.zeros(len(added), bool)
    prepared = acks.tx[here] != NO_TRANSACTION
    held[at[prepared]] = True
    acked[at[~prepared]] = True
    return acked, held & ~acked


def _latest(loaded: LoadedJournal, kind: RecordType, ids: Ints, keys: _Keys) -> Ints:
    facts = _facts(loaded, kind)
    here, at = keys.find(numbers_of(ids, facts.message), facts.queue)
    found = np.zeros(len(keys.message), np.int64)
    found[at] = facts.value[here]
    return found
