"""Messages of the journal as pages in memory: what reads messages of pages reads these as well."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from pagefmt.arrays import Ints, Mask, ValueIndex, narrow, spread
from pagefmt.codec.messages.large import LargeMessages
from pagefmt.codec.messages.persisted import Message
from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page_in_memory import PageInMemory
from pagefmt.directory.bindings import QueueBinding
from pagefmt.directory.paging import AddressText, Store
from pagefmt.journal.columns import SMALL
from pagefmt.journal.files import JournalFile, NotAJournal
from pagefmt.journal.held_messages import NO_TRANSACTION, JournalMessages, journal_messages
from pagefmt.journal.load import TRIES, JournalMoves, load_journal
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.journal.numbers import TOGETHER
from pagefmt.journal.record_types import RecordType
from pagefmt.outstanding.ack_state import AckState, PageRule
from pagefmt.outstanding.loaded_journals import Unknown
from pagefmt.outstanding.message_location import REPLACED, JournalPlaces, MessageOrigin, Where
from pagefmt.outstanding.message_pages import decoded_records, message_page
from pagefmt.outstanding.schedules import AT_ANY_TIME, BrokerStart, started_references
from pagefmt.outstanding.state import PagingState
from pagefmt.storage.files import NotReadable

# Bytes of messages in one part.
CHUNK: Final = 4 << 20
# The store of messages that are in none.
NO_STORE: Final = Store(Path(), AddressText(None), (), ())
_NOTHING: Final = array("i")


class JournalRule(PageRule):
    """What becomes of the messages of a part. ``acked``, ``held``: by queue, numbers of messages in it, ascending."""

    __slots__ = ("_acked", "_held")

    def __init__(
        self,
        journal: MessageJournal,
        queues: Collection[int] | None,
        acked: dict[int, array[int]],
        held: dict[int, array[int]],
    ) -> None:
        super().__init__(journal, queues, 0)
        self._acked, self._held = acked, held

    def ending_at(self, number: int) -> PageRule:
        """Return the rule as it is: a broker loads each message of a journal by itself."""
        return self

    def numbers(self, queue: int) -> tuple[bool, array[int], array[int]]:
        """Return the marks of a queue; unlike a page, a part is never complete."""
        return False, self._acked.get(queue, _NOTHING), self._held.get(queue, _NOTHING)

    def marked(self, queue: int) -> bool:
        """Something of the part is acknowledged."""
        return queue in self._acked or queue in self._held

    def unsent(self, tx: int) -> AckState | None:
        """Return the state of messages of a prepared transaction, None for all others."""
        return None if tx == NO_TRANSACTION else AckState.IN_DOUBT_SEND


@dataclass(frozen=True, slots=True)
class JournalOrigin(MessageOrigin):
    """The location and queue states of messages in the journal.

    ``numbers``: of the part's messages among those of the journal.
    """

    messages: JournalMessages
    numbers: Ints

    @property
    def where(self) -> Where:
        """Return ``Where.JOURNAL``."""
        return Where.JOURNAL

    def files(self, number: Ints) -> tuple[list[str], Ints]:
        """Return the journal files of the records, and the index of each record's file."""
        columns = self.messages.columns
        which = np.searchsorted(columns.begins, self.messages.rows[self.numbers[number]], "right") - 1
        numbers, back = np.unique(which, return_inverse=True)
        return [columns.files[n].name for n in numbers.tolist()], back

    def places(self, number: Ints) -> JournalPlaces:
        """Return the positions of the messages; the address is that of the first queue with a binding."""
        mine, messages = self.numbers[number], self.messages
        first = messages.begins[mine]
        some = messages.begins[mine + 1] > first
        queue = np.full(len(mine), -1, np.int64)
        queue[some] = messages.references.queue[first[some]]
        queue_ids, which = np.unique(queue, return_inverse=True)
        addresses = [
            self.names[queue_id].address if queue_id in self.names else None for queue_id in queue_ids.tolist()
        ]
        rows = messages.rows[mine]
        size = messages.columns.sizes.at(rows)
        offset = np.where(size > SMALL, messages.columns.places.at(rows), 0)
        return JournalPlaces(addresses, which, offset, size)

    def deliveries(self, number: Ints, row: Ints) -> tuple[Ints, Ints]:
        """Return delivery counts and scheduled times from the journal."""
        mine = self.numbers[number]
        rows = spread(self.messages.begins[mine], np.diff(self.messages.begins)[mine])
        references = self.messages.references
        return references.delivered[rows], references.scheduled[rows]


