"""The messages of a journal with their references, as a broker that starts finds them (docs/spec/journal.md 5.2).

In columns: some fifteen bytes for each message, and ten for each reference, as small as their numbers are. Bodies stay
in their files until asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from pagefmt.arrays import Ints, Mask, ValueIndex, distinct, narrow
from pagefmt.journal.columns import JournalColumns
from pagefmt.journal.load import LoadedJournal
from pagefmt.journal.numbers import TOGETHER
from pagefmt.journal.record_bodies import bodies_of
from pagefmt.journal.record_types import MESSAGES, RecordType

NO_TRANSACTION: Final = -1
_ABOUT_REFERENCES: Final = (
    RecordType.ACKNOWLEDGE_REF,
    RecordType.UPDATE_DELIVERY_COUNT,
    RecordType.SET_SCHEDULED_DELIVERY_TIME,
)


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


def journal_messages(loaded: LoadedJournal) -> JournalMessages:
    """Return the messages and references in a journal, apart from what it says about pages."""
    none = np.zeros(0, np.int64)
    rows, tx = _joined([(none, none), *_rows(loaded, MESSAGES)])
    ids = narrow(loaded.columns.ids.at(rows))
    numbers = ValueIndex(ids)
    added = _every_fact(loaded, RecordType.ADD_REF, numbers)
    lost = np.flatnonzero(added.message < 0)
    pairs = tuple(zip(loaded.columns.ids.at(added.row[lost]).tolist(), added.queue[lost].tolist(), strict=True))
    if len(lost):
        added = added.of(np.flatnonzero(added.message >= 0))
    keys = ReferenceKeys(added.message, added.queue)
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
    begins = narrow(np.append(0, np.cumsum(np.bincount(references.message, minlength=len(rows)))))
    return JournalMessages(loaded.columns, rows, ids, tx, begins, references, arrived, pairs)


def astray(loaded: LoadedJournal, messages: JournalMessages) -> Iterator[tuple[RecordType, Ints, Ints]]:
    """Yield type, messages and queues of records about references that do not exist."""
    keys = ReferenceKeys(messages.references.message, messages.references.queue)
    numbers = ValueIndex(messages.ids)
    for kind in _ABOUT_REFERENCES:
        facts = _every_fact(loaded, kind, numbers)
        matching, _ = keys.find(facts.message, facts.queue)
        unmatched = np.delete(np.arange(len(facts.row)), matching)
        if len(unmatched):
            yield kind, loaded.columns.ids.at(facts.row[unmatched]), facts.queue[unmatched]


class ReferenceKeys:
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

    def find(self, message: Ints, queue: Ints) -> tuple[Ints, Ints]:
        """Return the indices of the pairs that exist, and their positions among the keys. No message is -1."""
        wanted, good = self._word(message, queue)
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


def _facts(loaded: LoadedJournal, kind: RecordType, numbers: ValueIndex) -> Iterator[_Facts]:
    for rows, tx in _rows(loaded, frozenset((kind,))):
        fits, bodies = bodies_of(loaded.columns, rows, kind)
        rows, tx = rows[fits], tx[fits]
        value = bodies["value"] if "value" in (bodies.dtype.names or ()) else np.zeros(len(rows))
        message = numbers.of(loaded.columns.ids.at(rows))
        yield _Facts(rows, message, bodies["queue"].astype(np.int64), value.astype(np.int64), tx)


def _every_fact(loaded: LoadedJournal, kind: RecordType, numbers: ValueIndex) -> _Facts:
    none = np.zeros(0, np.int64)
    return _Facts(*_joined([_Facts(none, none, none, none, none), *_facts(loaded, kind, numbers)]))


def _acknowledged(loaded: LoadedJournal, numbers: ValueIndex, keys: ReferenceKeys) -> tuple[Mask, Mask]:
    """Return which references are acknowledged, and which only in a prepared transaction."""
    acked, held = np.zeros(len(keys.message), bool), np.zeros(len(keys.message), bool)
    for acks in _facts(loaded, RecordType.ACKNOWLEDGE_REF, numbers):
        matching, at = keys.find(acks.message, acks.queue)
        prepared = acks.tx[matching] != NO_TRANSACTION
        held[at[prepared]] = True
        acked[at[~prepared]] = True
    return acked, held & ~acked


def _latest(loaded: LoadedJournal, kind: RecordType, numbers: ValueIndex, keys: ReferenceKeys) -> Ints:
    latest = np.zeros(len(keys.message), np.int64)
    for facts in _facts(loaded, kind, numbers):
        matching, at = keys.find(facts.message, facts.queue)
        latest[at] = facts.value[matching]
    return narrow(latest)
