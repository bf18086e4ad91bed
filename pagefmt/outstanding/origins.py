"""Where a message lies, and how it stands with each of its queues: what ``messages decode`` says beside ``decode``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

import numpy as np

from pagefmt.bytes.wire import Undecodable
from pagefmt.directory.bindings import QueueBinding
from pagefmt.messages.amqp_message import AmqpMessageBase
from pagefmt.messages.large import LargeMessages
from pagefmt.messages.persisted import Message
from pagefmt.messages.values import ValueKind, java_long
from pagefmt.outstanding.ack_state import AckState, PageRule
from pagefmt.outstanding.ack_state_columns import ACK_STATES
from pagefmt.outstanding.acked_columns import each_once, named_queues
from pagefmt.pages.gather import Ints, ranked

SCHEDULES: Final = ("_AMQ_SCHED_DELIVERY", "_HQ_SCHED_DELIVERY")
_TIME, _DELAY = "x-opt-delivery-time", "x-opt-delivery-delay"
AT_SOME_TIME: Final = -1
"""In the place of a time: so long after a broker reads it."""
REPLACED: Final = -2
"""In the place of a time: never, for a later message takes its place (last value, ring)."""
_LONGEST_DELAY: Final = (1 << 63) - (1 << 42)
"""From here on the sum with the time of day (ms) is beyond a long: long ago."""


class Where(StrEnum):
    """What a message lies in; of a large one its body."""

    JOURNAL = "journal"
    PAGE = "page"
    LARGE = "large"


class QueueState(StrEnum):
    """How a message stands with a queue."""

    DUE = "due"
    SCHEDULED = "scheduled"
    IN_DOUBT = "in-doubt"
    ACKNOWLEDGED = "acknowledged"


_STATES: Final = {
    AckState.DONE: QueueState.ACKNOWLEDGED,
    AckState.IN_DOUBT_ACK: QueueState.IN_DOUBT,
    AckState.IN_DOUBT_SEND: QueueState.IN_DOUBT,
}
_NONE_OF_IT: Final = {
    AckState.IGNORED: "its transaction was not committed",
    AckState.NO_QUEUE: "no queue of its address has this id",
    AckState.WITHHELD: "a record before it cannot be decoded, and the broker stops reading the page there",
}
"""Why nothing becomes of it there."""


def _distinct_rows(columns: tuple[Ints, ...]) -> tuple[Ints, Ints]:
    """Return one place of each distinct row of the columns, in rising order, and which of these each row equals."""
    which = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values, place = ranked(column)
        if len(values) > 1:
            which = ranked(which * len(values) + place)[1]
    first = np.zeros(int(which.max(initial=-1)) + 1, np.int64)
    first[which] = np.arange(len(which))
    return first, which


def queue_state(ack_state: AckState) -> QueueState | None:
    """Without a schedule; None: nothing becomes of it there."""
    return None if ack_state in _NONE_OF_IT else _STATES.get(ack_state, QueueState.DUE)


class QueueEntry(NamedTuple):
    """One queue of a message. ``state`` None: ``why``. ``scheduled``: not before (ms); None: no time is set."""

    queue: str
    id: int
    state: QueueState | None
    delivery_count: int
    scheduled: int | None
    why: str | None


class QueueEntries(NamedTuple):
    """For each record some of the ``distinct`` entries: those at ``which`` from ``offsets[k]`` on."""

    offsets: Ints
    which: Ints
    distinct: list[QueueEntry]


class JournalPlaces(NamedTuple):
    """Where messages lie in the journal: addresses of their queues (``addresses[which]``), offset and bytes in a file.

    Offset and length are of the encoded message; those of one that is too short to be one are not known (0).
    """

    addresses: list[str | None]
    which: Ints
    offset: Ints
    length: Ints


class ScheduledRecord(NamedTuple):
    """A record of a page whose message is delivered at its time (ms); -1: at some time. ``end``: behind the record."""

    time: int
    number: int
    offset: int
    end: int


@dataclass(frozen=True, slots=True)
class MessageOrigin(ABC):
    """Of the messages of one page. ``names``: of queues by id; ``unknown``: why nobody knows what is outstanding.

    ``large``: the large-messages directory. ``now``: what is scheduled for an earlier time (ms) is due.
    """

    names: Mapping[int, QueueBinding]
    unknown: str | None
    large: LargeMessages | None
    now: int

    @property
    @abstractmethod
    def where(self) -> Where:
        """What the records lie in."""

    @abstractmethod
    def files(self, number: Ints) -> tuple[list[str], Ints]:
        """Distinct names of files, and which of them each record lies in."""

    @abstractmethod
    def places(self, number: Ints) -> JournalPlaces | None:
        """None where page, number and offset say it."""

    @abstractmethod
    def deliveries(self, number: Ints, row: Ints) -> tuple[Ints, Ints]:
        """For each queue of each record, ``row`` of which is given: how often delivered, not before when (ms)."""

    def entries(self, rule: PageRule | None, number: Ints, tx: Ints, offsets: Ints, queue: Ints) -> QueueEntries:
        """How records stand with their queues: those in ``queue``, a record's from its place in ``offsets`` on.

        ``rule`` None: the journal is not known.
        """
        row = np.repeat(np.arange(len(number)), np.diff(offsets))
        code = np.full(len(queue), -1)
        if rule is not None:
            code = named_queues(rule, number, tx, offsets, queue).codes.astype(np.int64)
        columns: tuple[Ints, ...] = (queue, code, *self.deliveries(number, row))
        once = each_once(row, queue)
        if len(once) < len(queue):
            columns = tuple(column[once] for column in columns)
            offsets = np.searchsorted(row[once], np.arange(len(number) + 1))
        first, which = _distinct_rows(columns)
        distinct = zip(*(column[first].tolist() for column in columns), strict=True)
        return QueueEntries(offsets, which, [self._entry(*each) for each in distinct])

    def _entry(self, queue: int, code: int, delivered: int, scheduled: int) -> QueueEntry:
        known = self.names.get(queue)
        name, time = str(queue) if known is None else known.name, scheduled if scheduled > 0 else None
        told = ACK_STATES[code] if code >= 0 else None
        if told is None or (self.unknown is not None and told in (AckState.OUTSTANDING, AckState.NO_QUEUE)):
            return QueueEntry(name, queue, None, delivered, time, self.unknown)
        if told is AckState.OUTSTANDING and scheduled == REPLACED:
            return QueueEntry(name, queue, None, delivered, None, "a later message takes its place (last value, ring)")
        if told is AckState.OUTSTANDING:
            state = QueueState.DUE if 0 <= scheduled <= self.now else QueueState.SCHEDULED
            return QueueEntry(name, queue, state, delivered, time, None)
        return QueueEntry(name, queue, _STATES.get(told), delivered, time, _NONE_OF_IT.get(told))


@dataclass(frozen=True, slots=True)
class PageOrigin(MessageOrigin):
    """``file``: folder and name of the page. ``scheduled``: times by number of record, of those that have one.

    ``apart``: those are not shown, but noted in ``set_apart`` to be read when it is their turn. ``only``: no other
    records than these are shown.
    """

    file: str
    apart: bool = False
    only: Ints | None = None
    scheduled: dict[int, int] = field(default_factory=dict)
    set_apart: list[ScheduledRecord] = field(default_factory=list)

    @property
    def where(self) -> Where:
        """In a page."""
        return Where.PAGE

    def files(self, number: Ints) -> tuple[list[str], Ints]:
        """One."""
        return [self.file], np.zeros(len(number), np.int64)

    def places(self, number: Ints) -> None:
        """Page, number and offset."""

    def deliveries(self, number: Ints, row: Ints) -> tuple[Ints, Ints]:
        """A broker keeps no count of what it delivered out of pages."""
        times = np.zeros(len(number), np.int64)
        if self.scheduled:
            times = np.array([self.scheduled.get(each, 0) for each in number.tolist()], np.int64)
        return np.zeros(len(row), np.int64), times[row]


def scheduled_time(message: Message) -> int:
    """Not before when (ms) a broker delivers a message that it reads from a page; 0: at once."""
    try:
        if isinstance(message, AmqpMessageBase):
            section = message.scanned().message_annotations
            pairs = section.value if section is not None and section.kind is ValueKind.MAP else ()
            known = {str(key.value): value for key, value in pairs}
            time, delay = (java_long(known[name]) if name in known else None for name in (_TIME, _DELAY))
            if time is not None:
                return max(time, 0)
            return AT_SOME_TIME if delay is not None and 0 < delay < _LONGEST_DELAY else 0
        properties = message.properties()
    except Undecodable:
        return 0
    found = (java_long(properties[name]) for name in SCHEDULES if name in properties)
    return max(next((time for time in found if time is not None), 0), 0)
