"""When references of the journal are due, as a broker that starts finds it (docs/spec/journal.md 7.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from heapq import heappop, heappush
from typing import Final, NamedTuple

import numpy as np

from pagefmt.arrays import Ints, Mask, narrow
from pagefmt.codec.messages.amqp_message import DEFAULT_PRIORITY, AmqpMessage
from pagefmt.codec.messages.persisted import Message
from pagefmt.directory.bindings import QueueBinding
from pagefmt.editions import NEWEST, Edition
from pagefmt.journal.held_messages import NO_TRANSACTION, JournalMessages
from pagefmt.outstanding.message_location import REPLACED, scheduled_time

# Yields the messages of these numbers that can be decoded, each with its number.
Decoded = Callable[[Ints], Iterator[tuple[int, Message]]]
_KEY: Final = "_AMQ_LVQ_NAME"


class BrokerStart(NamedTuple):
    """The time and edition of an assumed broker start.

    ``now``: when a broker of the ``edition`` starts (ms since 1970); messages scheduled for earlier times are due.
    """

    now: int = 0
    edition: Edition = NEWEST


# A start for which every message with a time is scheduled.
AT_ANY_TIME: Final = BrokerStart()


class StartedReferences(NamedTuple):
    """The references after a broker has started.

    ``times``: when each is delivered (ms), 0 at once, ``REPLACED`` never. ``looked_into``: whether the broker has to
    read the message's sections for that.
    """

    times: Ints
    looked_into: Mask


def started_references(
    messages: JournalMessages, decoded: Decoded, queues: Mapping[int, QueueBinding], start: BrokerStart
) -> StartedReferences:
    """Return the delivery times that a starting broker derives for the journal's references."""
    references = messages.references
    recorded_times = times = references.scheduled
    last_values = _last_value_keys(queues) if start.edition >= Edition.ARTEMIS_2_28 else {}
    rings = _ring_sizes(queues) if start.edition >= Edition.ARTEMIS_2_10 else {}
    if times.any() or last_values or rings:
        times = np.maximum(times.astype(np.int64), 0)
    live = ~references.acked & (messages.tx[references.message] == NO_TRANSACTION)
    timed = np.zeros(len(messages), bool)
    timed[references.message[recorded_times != 0]] = True
    unsure = np.unique(references.message[live & timed[references.message] & (recorded_times == 0)])
    recorded = decoded(np.setdiff1d(np.flatnonzero(timed), unsure))
    ours = [number for number, message in recorded if isinstance(message, AmqpMessage)]
    unsure = np.union1d(unsure, np.array(ours, np.int64))
    if len(unsure):
        turn = _turns(references.queue[messages.arrived].tolist())
        for number, message in decoded(unsure):
            rows = np.arange(messages.begins[number], messages.begins[number + 1])
            order = sorted(rows[live[rows]].tolist(), key=lambda row: turn[int(references.queue[row])])
            times[order] = _in_turn(recorded_times[order].tolist(), message, start)
    looked_into = timed
    for queue, key in last_values.items():
        rows = messages.arrived[(references.queue[messages.arrived] == queue) & live[messages.arrived]]
        keys = {number: _property(message, key) for number, message in decoded(references.message[rows])}
        numbers = references.message[rows].tolist()
        last = {keys[number]: number for number in numbers if keys.get(number)}
        gone = [last.get(keys.get(number), number) != number for number in numbers]
        times[rows[gone]] = REPLACED
        looked_into[references.message[rows]] = True
    for queue, size in rings.items():
        rows = messages.arrived[(references.queue[messages.arrived] == queue) & live[messages.arrived]]
        rows = rows[(times[rows] >= 0) & (times[rows] <= start.now)]
        if len(rows) > size:
            numbers = references.message[rows]
            unread = looked_into if amqp_at_default(start.edition) else None
            priorities = dict.fromkeys(numbers.tolist(), DEFAULT_PRIORITY)
            for number, message in decoded(numbers):
                if unread is None or unread[number] or not isinstance(message, AmqpMessage):
                    priorities[number] = message.priority
            times[rows[_pushed_out(list(priorities.values()), size)]] = REPLACED
    return StartedReferences(narrow(times), looked_into)


def _property(message: Message, key: str) -> object:
    """Return the property as a selector sees it, None if absent."""
    from pagefmt.selector.message import source_of

    return source_of(message).property(key)


def _in_turn(recorded: list[int], message: Message, start: BrokerStart) -> list[int]:
    """Return the times of a message's references, from those of their records.

    The time is a field of the message, which the record of a reference sets when it is processed, and which an ordinary
    AMQP message then resets once to its own: a broker's compaction keeps one record, whichever queues have one.
    """
    own = scheduled_time(message)
    current, times = own, []
    for turn, time in enumerate(recorded):
        late = turn == 0 and isinstance(message, AmqpMessage)
        if time and not late:
            current = time if time > start.now else 0
        times.append(max(time, 0) if time and not late else current)
        if time > start.now and start.edition < Edition.ARTEMIS_2_44:
            current = 0
    return times


def _turns(queues: list[int]) -> dict[int, int]:
    """Return the order in which a broker processes the queues: that of its hash map."""
    distinct = list(dict.fromkeys(queues))
    # A Java HashMap starts with 16 buckets and doubles above a load of 3/4; iteration is by bucket.
    size = 16
    while len(distinct) * 4 > size * 3:
        size *= 2
    ordered = sorted(distinct, key=lambda queue: _hash(queue) & (size - 1))
    return {queue: turn for turn, queue in enumerate(ordered)}


def _hash(number: int) -> int:
    """Return the hash of a Java Long as its hash maps spread it."""
    mixed = (number ^ (number >> 32)) & 0xFFFFFFFF
    return mixed ^ (mixed >> 16)


def amqp_at_default(edition: Edition) -> bool:
    """Return whether brokers of the edition assume the default priority for AMQP messages not yet scanned."""
    return Edition.ARTEMIS_2_10 < edition < Edition.ARTEMIS_2_44


def _ring_sizes(queues: Mapping[int, QueueBinding]) -> dict[int, int]:
    sizes = {number: queue.fields.get("ring_size") for number, queue in queues.items()}
    return {number: size for number, size in sizes.items() if isinstance(size, int) and size >= 0}


def _pushed_out(priorities: list[int], size: int) -> list[int]:
    """Return the messages that a ring of ``size`` drops: each surplus one replaces the one that would be next."""
    waiting: list[tuple[int, int]] = []
    gone = []
    for number, priority in enumerate(priorities):
        heappush(waiting, (-priority, number))
        if len(waiting) > size:
            gone.append(heappop(waiting)[1])
    return gone


def _last_value_keys(queues: Mapping[int, QueueBinding]) -> dict[int, str]:
    """Return the property that holds the last-value key, by id of each last-value queue."""
    keys = {}
    for number, queue in queues.items():
        key = queue.fields.get("last_value_key")
        if key or queue.fields.get("last_value"):
            keys[number] = str(key or _KEY)
    return keys
