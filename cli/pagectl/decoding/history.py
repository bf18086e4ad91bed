"""The messages of a history as what commands read that decode, find, send or write messages."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pagectl.decoding.sources import PageSources, PageToRead
from pagectl.terminal.streams import warning
from pagefmt.history.parts import HistoryParts
from pagefmt.outstanding.journal_parts import JournalPart
from pagefmt.quantities import count_text

if TYPE_CHECKING:
    from pagectl.opening.history import OpenedHistory
    from pagefmt.arrays import Mask
    from pagefmt.codec.messages.large import LargeMessages
    from pagefmt.directory.locate import DataLocation
    from pagefmt.history.messages import PastState
    from pagefmt.outstanding.message_filter import MessageFilter


def parts_of(opened: OpenedHistory, waiting: Mask | None = None) -> HistoryParts:
    """Return the messages of a history. ``waiting``: as ``HistoryParts`` has it."""
    return HistoryParts(opened.history, opened.state.journal, _large(opened.place), waiting)


def parts_to_send(opened: OpenedHistory, states: Collection[PastState]) -> HistoryParts:
    """Return the messages of a history, of which those in these states wait for their queues."""
    messages = opened.history.messages
    return parts_of(opened, messages.is_state(states) & ~messages.is_in_doubt)


def _large(place: DataLocation) -> LargeMessages | None:
    from pagefmt.codec.messages.large import LargeMessages

    return None if place.large_messages is None else LargeMessages(place.large_messages)


def with_past_queues(opened: OpenedHistory, choice: MessageFilter) -> MessageFilter:
    """Return the filter with the ids of all queues that had the names of the chosen ones.

    A queue that was deleted and created again has another id.
    """
    if choice.queues is None:
        return choice
    every = opened.history.queues.queues
    names = {(every[number].address, every[number].name) for number in choice.queues if number in every}
    same = {number for number, queue in every.items() if (queue.address, queue.name) in names}
    return replace(choice, queues=choice.queues | same)


@dataclass(slots=True, kw_only=True)
class HistorySources(PageSources):
    """The messages of a history that are asked for.

    ``parts``: all of them. ``states``: only messages in one of these states in a queue; None: all.
    ``by_message``: the filter is applied to find the messages, for readers that look at queues alone. ``part_size``:
    bytes of a part, None for the usual size.
    """

    parts: HistoryParts
    states: Collection[PastState] | None = None
    by_message: bool = False
    part_size: int | None = None

    def in_front(self) -> Iterator[PageToRead]:
        """Yield the parts of the history."""
        choice = self.choice.of_store(None)
        if choice is None:
            return
        numbers = self.parts.numbers(choice.ids, choice.queues, self.states, waiting=choice.outstanding)
        if self.by_message and choice.selector is not None:
            numbers = self.parts.selected(numbers, choice)
        for part in self.parts.parts(numbers, self.part_size):
            if isinstance(part, JournalPart):
                yield PageToRead(part, part.page, choice, part.origin)
            else:
                self.damaged = True
                warning(f"{part.why}; {count_text(part.messages, 'message')} of the history not shown")

    def pages(self) -> Iterator[PageToRead]:
        """Yield no page: a history has its own copies of paged messages."""
        yield from ()
