"""What each queue held at a moment of a broker's history."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pagectl.decoding.history import parts_of
from pagectl.reports.messages import WaitingQueue
from pagefmt.arrays import flat, ranked
from pagefmt.history.counts import PastCount, held_references, messages_as_of, past_counts
from pagefmt.outstanding.journal_parts import JournalPart
from pagefmt.table.table import PageSource, TableQuery, page_batches

if TYPE_CHECKING:
    from pagectl.opening.history import OpenedHistory
    from pagefmt.history.history import History

_QUERY: Final = TableQuery(columns=frozenset(("outstanding", "timestamp", "length")), located=True)
_NEVER: Final = (1 << 63) - 1  # takes the place of a time (ms) that is not set, so that any other is earlier


class _Held(NamedTuple):
    """Messages that a queue held and that the history has. ``oldest``: when the first was sent (ms), None: not set."""

    messages: int
    bytes: int
    oldest: int | None


def past_queue_rows(opened: OpenedHistory, position: int | None) -> list[WaitingQueue]:
    """Return a row for each queue: those that are there, and deleted ones that had messages.

    ``position``: as ``past_counts`` has it. What is not whole of messages that no file has is null.
    """
    history, bindings = opened.history, opened.state.bindings
    counts = past_counts(history.messages, position)
    if position is not None:
        history = replace(history, messages=messages_as_of(history.messages, position))
    held, scheduled = _held(opened._replace(history=history)), _scheduled(history)
    every, deleted = history.queues.queues, history.queues.deleted
    paused = {} if bindings is None else bindings.paused
    used = {queue for queue, count in counts.items() if count.held or count.gone or count.in_doubt}
    rows = []
    for queue in sorted((every.keys() - deleted.keys()) | used):
        count, binding, own = counts.get(queue, PastCount()), every.get(queue), held.get(queue, _Held(0, 0, None))
        is_whole = not count.unseen and own.messages == count.held
        rows.append(
            WaitingQueue(
                address=None if binding is None else binding.address,
                queue=str(queue) if binding is None else binding.name,
                id=queue,
                messages=count.held,
                journal=None if count.unseen else count.journal,
                pages=None if count.unseen else count.pages,
                scheduled=scheduled.get(queue, 0) if is_whole else None,
                in_doubt=count.in_doubt,
                bytes=own.bytes if is_whole else None,
                oldest=own.oldest if is_whole else None,
                acknowledged_but_kept=count.gone,
                unknown=None,
                paused=paused.get(queue, False),
            )
        )
    return rows


def _held(opened: OpenedHistory) -> dict[int, _Held]:
    """Return what the queues hold of the messages that the history has."""
    parts = parts_of(opened, held_references(opened.history.messages))
    held: dict[int, _Held] = {}
    for part in parts.parts(parts.numbers(waiting=True)):
        if isinstance(part, JournalPart):
            source = PageSource(part.page, part.page.number, "", None, part.rule_of, origin=part.origin)
            for batch in page_batches(source, _QUERY):
                if isinstance(batch, pa.RecordBatch):
                    _add(held, batch)
    return held


def _add(held: dict[int, _Held], batch: pa.RecordBatch) -> None:
    """Add the messages of a batch of ``_QUERY``, each for every queue that holds it."""
    offsets, queues = flat(batch.column("outstanding"))
    row = np.repeat(np.arange(batch.num_rows), np.diff(offsets))
    distinct_queues, which = ranked(queues)
    sent = np.asarray(pc.fill_null(batch.column("timestamp"), 0))
    oldest = np.full(len(distinct_queues), _NEVER)
    np.minimum.at(oldest, which, np.where(sent > 0, sent, _NEVER)[row])
    messages = np.bincount(which, minlength=len(distinct_queues))
    sizes = np.bincount(which, np.asarray(batch.column("length"))[row], len(distinct_queues))
    columns = (distinct_queues, messages, sizes.astype(np.int64), oldest)
    for queue, number, size, first in zip(*(column.tolist() for column in columns), strict=True):
        before = held.get(queue, _Held(0, 0, None))
        times = [time for time in (before.oldest, first) if time not in (None, _NEVER)]
        held[queue] = _Held(before.messages + number, before.bytes + size, min(times, default=None))


def _scheduled(history: History) -> dict[int, int]:
    """Return how many of the held messages of each queue are not to be delivered yet."""
    messages = history.messages
    later = held_references(messages) & (messages.scheduled > int(time.time() * 1000))
    queues, counts = np.unique(messages.queue[later], return_counts=True)
    return dict(zip(queues.tolist(), counts.tolist(), strict=True))
