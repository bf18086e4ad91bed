"""The messages of a history whose lives are asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

import numpy as np

from pagectl.outputs.life_text import life_report
from pagefmt.history.lives import LifeReader
from pagefmt.history.parts import HistoryParts
from pagefmt.outstanding.message_filter import MessageFilter
from pagefmt.selector import parse

if TYPE_CHECKING:
    from pagectl.opening.history import OpenedHistory
    from pagectl.options.message_filter import FilterOptions
    from pagectl.reports.message_trace import MessageLife
    from pagefmt.history.lives import Life

# names of the property that copies have, of core and of AMQP messages
_NAMES = ("_AMQ_ORIG_MESSAGE_ID", '"m.x-opt-ORIG-MESSAGE-ID"')
_MARKS = ("ORIG_MESSAGE_ID".encode("utf-16-le")[:-1], b"ORIG-MESSAGE-ID")  # as messages have these names


def traced(opened: OpenedHistory, options: FilterOptions) -> list[tuple[Life, MessageLife]]:
    """Return the lives of the messages that options choose, and of their copies, with their reports."""
    messages = opened.history.messages
    parts = HistoryParts(opened.history, opened.state.journal, None)
    choice = MessageFilter(selector=options.joined(options.selector(), None))
    chosen = parts.held.numbers[parts.selected(parts.numbers(choice.ids), choice)].tolist()
    if options.user_id is None and options.where is None and choice.ids is not None:  # of pages alone, ids are known
        chosen += np.flatnonzero(np.isin(messages.ids, list(choice.ids)) & (messages.row < 0)).tolist()
    story = LifeReader(opened.history)

    def copies_of(ids: Collection[int]) -> Iterable[int]:
        text = " OR ".join(f"{name} = {number}" for number in sorted(ids) for name in _NAMES)
        later = parts.numbers()[messages.ids[parts.held.numbers] > min(ids)]
        numbers: list[int] = parts.held.numbers[
            parts.selected(later, MessageFilter(selector=parse(text)), _MARKS)
        ].tolist()
        return numbers

    lives = list(story.lives(story.with_copies(chosen, copies_of)))
    addresses = {life.number: None if life.message is None else life.message.address for life in lives}
    queues = opened.history.queues.queues
    return [(life, life_report(life, queues, addresses)) for life in lives]
