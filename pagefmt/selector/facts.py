"""Conditions of ``messages find`` and ``decode`` besides a selector.

Their columnar forms are in ``pagefmt.vectors.fact_columns``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pagefmt.codec.messages.amqp_message import AmqpMessageBase
from pagefmt.codec.messages.amqp_text import identifier_text
from pagefmt.codec.messages.body_text import whole_text
from pagefmt.codec.messages.large import LargeMessages
from pagefmt.codec.messages.message_ids import CORRELATION_ID_PROPERTIES, USER_ID_PROPERTIES, id_text
from pagefmt.codec.messages.persisted import Message
from pagefmt.codec.messages.values import has_expired
from pagefmt.codec.wire import Undecodable
from pagefmt.selector.nodes import Junction, MessageFact
from pagefmt.selector.parser import Selector
from pagefmt.storage.files import NotReadable


@dataclass(frozen=True, slots=True)
class IdIs(MessageFact):
    """The broker's message id is one of these."""

    ids: frozenset[int]

    def of(self, message: Message) -> bool:
        return message.id in self.ids


@dataclass(frozen=True, slots=True)
class AddressIs(MessageFact):
    """The message's own address is one of these."""

    addresses: frozenset[str]

    def of(self, message: Message) -> bool:
        return message.address in self.addresses


@dataclass(frozen=True, slots=True)
class UserIdIs(MessageFact):
    """The id that the client gave the message is one of these texts (``message_ids.accepted_texts``)."""

    texts: frozenset[str]

    def of(self, message: Message) -> bool:
        """Return whether the user id, or a property in which other protocols store theirs, is one of the texts."""
        return message.user_id in self.texts or _among_properties(message, USER_ID_PROPERTIES, self.texts)


@dataclass(frozen=True, slots=True)
class CorrelationIdIs(MessageFact):
    """As ``UserIdIs``, of the id of the message that it answers."""

    texts: frozenset[str]

    def of(self, message: Message) -> bool:
        """Return whether AMQP's correlation id, or the property of other protocols for it, is one of the texts."""
        if isinstance(message, AmqpMessageBase):
            correlation_id = message.scanned().properties.get("correlation_id")
            if correlation_id is not None and identifier_text(correlation_id) in self.texts:
                return True
        return _among_properties(message, CORRELATION_ID_PROPERTIES, self.texts)


def _among_properties(message: Message, names: Iterable[str], texts: frozenset[str]) -> bool:
    properties = message.properties()
    return any(id_text(properties[name]) in texts for name in names if name in properties)


@dataclass(frozen=True, slots=True)
class SentBetween(MessageFact):
    """Sent at ``since`` or later and before ``until``, in ms; None is open. False if the message has no timestamp."""

    since: int | None
    until: int | None

    def of(self, message: Message) -> bool:
        sent = message.timestamp
        return sent != 0 and (self.since is None or sent >= self.since) and (self.until is None or sent < self.until)


@dataclass(frozen=True, slots=True)
class ExpiredBy(MessageFact):
    """Expired at this time, ms."""

    now: int

    def of(self, message: Message) -> bool:
        return has_expired(message.expiration, self.now)


@dataclass(frozen=True, slots=True)
class BodyContains(MessageFact):
    """The text of the body (``body_text.whole_text``) contains ``text``; bodies in files are in ``large``.

    ``unsearched`` collects the ids of messages whose body could not be read.
    """

    text: str
    large: LargeMessages | None = None
    unsearched: set[int] = field(default_factory=set, compare=False)

    def of(self, message: Message) -> bool:
        """Return whether the body text contains the text. An unreadable body is noted in ``unsearched``."""
        try:
            body_text = whole_text(message, self.large)
        except (NotReadable, Undecodable):
            self.unsearched.add(message.id)
            return False
        return body_text is not None and self.text in body_text


def joined(facts: Iterable[MessageFact], where: Selector | None) -> Selector | None:
    """Return a selector for all facts and the selector ``where``, in this order. None selects all.

    The callers name cheap facts first.
    """
    nodes = (*facts, *((where.root,) if where else ()))
    if not nodes:
        return None
    return Selector(where.text if where else "", nodes[0] if len(nodes) == 1 else Junction(False, nodes))


def required_ids(selector: Selector | None) -> frozenset[int] | None:
    """Return the ids of which the broker's id of a selected message is one. None: any id may be selected."""
    if selector is None:
        return None
    root = selector.root
    parts = root.operands if isinstance(root, Junction) and not root.settles else (root,)
    named = [part.ids for part in parts if isinstance(part, IdIs)]
    return frozenset.intersection(*named) if named else None
