"""The messages of a journal with their references, as a broker that starts finds them (docs/spec/journal.md 5.2).

In columns: some fifteen bytes for each message, and ten for each reference, as small as their numbers are. Bodies stay
in their files until asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from pagefmt.arrays import Ints, Mask, distinct, narrow
from pagefmt.journal.columns import JournalColumns
from pagefmt.journal.load import LoadedJournal
from pagefmt.journal.numbers import TOGETHER
from pagefmt.journal.record_types import MESSAGES, RecordType

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
        """Return the references in these rows."""
        return QueueReferences(
            self.message[rows],
            self.queue[rows],
            self.acked[rows],
            self.held[rows],
            self.delivered[rows],
            self.scheduled[rows],
        )


@dataclass(frozen=True, slots=True)
class JournalMessages:
    """Messages and references in the journal, as columns.

    ``rows``: in the columns, in load order, those of prepared transactions last; ``tx``: of these, else -1.

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


class _Facts(NamedTuple):
    """Records about references, in load order. ``message``: its number, -1: not there; ``tx`` of prepared ones."""

    row: Ints
    message: Ints
    queue: Ints
    value: Ints
    tx: Ints

    def of(self, rows: Ints) -> _Facts:
        """Return the facts in these rows."""
        return _Facts(*(column[rows] for column in self))


class MessageNumbers:
    """Numbers of messages by their ids."""

    def __init__(self, ids: Ints) -> None:
        self._order = None if (ids[1:] >= ids[:-1]).all() else narrow(np.argsort(ids, kind="stable"))
        self._ids = ids if self._order is None else ids[self._order]

    def of(self, wanted: Ints) -> Ints:
        """Return the number of each message, -1 for unknown ones."""
        if not len(self._ids):
            return np.full(len(wanted), -1, np.int64)
        at = np.searchsorted(self._ids, wanted).clip(max=len(self._ids) - 1)
        return np.where(self._ids[at] == wanted, at if self._order is None else self._order[at], -1)


def journal_messages(loaded: LoadedJournal) -> JournalMessages:
    """Return the messages and references in a journal, apart from what it says about pages."""
    none = np.zeros(0, np.int64)
    rows, tx = _joined([(none, none), *_rows(loaded, MESSAGES)])
    ids = narrow(loaded.columns.ids.at(rows))
    numbers = MessageNumbers(ids)
    added = _every_fact(loaded, RecordType.ADD_REF, numbers)
    lost = np.flatnonzero(added.message < 0)
    pairs = tuple(zip(loaded.columns.ids.at(added.row[lost]).tolist(), added.queue[lost].tolist(), strict=True))
    if len(lost):
        added = added.of(np.flatnonzero(added.message >= 0))
    keys = _Keys(added.message, added.queue)
    del added
    references = QueueReferences(
        keys.message,
        keys.queue,
        *_acknowledged(loaded, numbers, keys),
        _latest(loaded, RecordType.UPDATE_DELIVERY_COUNT, numbers, keys),
        _latest(loaded, RecordType.SET_SCHEDULED_DELIVERY_TIME, numbers, keys),
    )
    arrived: Ints | None = None
    if keys.first is not None:
        by_message = np.lexsort((keys.first, keys.message))
        references = references.of(by_message)
        arrived = np.argsort(keys.first[by_message], kind="stable")
    arrived = narrow(np.arange(len(keys.message)) if arrived is None else arrived)
    begins = narrow(np.searchsorted(references.message, np.arange(len(rows) + 1, dtype=references.message.dtype)))
    return JournalMessages(loaded.columns, rows, ids, tx, begins, references, arrived, pairs)


def astray(loaded: LoadedJournal, messages: JournalMessages) -> Iterator[tuple[RecordType, Ints, Ints]]:
    """Yield type, messages and queues of records about references that do not exist."""
    keys = _Keys(messages.references.message, messages.references.queue)
    numbers = MessageNumbers(messages.ids)
    for kind in _LAYOUTS.keys() - {RecordType.ADD_REF}:
        facts = _every_fact(loaded, kind, numbers)
        matching, _ = keys.find(facts)
        unmatched = np.delete(np.arange(len(facts.row)), matching)
        if len(unmatched):
            yield kind, loaded.columns.ids.at(facts.row[unmatched]), facts.queue[unmatched]


