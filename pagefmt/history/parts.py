"""Messages of a history as pages in memory: what reads messages of a journal reads these as well."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from pagefmt.arrays import Ints, Mask, ranked, spread
from pagefmt.codec.messages.large import LargeMessages
from pagefmt.codec.pages.file_part import WHOLE_FILE
from pagefmt.directory.bindings import QueueBinding
from pagefmt.history.bodies import HistoryBodies
from pagefmt.history.history import History
from pagefmt.history.messages import OUTCOMES, HeldHistory, HistoryMessages, PastState
from pagefmt.journal.message_journal import MessageJournal
from pagefmt.outstanding.ack_state import PageRule
from pagefmt.outstanding.journal_parts import JournalOrigin, JournalPart, MessageParts
from pagefmt.outstanding.message_filter import MessageFilter, SelectedMessage, select_messages
from pagefmt.outstanding.message_location import QueueEntries, QueueEntry, TimeBrackets, Where
from pagefmt.vectors import IrregularPage, opened_chunks, wanted_records

_NOWHERE = Path()  # messages that wait have no body elsewhere


@dataclass(frozen=True, slots=True)
class HistoryOrigin(JournalOrigin):
    """The location of messages in a history, and what became of them in their queues."""

    history: HistoryMessages
    held: HeldHistory

    @property
    def where(self) -> Where:
        """Return ``Where.HISTORY``."""
        return Where.HISTORY

    def times(self, number: Ints) -> TimeBrackets:
        """Return between which times the files with the messages were written."""
        records = self.history.records
        files, which = ranked(records.file_numbers(self.messages.rows[self.numbers[number]]))
        brackets = (records.brackets[file] for file in files.tolist())
        return TimeBrackets([(_text(times.not_before), _text(times.not_after)) for times in brackets], which)

    def entries(self, rule: PageRule | None, number: Ints, tx: Ints, offsets: Ints, queue: Ints) -> QueueEntries:
        """Return what became of the records in their queues. ``rule`` and ``tx`` are not needed for that."""
        mine = self.numbers[number]
        rows = spread(self.messages.begins[mine], np.diff(self.messages.begins)[mine])
        return self._each_entry(number, offsets, queue, self.history.outcome[self.held.references[rows]])

    def _entry(self, queue: int, code: int, delivered: int, scheduled: int) -> QueueEntry:
        binding, outcome = self.names.get(queue), OUTCOMES[code]
        name, at = str(queue) if binding is None else binding.name, scheduled if scheduled > 0 else None
        return QueueEntry(name, queue, outcome.state, delivered, at, outcome.why)


def _text(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()


def _selected(part: JournalPart, choice: MessageFilter) -> Ints:
    """Return the numbers in a part of the messages that a filter selects."""
    chosen = [np.zeros(0, np.int64)]
    try:
        for content, frames, opened in opened_chunks(part.page, WHOLE_FILE):
            mask = wanted_records(content, frames, part.rule_of, choice, opened.strict_layout())
            chosen.append(frames.number + np.flatnonzero(mask))
    except IrregularPage:
        every = select_messages(part.page, part, choice)
        return np.array([item.number for item in every if isinstance(item, SelectedMessage)], np.int64)
    return np.concatenate(chosen)


class HistoryParts(MessageParts):
    """The messages of a history, in the order in which they were written.

    ``waiting``: the references that count as waiting; None: those that wait.
    """

    def __init__(
        self, history: History, journal: MessageJournal, large: LargeMessages | None, waiting: Mask | None = None
    ) -> None:
        self.history = history
        self.held = history.messages.as_held(waiting)
        bodies = HistoryBodies(large.path if large is not None else _NOWHERE, history.messages, large)
        super().__init__(self.held.messages, journal, dict(history.queues.queues), bodies, int(time.time() * 1000))

    @property
    def _bound(self) -> Collection[int] | None:
        return None

    def _origin(self, mine: Ints) -> HistoryOrigin:
        names: Mapping[int, QueueBinding] = self._queues or {}
        return HistoryOrigin(
            names, None, self.large, self.now, self.messages, mine, history=self.history.messages, held=self.held
        )

    def selected(self, numbers: Ints, choice: MessageFilter, marks: Sequence[bytes] = ()) -> Ints:
        """Return those of the messages that a filter selects.

        ``marks``: bytes of which every such message has some, so that parts without them are passed over.
        """
        chosen = [np.zeros(0, np.int64)]
        for part in self.parts(numbers):
            if isinstance(part, JournalPart) and (not marks or any(mark in part.page.content for mark in marks)):
                chosen.append(part.origin.numbers[_selected(part, choice)])
        return np.concatenate(chosen)

    def numbers(
        self,
        ids: Collection[int] | None = None,
        queues: Collection[int] | None = None,
        states: Collection[PastState] | None = None,
        *,
        waiting: bool = False,
    ) -> Ints:
        """Return the messages with one of these ids, and a reference to one of these queues in one of these states.

        None: any. ``waiting``: the reference counts as waiting.
        """
        references = self.messages.references
        mask = np.ones(len(references.queue), bool) if queues is None else np.isin(references.queue, list(queues))
        if states is not None:
            mask &= self.history.messages.is_state(states)[self.held.references]
        if waiting:
            mask &= ~references.acked
        chosen = np.full(len(self.messages), queues is None and states is None and not waiting)
        chosen[references.message[mask]] = True
        if ids is not None:
            chosen &= np.isin(self.messages.ids, list(ids))
        return np.flatnonzero(chosen)
