"""Lives of messages for people: a timeline for each message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pagectl.reports.message_trace import MessageEvent, MessageLife
from pagectl.terminal.sanitise import one_line
from pagectl.terminal.streams import print_table, say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pagefmt.directory.bindings import QueueBinding
    from pagefmt.history.lives import Life, LifeEvent

_HEADS = ("NOT BEFORE", "NOT AFTER", "EVENT", "QUEUE", "FILE", "OFFSET")


def life_report(life: Life, queues: Mapping[int, QueueBinding], addresses: Mapping[int, str | None]) -> MessageLife:
    """Return the report of a life. ``addresses``: of messages by their numbers in the history."""
    message = life.message
    return MessageLife(
        id=life.id,
        message_id=None if message is None else message.user_id,
        address=None if message is None else message.address,
        events=[_event(event, queues, addresses) for event in life.events],
    )


def _event(event: LifeEvent, queues: Mapping[int, QueueBinding], addresses: Mapping[int, str | None]) -> MessageEvent:
    place = event.place
    earliest, latest = (None, None) if place is None else place.times
    return MessageEvent(
        event=event.kind.value,
        queue=None if event.queue is None else _name(event.queue, queues),
        where=None if place is None else place.where,
        file=None if place is None else place.file,
        offset=None if place is None else place.offset,
        not_before=None if earliest is None else earliest.isoformat(),
        not_after=None if latest is None else latest.isoformat(),
        to=None if event.to is None else addresses.get(event.to),
    )


def _name(queue: int, queues: Mapping[int, QueueBinding]) -> str:
    return queues[queue].name if queue in queues else str(queue)


def print_lives(lives: list[tuple[Life, MessageLife]], queues: Mapping[int, QueueBinding]) -> None:
    """Print a timeline for each message, and what became of it in its queues."""
    for n, (life, shown) in enumerate(lives):
        if n:
            say("")
        title = f"message {life.id} to {one_line(shown.address or '?')}"
        say(title + (f", message id {one_line(shown.message_id)}" if shown.message_id else ""))
        rows = [
            (
                event.not_before or "?",
                event.not_after or "?",
                event.event + (f" to {one_line(event.to)}" if event.to else ""),
                one_line(event.queue or ""),
                one_line(event.file or "no record"),
                "" if event.offset is None else str(event.offset),
            )
            for event in shown.events
        ]
        print_table(_HEADS, rows, right=("OFFSET",))
        for line in _ends(life, queues):
            say(line)


def _ends(life: Life, queues: Mapping[int, QueueBinding]) -> Iterator[str]:
    for end in life.ends:
        why = f": {end.why}" if end.why else ""
        yield f"{one_line(_name(end.queue, queues))}: {end.state}{why}"