class _Keys:
    """Distinct pairs of message number and queue, ascending.

    ``first``: where each pair occurs first, None if the input was ascending. A pair is packed into one integer.
    """

    def __init__(self, message: Ints, queue: Ints) -> None:
        self._queues = distinct(queue)
        # A pair is message number * number of queues + queue index, in 32 bits if that fits: fast to sort, small.
        most = (int(message.max(initial=0)) + 1) * len(self._queues)
        words: Any = np.empty(len(message), np.int32 if most < 1 << 31 else np.int64)
        for start in range(0, len(words), TOGETHER):
            part = slice(start, start + TOGETHER)
            words[part] = self._word(message[part], queue[part])[0]
        self.first: Ints | None = None
        if not (words[1:] > words[:-1]).all():
            order = narrow(np.argsort(words, kind="stable"))
            words = words[order]
            starts = np.flatnonzero(np.append(True, words[1:] != words[:-1])[: len(words)])
            self.first, words = order[starts], words[starts]
            message, queue = message[self.first], queue[self.first]
        self.message, self.queue = message, queue
        self._known = words

    def _word(self, message: Ints, queue: Ints) -> tuple[Ints, Mask]:
        """And where there is none."""
        which = np.searchsorted(self._queues, queue).clip(max=max(len(self._queues) - 1, 0))
        good = (message >= 0) & (self._queues[which] == queue) if len(self._queues) else np.zeros(len(queue), bool)
        return message.astype(np.int64) * len(self._queues) + which, good

    def find(self, facts: _Facts) -> tuple[Ints, Ints]:
        """Return the indices of the facts whose pair exists, and the positions of those pairs."""
        wanted, good = self._word(facts.message, facts.queue)
        at = np.searchsorted(self._known, np.where(good, wanted, 0).astype(self._known.dtype))
        at = at.clip(max=max(len(self._known) - 1, 0))
        matching = np.flatnonzero(good & (self._known[at] == wanted)) if len(self._known) else at[:0]
        return matching, at[matching]


def _rows(loaded: LoadedJournal, types: frozenset[RecordType]) -> Iterator[tuple[Ints, Ints]]:
    """Yield the rows of survivors of these types, then of what prepared transactions hold, with each transaction."""
    for some in loaded.rows_of(*types).portions():
        yield some, np.full(len(some), NO_TRANSACTION)
    for branch in loaded.prepared:
        rows = np.frombuffer(branch.rows, np.int64)
        rows = rows[np.isin(loaded.columns.types.at(rows), list(types))]
        yield rows, np.full(len(rows), branch.tx)


def _joined(parts: Iterable[Sequence[Ints]]) -> Iterator[Ints]:
    """Concatenate the parts column by column."""
    narrowed = [[narrow(column) for column in part] for part in parts]
    return map(np.concatenate, zip(*narrowed, strict=True))


def _facts(loaded: LoadedJournal, kind: RecordType, numbers: MessageNumbers) -> Iterator[_Facts]:
    layout, columns = _LAYOUTS[kind], loaded.columns
    for rows, tx in _rows(loaded, frozenset((kind,))):
        fits = columns.sizes.at(rows) >= layout.itemsize
        rows, tx = rows[fits], tx[fits]
        bodies = columns.beginnings(rows, layout.itemsize).view(layout)
        value = bodies["value"] if "value" in (layout.names or ()) else np.zeros(len(rows))
        message = numbers.of(columns.ids.at(rows))
        yield _Facts(rows, message, bodies["queue"].astype(np.int64), value.astype(np.int64), tx)


def _every_fact(loaded: LoadedJournal, kind: RecordType, numbers: MessageNumbers) -> _Facts:
    none = np.zeros(0, np.int64)
    return _Facts(*_joined([_Facts(none, none, none, none, none), *_facts(loaded, kind, numbers)]))


def _acknowledged(loaded: LoadedJournal, numbers: MessageNumbers, keys: _Keys) -> tuple[Mask, Mask]:
    """Return which references are acknowledged, and which only in a prepared transaction."""
    acked, held = np.zeros(len(keys.message), bool), np.zeros(len(keys.message), bool)
    for acks in _facts(loaded, RecordType.ACKNOWLEDGE_REF, numbers):
        matching, at = keys.find(acks)
        prepared = acks.tx[matching] != NO_TRANSACTION
        held[at[prepared]] = True
        acked[at[~prepared]] = True
    return acked, held & ~acked


def _latest(loaded: LoadedJournal, kind: RecordType, numbers: MessageNumbers, keys: _Keys) -> Ints:
    latest = np.zeros(len(keys.message), np.int64)
    for facts in _facts(loaded, kind, numbers):
        matching, at = keys.find(facts)
        latest[at] = facts.value[matching]
    return narrow(latest)