@dataclass(frozen=True, slots=True)
class JournalPart:
    """Some messages of the journal as a page, with what is known of them, as ``StoreState`` has it of a store."""

    page: PageInMemory
    origin: JournalOrigin
    rule_of: JournalRule
    unknown: Unknown | None
    queues: dict[int, QueueBinding] | None
    store: Store = NO_STORE

    def rule(self, page: int) -> PageRule:
        """Return the rule for the messages of the part."""
        return self.rule_of

    def located(self, number: int) -> tuple[JournalFile, int]:
        """File and offset of a message, by its number in the part."""
        row = int(self.origin.messages.rows[self.origin.numbers[number]])
        places = self.origin.places(np.array([number]))
        return self.origin.messages.columns.file_of(row), int(places.offset[0])

    def damage(self, damage: Damage) -> tuple[JournalFile, Damage]:
        """Return the damage with its file and offset in the journal."""
        file, at = self.located(damage.number)
        return file, damage._replace(offset=at)


class LostPart(NamedTuple):
    """So many messages whose file cannot be read any more."""

    messages: int
    why: str


class MessageParts:
    """Messages in journal files as pages.

    ``queues``: by id; None: no bindings, so that no id is taken for that of a deleted queue. ``unknown``: why nobody
    knows what is outstanding, or None.
    """

    def __init__(
        self,
        messages: JournalMessages,
        journal: MessageJournal,
        queues: dict[int, QueueBinding] | None,
        large: LargeMessages | None,
        now: int,
        unknown: Unknown | None = None,
    ) -> None:
        self.messages = messages
        self.large = large
        self.now = now
        self._journal, self._queues, self._unknown = journal, queues, unknown

    def decoded(self, numbers: Ints) -> Iterator[tuple[int, Message]]:
        """Yield the messages of these numbers that are understood, each with its number."""
        for part in self.parts(numbers):
            if isinstance(part, JournalPart):
                for number, message in decoded_records(part.page):
                    yield int(part.origin.numbers[number]), message

    def parts(self, numbers: Ints | None = None, size: int | None = None) -> Iterator[JournalPart | LostPart]:
        """Yield all messages, or these in this order, in parts of about ``size`` bytes (None: ``CHUNK``)."""
        every = narrow(self._here(np.arange(len(self.messages)) if numbers is None else numbers))
        for numbers_of_part in self._cuts(every, CHUNK if size is None else size):
            mine, why = self._here(numbers_of_part), ""
            for _ in range(TRIES):
                try:
                    part = self._part(mine) if len(mine) else None
                except (NotAJournal, NotReadable) as err:
                    why = str(err)
                    if not self._looked_up_anew():
                        yield LostPart(len(mine), why)
                        break
                    mine = self._here(mine)
                    continue
                if part is not None:
                    yield part
                break
            else:
                yield LostPart(len(mine), why)

    def _here(self, numbers: Ints) -> Ints:
        return numbers[self.messages.rows[numbers] >= 0]

    def _looked_up_anew(self) -> bool:
        """Locate the messages again after a file was changed or removed. Return False if that cannot help."""
        return False

    def _cuts(self, every: Ints, size: int) -> Iterator[Ints]:
        """Yield parts of about ``size`` bytes, each of one layout."""
        messages, start = self.messages, 0
        while start < len(every):
            rows = messages.rows[every[start : start + TOGETHER]]
            ends = np.cumsum(messages.columns.sizes.at(rows))
            old = messages.columns.types.at(rows) == RecordType.ADD_MESSAGE
            turns = np.append(np.flatnonzero(old[1:] != old[:-1]) + 1, len(rows))
            first = 0
            while first < len(rows):
                before = int(ends[first - 1]) if first else 0
                last = max(first + 1, int(np.searchsorted(ends, before + size, "right")))
                last = min(last, int(turns[np.searchsorted(turns, first, "right")]))
                if first and last == len(rows) < len(every) - start:
                    break  # more of them may fit
                yield every[start + first : start + last]
                first = last
            start += first

    def _part(self, mine: Ints) -> JournalPart:
        messages, queues = self.messages, self._queues
        counts = np.diff(messages.begins)[mine]
        references = messages.references.of(spread(messages.begins[mine], counts))
        number = np.repeat(np.arange(len(mine)), counts)
        rule = JournalRule(
            self._journal,
            self._bound,
            _by_queue(references.queue, number, references.acked),
            _by_queue(references.queue, number, references.held),
        )
        page = message_page(messages.columns, messages.rows[mine], messages.tx[mine], references.queue, counts)
        return JournalPart(page, self._origin(mine), rule, self._unknown, queues)

    @property
    def _bound(self) -> Collection[int] | None:
        """Return the ids of the queues that exist, None if any may."""
        return self._queues

    def _origin(self, mine: Ints) -> JournalOrigin:
        reason = None if self._unknown is None else self._unknown.reason
        return JournalOrigin(self._queues or {}, reason, self.large, self.now, self.messages, mine)


