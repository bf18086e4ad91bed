"""The life of a message: all records of a history that are about it, in the order in which they were written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from enum import StrEnum
from typing import Final, Literal, NamedTuple

import numpy as np

from pagefmt.arrays import Ints
from pagefmt.codec.messages.persisted import Message
from pagefmt.history.copies import decoded_messages, origin_of
from pagefmt.history.files import ATTIC, TimeBracket
from pagefmt.history.history import History
from pagefmt.history.messages import OUTCOMES, PastState
from pagefmt.history.records import NEVER, PREPARED
from pagefmt.journal.record_bodies import bodies_of
from pagefmt.journal.record_types import RecordType
from pagefmt.journal.retained import RETAINED_NAME

_AT_ONCE: Final = 1000  # messages whose events are held together
_NO_BRACKET: Final = TimeBracket(None, None)


class LifeEventKind(StrEnum):
    """What happened to a message."""

    SENT = "sent"
    ROUTED = "routed"
    PAGED = "paged"
    REDELIVERED = "redelivered"
    COPIED = "copied"
    MOVED = "moved"
    EXPIRED = "expired"
    REMOVED = "removed"
    ACKNOWLEDGED = "acknowledged"
    ROLLED_BACK = "rolled-back"


_ORDER: Final = tuple(LifeEventKind)  # of events at one position
_LEAVING: Final = {
    PastState.ACKNOWLEDGED: LifeEventKind.ACKNOWLEDGED,
    PastState.EXPIRED: LifeEventKind.EXPIRED,
    PastState.MOVED: LifeEventKind.MOVED,
    PastState.REMOVED: LifeEventKind.REMOVED,
}


class EventPlace(NamedTuple):
    """The record that tells of an event. ``where``: history, journal, attic or page. ``offset``: of the record."""

    where: Literal["history", "journal", "attic", "page"]
    file: str
    offset: int
    times: TimeBracket


class LifeEvent(NamedTuple):
    """An event in the life of a message.

    ``queue``: its id, None for events of the message itself. ``place``: None if no record tells of it. ``to``: the
    number of the copy that was sent elsewhere.
    """

    kind: LifeEventKind
    queue: int | None
    place: EventPlace | None
    to: int | None = None


class QueueEnd(NamedTuple):
    """What became of a message in a queue in the end, by the queue's id."""

    queue: int
    state: PastState
    why: str | None


class Life(NamedTuple):
    """A message, its events in order, and what became of it. ``message``: None if it cannot be decoded."""

    number: int
    id: int
    message: Message | None
    events: tuple[LifeEvent, ...]
    ends: tuple[QueueEnd, ...]


class _EventRecord(NamedTuple):
    """An event before its place is looked up. ``at``: its position; ``row``: -1 without a record."""

    at: int
    kind: LifeEventKind
    queue: int | None
    row: int
    to: int | None = None


def _span(ids: Ints, id: int) -> slice:
    """Return where an id stands in an array of rising ids."""
    return slice(int(np.searchsorted(ids, id, "left")), int(np.searchsorted(ids, id, "right")))


