"""What waits for each queue in the message journal: counts, bytes and the oldest message, from heads alone."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from pagefmt.codec.messages.large import LargeMessages
from pagefmt.directory.edition_evidence import assumed_edition
from pagefmt.journal.held_messages import NO_TRANSACTION
from pagefmt.outstanding.journal_parts import JournalParts
from pagefmt.outstanding.message_location import REPLACED
from pagefmt.outstanding.schedules import BrokerStart

if TYPE_CHECKING:
    from pathlib import Path

    from pagefmt.arrays import Ints
    from pagefmt.directory.bindings import QueueBinding
    from pagefmt.outstanding.state import PagingState

LOOKED_AT_FOR_A_TIME: Final = 64  # messages of which the first with a timestamp is looked for


class JournalBacklog(NamedTuple):
    """Of one queue. ``bytes`` of the records of ``messages``, ``large`` of their bodies that are files.

    ``scheduled`` are among the messages, those ``in_doubt`` (of prepared transactions) are not. ``oldest``: timestamp
    (ms) of the first message that has one.
    """

    messages: int = 0
    bytes: int = 0
    large: int = 0
    in_doubt: int = 0
    scheduled: int = 0
    oldest: int | None = None


def large_sizes(folder: Path | None) -> dict[int, int]:
    """Message id → bytes of its body, of all large-message files. Raises ``NotReadable``."""
    files = LargeMessages(folder).unsorted() if folder is not None else ()
    return {file.id: file.size for file in files if file.id is not None}


class JournalBacklogs:
    """What waits in the journal, as a broker that starts finds it. ``bodies``: message id → bytes of its file."""

    def __init__(self, state: PagingState, start: BrokerStart, bodies: Mapping[int, int]) -> None:
        self.parts = parts = JournalParts(state, None, start)
        messages, references = parts.messages, parts.messages.references
        self._sizes = messages.columns.sizes.at(messages.rows) if len(messages) else np.zeros(0, np.int64)
        self._files = _files(messages.ids, bodies)
        stays = ~references.acked & (references.scheduled != REPLACED)
        self._rows = np.flatnonzero(stays)
        self._doubtful = references.held | (messages.tx[references.message] != NO_TRANSACTION)
        self._late = (references.scheduled < 0) | (references.scheduled > start.now)

    def of_queues(self) -> dict[int, JournalBacklog]:
        """Return the backlog of each queue with messages in the journal, by id."""
        references, backlogs = self.parts.messages.references, {}
        for queue, mine in _split(references.queue[self._rows], self._rows):
            waiting = mine[~self._doubtful[mine]]
            some = self._sums(references.message[waiting])
            late = int(self._late[waiting].sum())
            backlogs[queue] = some._replace(in_doubt=len(mine) - len(waiting), scheduled=late)
        return backlogs

    def of_addresses(self, queues: Mapping[int, QueueBinding]) -> dict[str | None, JournalBacklog]:
        """Return the backlog by address, counting each message once. None: queues without a binding."""
        references = self.parts.messages.references
        names = sorted({queue.address for queue in queues.values()})
        number = {name: n for n, name in enumerate(names)}
        ids, where = np.unique(references.queue[self._rows], return_inverse=True)
        of_queue = [number[queues[queue].address] if queue in queues else -1 for queue in ids.tolist()]
        backlogs: dict[str | None, JournalBacklog] = {}
        for address, mine in _split(np.array(of_queue, np.int64)[where], self._rows):
            some = self._sums(np.unique(references.message[mine]))
            backlogs[names[address] if address >= 0 else None] = some
        return backlogs

    def _sums(self, numbers: Ints) -> JournalBacklog:
        sizes, files = self._sizes[numbers], self._files[numbers]
        oldest = _first_timestamp(self.parts, numbers)
        return JournalBacklog(len(numbers), int(sizes.sum()), int(files.sum()), oldest=oldest)


def journal_backlogs(state: PagingState, bodies: Mapping[int, int]) -> JournalBacklogs:
    """Return what waits in the journal if a broker of the assumed edition starts now. ``bodies``: see the class."""
    edition = assumed_edition(state.bindings, state.journal)
    return JournalBacklogs(state, BrokerStart(int(time.time() * 1000), edition), bodies)


def _split(keys: Ints, rows: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield the rows of each key."""
    order = np.argsort(keys, kind="stable")
    distinct, begins = np.unique(keys[order], return_index=True)
    for key, (begin, end) in zip(distinct.tolist(), pairwise([*begins.tolist(), len(rows)]), strict=True):
        yield key, rows[order[begin:end]]


def _files(ids: Ints, bodies: Mapping[int, int]) -> Ints:
    sizes = np.zeros(len(ids), np.int64)
    if bodies:
        for number in np.flatnonzero(np.isin(ids, list(bodies))).tolist():
            sizes[number] = bodies[int(ids[number])]
    return sizes


def _first_timestamp(parts: JournalParts, numbers: Ints) -> int | None:
    some = np.sort(numbers)[:LOOKED_AT_FOR_A_TIME]
    times = (message.timestamp for _, message in parts.decoded(some))
    return next((time for time in times if time > 0), None)
