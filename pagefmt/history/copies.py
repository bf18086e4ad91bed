"""Messages that brokers copied within one transaction with the acknowledgement of the original.

A broker that expires, moves or gives up a message sends a copy, with the id of the original in its properties, and
acknowledges the original in the same transaction (docs/spec/history.md 6.8).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Final, NamedTuple

import numpy as np

from pagefmt.arrays import Ints, Mask, distinct
from pagefmt.codec.messages.amqp_message import AmqpMessageBase
from pagefmt.codec.messages.persisted import Message
from pagefmt.codec.messages.values import TypedValue, ValueKind, java_long
from pagefmt.codec.wire import Undecodable
from pagefmt.history.messages import HistoryMessages
from pagefmt.history.records import PREPARED
from pagefmt.outstanding.message_pages import decoded_records, message_page

# names of properties without their prefixes, and of AMQP annotations with hyphens
_ORIGINAL: Final = "ORIG_MESSAGE_ID"
_EXPIRY: Final = "ACTUAL_EXPIRY"
_QUEUE: Final = "ORIG_QUEUE"
_PREFIXES: Final = ("_AMQ_", "_HQ_")
NAMES_OF_ORIGINALS: Final = tuple(prefix + _ORIGINAL for prefix in _PREFIXES)
_ANNOTATION: Final = "x-opt-"
_AT_ONCE: Final = 256  # messages decoded together


class CopyOrigin(NamedTuple):
    """What a copy says of its original: its id, when it expired (ms), and its queue, or the divert that copied it.

    None: it says nothing of that.
    """

    message: int
    expired: int | None
    queue: str | None


class Copies(NamedTuple):
    """Copies of messages: the indexes of the references that were acknowledged, and the numbers of the copies."""

    reference: Ints
    copy: Ints
    is_expired: Mask


def origin_of(message: Message) -> CopyOrigin | None:
    """Return the original of a message, None if it is no copy, or cannot be decoded."""
    with suppress(Undecodable):
        facts = dict(_facts(message))
        original = java_long(facts[_ORIGINAL]) if _ORIGINAL in facts else None
        if original is not None:
            expired = java_long(facts[_EXPIRY]) if _EXPIRY in facts else None
            queue = facts.get(_QUEUE)
            return CopyOrigin(original, expired, None if queue is None else str(queue.value))
    return None


def _facts(message: Message) -> Iterator[tuple[str, TypedValue]]:
    """Yield what brokers note on a copy, by the names without prefixes."""
    if isinstance(message, AmqpMessageBase):
        section = message.scanned().message_annotations
        if section is not None and section.kind is ValueKind.MAP:
            for key, value in section.value:
                name = str(key.value)
                if name.startswith(_ANNOTATION):
                    yield name.removeprefix(_ANNOTATION).replace("-", "_"), value
        return
    for name, value in message.properties().items():
        for prefix in _PREFIXES:
            if name.startswith(prefix):
                yield name.removeprefix(prefix), value


def decoded_messages(messages: HistoryMessages, numbers: Ints) -> Iterator[tuple[int, Message]]:
    """Yield the messages of these numbers that a file has and that are understood, each with its number."""
    columns = messages.records.columns
    numbers = numbers[messages.row[numbers] >= 0]
    for start in range(0, len(numbers), _AT_ONCE):
        some = numbers[start : start + _AT_ONCE]
        none = np.zeros(len(some), np.int64)
        page = message_page(columns, messages.row[some], none - 1, none[:0], none)
        yield from ((int(some[number]), message) for number, message in decoded_records(page))


def find_copies(messages: HistoryMessages) -> Copies:
    """Return the copies that were sent in the transaction that acknowledged their original.

    Only messages of transactions that acknowledge something are read.
    """
    acked = np.flatnonzero((messages.acked < PREPARED) & (messages.ack >= 0))
    candidates = np.flatnonzero(np.isin(messages.sent, distinct(messages.acked[acked])))
    origins = {n: origin for n, message in decoded_messages(messages, candidates) if (origin := origin_of(message))}
    wanted = np.array([origin.message for origin in origins.values()], np.int64)
    at = np.searchsorted(messages.ids, wanted).clip(max=max(len(messages.ids) - 1, 0))
    originals = distinct(at[messages.ids[at] == wanted]) if len(wanted) else at
    before = {
        n: origin.expired for n, message in decoded_messages(messages, originals) if (origin := origin_of(message))
    }
    reference, copy, is_expired = [], [], []
    for (number, origin), original in zip(origins.items(), at.tolist(), strict=True):
        if messages.ids[original] != origin.message:
            continue
        for index in range(int(messages.begins[original]), int(messages.begins[original + 1])):
            if messages.acked[index] == messages.sent[number]:
                reference.append(index)
                copy.append(number)
                is_expired.append(origin.expired is not None and before.get(original) != origin.expired)
    return Copies(np.array(reference, np.int64), np.array(copy, np.int64), np.array(is_expired, bool))