class LifeReader:
    """The lives of messages in a history."""

    def __init__(self, history: History) -> None:
        self.history = history
        self.messages = history.messages
        self.records = history.records
        copies = history.copies
        self._copy_of = dict(zip(copies.reference.tolist(), copies.copy.tolist(), strict=True))
        self._about: dict[RecordType, tuple[Ints, Ints, Ints]] = {}
        pages = self.messages.pages
        events = np.flatnonzero(pages.row >= 0)
        self._events = events[np.argsort(pages.id[events], kind="stable")]
        self._event_ids = pages.id[self._events]

    def with_copies(self, numbers: Iterable[int], copies_of: Callable[[Collection[int]], Iterable[int]]) -> list[int]:
        """Return messages and all of their copies, and copies of these, each once.

        ``copies_of`` returns the messages that name one of some ids as that of their original.
        """
        chosen = dict.fromkeys(numbers)
        new = list(chosen)
        while new:
            ids = {int(self.messages.ids[number]) for number in new}
            new = [number for number in copies_of(ids) if number not in chosen]
            chosen |= dict.fromkeys(new)
        return list(chosen)

    def lives(self, numbers: list[int]) -> Iterator[Life]:
        """Yield the lives of messages. Raise ``NotReadable`` if a file cannot be read again."""
        decoded = dict(decoded_messages(self.messages, np.array(numbers, np.int64)))
        copied = self._diverted(numbers, decoded)
        pages = self._pages_of(numbers)
        for start in range(0, len(numbers), _AT_ONCE):
            # offsets are not kept: the files are read again, once for the events of many messages
            events_of = {
                number: sorted(
                    self._event_records(number, copied.get(number, ())),
                    key=lambda event: (event.at, _ORDER.index(event.kind)),
                )
                for number in numbers[start : start + _AT_ONCE]
            }
            every = {event.row for events in events_of.values() for event in events if event.row >= 0}
            rows = np.array(sorted(every), np.int64)
            offsets = dict(zip(rows.tolist(), self.records.offsets(rows).tolist(), strict=True))
            for number, events in events_of.items():
                id, page = int(self.messages.ids[number]), pages.get(number)
                life_events = tuple(
                    LifeEvent(event.kind, event.queue, self._spot(event, offsets, page), event.to) for event in events
                )
                yield Life(number, id, decoded.get(number), life_events, self._ends(number))

    def _diverted(self, numbers: list[int], decoded: dict[int, Message]) -> dict[int, list[int]]:
        """Return which of the messages are copies that left their original where it was."""
        moved = set(self._copy_of.values())
        of_id = {int(self.messages.ids[number]): number for number in numbers}
        copied: dict[int, list[int]] = {}
        for number, message in decoded.items():
            origin = None if number in moved else origin_of(message)
            if origin is not None and origin.message in of_id:
                copied.setdefault(of_id[origin.message], []).append(number)
        return copied

    def _event_records(self, number: int, copied: Iterable[int]) -> Iterator[_EventRecord]:
        messages, row = self.messages, int(self.messages.row[number])
        pages = self._events[_span(self._event_ids, int(messages.ids[number]))]
        first = row if row >= 0 else int(messages.pages.row[pages[0]]) if len(pages) else -1
        if first >= 0:
            yield _EventRecord(self._position(first), LifeEventKind.SENT, None, first)
        for event in messages.pages.row[pages].tolist():
            yield _EventRecord(self._position(event), LifeEventKind.PAGED, None, event)
        if first < 0:
            yield _EventRecord(int(messages.sent[number]), LifeEventKind.PAGED, None, -1)
        for at, queue in self._records(RecordType.ADD_REF, number):
            yield _EventRecord(self._position(at), LifeEventKind.ROUTED, queue, at)
        for at, queue in self._records(RecordType.UPDATE_DELIVERY_COUNT, number):
            yield _EventRecord(self._position(at), LifeEventKind.REDELIVERED, queue, at)
        for copy in copied:
            copy_row = int(messages.row[copy])
            yield _EventRecord(self._position(copy_row), LifeEventKind.COPIED, None, copy_row, copy)
        yield from self._endings(number, first)

    def _endings(self, number: int, first: int) -> Iterator[_EventRecord]:
        """Yield how the message left each queue."""
        messages = self.messages
        for index in range(int(messages.begins[number]), int(messages.begins[number + 1])):
            state, queue = OUTCOMES[messages.outcome[index]].state, int(messages.queue[index])
            ack = int(messages.ack[index])
            if state is PastState.ROLLED_BACK:
                end = self.records.end_row(first) if first >= 0 else None
                at = self._position(end) if end is not None else NEVER
                yield _EventRecord(at, LifeEventKind.ROLLED_BACK, queue, -1 if end is None else end)
            elif state in _LEAVING and messages.acked[index] < PREPARED:
                yield _EventRecord(int(messages.acked[index]), _LEAVING[state], queue, ack, self._copy_of.get(index))
            elif state in _LEAVING:
                yield _EventRecord(NEVER, _LEAVING[state], queue, -1)

    def _ends(self, number: int) -> tuple[QueueEnd, ...]:
        messages = self.messages
        indexes = range(int(messages.begins[number]), int(messages.begins[number + 1]))
        outcomes = ((int(messages.queue[index]), OUTCOMES[messages.outcome[index]]) for index in indexes)
        return tuple(QueueEnd(queue, outcome.state, outcome.why) for queue, outcome in outcomes)

    def _records(self, kind: RecordType, number: int) -> Iterator[tuple[int, int]]:
        """Yield row and queue of each record of a type about a message, in order, without those of a compaction."""
        if kind not in self._about:
            rows = self.records.rows_of(kind)
            rows = rows[~self.records.is_copy(rows)]
            fits, bodies = bodies_of(self.records.columns, rows, kind)
            rows, queues = rows[fits], bodies["queue"].astype(np.int64)
            ids = self.records.columns.ids.at(rows)
            order = np.argsort(ids, kind="stable")
            self._about[kind] = (rows[order], ids[order], queues[order])
        rows, ids, queues = self._about[kind]
        mine = _span(ids, int(self.messages.ids[number]))
        yield from zip(rows[mine].tolist(), queues[mine].tolist(), strict=True)

    def _position(self, row: int) -> int:
        return int(self.records.positions(np.array([row]))[0])

    def _pages_of(self, numbers: list[int]) -> dict[int, tuple[str, int]]:
        """Return file and offset of those messages that are in a page that is still on the disk."""
        wanted = {int(self.messages.ids[number]): number for number in numbers}
        ids = np.array(list(wanted), np.int64)
        places: dict[int, tuple[str, int]] = {}
        for page in self.history.disk_pages():
            for at in np.flatnonzero(np.isin(page.ids, ids)).tolist():
                places.setdefault(wanted[int(page.ids[at])], (page.file, int(page.offsets[at])))
        return places

    def _spot(self, event: _EventRecord, offsets: dict[int, int], page: tuple[str, int] | None) -> EventPlace | None:
        row = event.row
        if event.kind is LifeEventKind.PAGED and page is not None:
            times = (
                _NO_BRACKET if row < 0 else self.records.brackets[int(self.records.file_numbers(np.array([row]))[0])]
            )
            return EventPlace("page", *page, times)
        if row < 0:
            return None
        number = int(self.records.file_numbers(np.array([row]))[0])
        name, times = self.records.columns.files[number].name, self.records.brackets[number]
        if self.records.is_copy(np.array([row]))[0]:
            times = _NO_BRACKET
        if RETAINED_NAME.fullmatch(name):
            return EventPlace("history", name, offsets[row], times)
        return EventPlace("attic" if name.startswith(f"{ATTIC}/") else "journal", name, offsets[row], times)
