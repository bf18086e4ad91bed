"""Where a message lies, and how it stands with each of its queues: what ``messages decode`` says beside ``decode``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

import numpy as np

from pagefmt.arrays import Ints, ranked
from pagefmt.codec.messages.amqp_message import AmqpMessageBase
from pagefmt.codec.messages.large import LargeMessages
from pagefmt.codec.messages.persisted import Message
from pagefmt.codec.messages.values import ValueKind, java_long
from pagefmt.codec.wire import Undecodable
from pagefmt.directory.bindings import QueueBinding
from pagefmt.outstanding.ack_state import AckState, PageRule
from pagefmt.outstanding.named_queues import ACK_STATES, each_once, named_queues, owners

SCHEDULES: Final = ("_AMQ_SCHED_DELIVERY", "_HQ_SCHED_DELIVERY")
_TIME, _DELAY = "x-opt-delivery-time", "x-opt-delivery-delay"
# Delivery time sentinel: the delay starts when a broker loads the message.
AT_SOME_TIME: Final = -1
# Delivery time sentinel: never, because a later message takes its place (last value, ring).
REPLACED: Final = -2
# ms. From this delay on the sum with the time of day overflows a long, so the time has passed.
_LONGEST_DELAY: Final = (1 << 63) - (1 << 42)


class Where(StrEnum):
    """What a message lies in; of a large one its body."""

    JOURNAL = "journal"
    PAGE = "page"
    LARGE = "large"
    HISTORY = "history"


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
# Why a queue does not deliver the message.
_NONE_OF_IT: Final = {
    AckState.IGNORED: "its transaction was not committed",
    AckState.NO_QUEUE: "no queue of its address has this id",
    AckState.WITHHELD: "a record before it cannot be decoded, and the broker stops reading the page there",
}


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
    """Return the state that follows without a schedule, None if the queue never receives the message."""
    return None if ack_state in _NONE_OF_IT else _STATES.get(ack_state, QueueState.DUE)


class QueueEntry(NamedTuple):
    """One queue of a message. ``state``: of ``QueueState``, in a history of ``PastState``; None: ``why``.

    ``scheduled``: not before (ms); None: no time is set.
    """

    queue: str
    id: int
    state: StrEnum | None
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


class TimeBrackets(NamedTuple):
    """Between which times messages were sent: ``brackets[which]``, each of two ISO times, None for one not known."""

    brackets: list[tuple[str | None, str | None]]
    which: Ints


class ScheduledRecord(NamedTuple):
    """A record of a page whose message is delivered at its time (ms); -1: at some time. ``end``: behind the record."""

    time: int
    number: int
    offset: int
    end: int


@dataclass(frozen=True, slots=True)
class MessageOrigin(ABC):
    """The location of messages, and their states in queues.

    Of the messages of one page. ``names``: of queues by id; ``unknown``: why nobody knows what is outstanding.

    ``large``: the large-messages directory. ``now``: what is scheduled for an earlier time (ms) is due.
    """

    names: Mapping[int, QueueBinding]
    unknown: str | None
    large: LargeMessages | None
    now: int

    @property
    @abstractmethod
    def where(self) -> Where:
        """Return what kind of file the records are in."""

    @abstractmethod
    def files(self, number: Ints) -> tuple[list[str], Ints]:
        """Distinct names of files, and which of them each record lies in."""

    @abstractmethod
    def places(self, number: Ints) -> JournalPlaces | None:
        """Return the places of messages in the journal, None for messages in pages, whose page and offset say it."""

    @abstractmethod
    def deliveries(self, number: Ints, row: Ints) -> tuple[Ints, Ints]:
        """Return delivery counts and scheduled times (ms) by queue. ``row``: the record of each queue."""

    def times(self, number: Ints) -> TimeBrackets | None:
        """Return between which times messages were sent, None for messages that are not in a history."""
        return None

    def entries(self, rule: PageRule | None, number: Ints, tx: Ints, offsets: Ints, queue: Ints) -> QueueEntries:
        """Return the state of records for their queues.

        ``queue``: the queue ids of all records; those of one record start at its ``offsets``. ``rule`` None: the
        journal is not known.
        """
        code = np.full(len(queue), -1)
        if rule is not None:
            code = named_queues(rule, number, tx, offsets, queue).codes.astype(np.int64)
        return self._each_entry(number, offsets, queue, code)

    def _each_entry(self, number: Ints, offsets: Ints, queue: Ints, code: Ints) -> QueueEntries:
        """Return the entries of records whose queues have these codes, each queue once."""
        row = owners(offsets)
        columns: tuple[Ints, ...] = (queue, code, *self.deliveries(number, row))
        once = each_once(row, queue)
        if len(once) < len(queue):
            columns = tuple(column[once] for column in columns)
            offsets = np.searchsorted(row[once], np.arange(len(number) + 1))
        first, which = _distinct_rows(columns)
        distinct = zip(*(column[first].tolist() for column in columns), strict=True)
        return QueueEntries(offsets, which, [self._entry(*columns_of_entry) for columns_of_entry in distinct])

    def _entry(self, queue: int, code: int, delivered: int, scheduled: int) -> QueueEntry:
        binding = self.names.get(queue)
        name, time = str(queue) if binding is None else binding.name, scheduled if scheduled > 0 else None
        ack_state = ACK_STATES[code] if code >= 0 else None
        if ack_state is None or (self.unknown is not None and ack_state in (AckState.OUTSTANDING, AckState.NO_QUEUE)):
            return QueueEntry(name, queue, None, delivered, time, self.unknown)
        if ack_state is AckState.OUTSTANDING and scheduled == REPLACED:
            return QueueEntry(name, queue, None, delivered, None, "a later message takes its place (last value, ring)")
        if ack_state is AckState.OUTSTANDING:
            state = QueueState.DUE if 0 <= scheduled <= self.now else QueueState.SCHEDULED
            return QueueEntry(name, queue, state, delivered, time, None)
        return QueueEntry(name, queue, _STATES.get(ack_state), delivered, time, _NONE_OF_IT.get(ack_state))


@dataclass(frozen=True, slots=True)
class PageOrigin(MessageOrigin):
    """The location and queue states of messages in a page.

    ``file``: folder and name of the page. ``scheduled``: times by number of record, of those that have one.

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
        """Return ``Where.PAGE``, for every record."""
        return Where.PAGE

    def files(self, number: Ints) -> tuple[list[str], Ints]:
        """Return the name of the page file, for every record."""
        return [self.file], np.zeros(len(number), np.int64)

    def places(self, number: Ints) -> None:
        """Page, number and offset."""

    def deliveries(self, number: Ints, row: Ints) -> tuple[Ints, Ints]:
        """Return zero counts, since a broker keeps no delivery count for pages, and the scheduled times."""
        times = np.zeros(len(number), np.int64)
        if self.scheduled:
            times = np.array([self.scheduled.get(n, 0) for n in number.tolist()], np.int64)
        return np.zeros(len(row), np.int64), times[row]


def scheduled_time(message: Message) -> int:
    """Return the earliest time (ms) at which a broker delivers a message that it reads from a page; 0: at once."""
    try:
        if isinstance(message, AmqpMessageBase):
            section = message.scanned().message_annotations
            pairs = section.value if section is not None and section.kind is ValueKind.MAP else ()
            annotations = {str(key.value): value for key, value in pairs}
            time, delay = (java_long(annotations[name]) if name in annotations else None for name in (_TIME, _DELAY))
            if time is not None:
                return max(time, 0)
            return AT_SOME_TIME if delay is not None and 0 < delay < _LONGEST_DELAY else 0
        properties = message.properties()
    except Undecodable:
        return 0
    times = (java_long(properties[name]) for name in SCHEDULES if name in properties)
    return max(next((time for time in times if time is not None), 0), 0)