class JournalParts(MessageParts):
    """The messages of a broker's journal, as they were when it was loaded.

    A running broker compacts its journal: messages whose file is gone are looked up in the files that are there now.
    """

    def __init__(self, state: PagingState, large: LargeMessages | None, start: BrokerStart = AT_ANY_TIME) -> None:
        queues = state.bindings.queues if state.bindings is not None else None
        messages = journal_messages(state.journal.loaded)
        super().__init__(messages, state.journal, queues, large, start.now, state.unknown)
        self.state = state
        self.start = start
        times, self.looked_into = started_references(self.messages, self.decoded, queues or {}, start)
        self.messages = replace(self.messages, references=self.messages.references._replace(scheduled=times))

    def due(self, queue: int) -> tuple[Ints, Ints]:
        """Return the messages that a queue has neither acknowledged nor in doubt, in order of arrival, and their times.

        Times are in ms, 0 if the message is due; scheduled messages that are due keep their position.
        """
        messages = self.messages
        mine = messages.arrived[messages.references.queue[messages.arrived] == queue]
        some = messages.references.of(mine)
        waiting = ~some.acked & ~some.held & (messages.tx[some.message] == NO_TRANSACTION)
        waiting &= some.scheduled != REPLACED
        times = some.scheduled[waiting]
        return some.message[waiting], np.where((times >= 0) & (times <= self.start.now), 0, times)

    @property
    def gone(self) -> int:
        """Return how many of the messages that had to be located again the broker has finished."""
        return int(np.count_nonzero(self.messages.rows < 0))

    def _looked_up_anew(self) -> bool:
        files = self.messages.columns.files
        if not self.state.live or not files:
            return False
        try:
            now = journal_messages(load_journal(files[0].path.parent))
        except (NotAJournal, JournalMoves):
            return False
        number = ValueIndex(now.ids).of(self.messages.ids)
        rows = np.where((number >= 0) & (self.messages.rows >= 0), now.rows[number] if len(now) else -1, -1)
        self.messages = replace(self.messages, columns=now.columns, rows=rows)
        return True

    @property
    def _bound(self) -> Collection[int] | None:
        return None if self.state.known.unknown_bindings is not None else self._queues


def _by_queue(queue: Ints, number: Ints, mask: Mask) -> dict[int, array[int]]:
    order = np.lexsort((number[mask], queue[mask]))
    queue, number = queue[mask][order], number[mask][order].astype(np.int32)
    starts = np.flatnonzero(np.append(True, queue[1:] != queue[:-1])[: len(queue)])
    parts = np.split(number, starts[1:])
    return {queue_id: array("i", part.tobytes()) for queue_id, part in zip(queue[starts].tolist(), parts, strict=False)}
