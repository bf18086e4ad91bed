"""What ``messages find`` and ``decode`` ask of a message beside a selector, each a condition that joins it.

The columnar form of each is in ``pagefmt.columns.fact_columns``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pagefmt.bytes.files import NotReadable
from pagefmt.bytes.wire import Undecodable
from pagefmt.messages.amqp_message import AmqpMessageBase
from pagefmt.messages.amqp_text import identifier_text
from pagefmt.messages.body_text import whole_text
from pagefmt.messages.large import LargeMessages
from pagefmt.messages.message_ids import CORRELATION_ID_PROPERTIES, USER_ID_PROPERTIES, id_text
from pagefmt.messages.persisted import Message
from pagefmt.messages.values import has_expired
from pagefmt.selector.nodes import Junction, MessageFact
from pagefmt.selector.parser import Selector


@dataclass(frozen=True, slots=True)
class IdIs(MessageFact):
    """The broker's message id is one of these."""

    ids: frozenset[int]

    def of(self, message: Message) -> bool:
        """By the id."""
        return message.id in self.ids


@dataclass(frozen=True, slots=True)
class AddressIs(MessageFact):
    """The message's own address is one of these."""

    addresses: frozenset[str]

    def of(self, message: Message) -> bool:
        """By the address."""
        return message.address in self.addresses


@dataclass(frozen=True, slots=True)
class UserIdIs(MessageFact):
    """The id that the client gave the message is one of these texts (``message_ids.accepted_texts``)."""

    texts: frozenset[str]

    def of(self, message: Message) -> bool:
        """By the user id, or by where other protocols leave theirs."""
        return message.user_id in self.texts or _among_properties(message, USER_ID_PROPERTIES, self.texts)


@dataclass(frozen=True, slots=True)
class CorrelationIdIs(MessageFact):
    """As ``UserIdIs``, of the id of the message that it answers."""

    texts: frozenset[str]

    def of(self, message: Message) -> bool:
        """By AMQP's field, or by the property that it is in the other protocols."""
        if isinstance(message, AmqpMessageBase):
            found = message.scanned().properties.get("correlation_id")
            if found is not None and identifier_text(found) in self.texts:
                return True
        return _among_properties(message, CORRELATION_ID_PROPERTIES, self.texts)


def _among_properties(message: Message, names: Iterable[str], texts: frozenset[str]) -> bool:
    known = message.properties()
    return any(id_text(known[name]) in texts for name in names if name in known)


@dataclass(frozen=True, slots=True)
class SentBetween(MessageFact):
    """Sent at ``since`` or later and before ``until``, ms; None: open. False where no time was set."""

    since: int | None
    until: int | None

    def of(self, message: Message) -> bool:
        """By the timestamp."""
        sent = message.timestamp
        return sent != 0 and (self.since is None or sent >= self.since) and (self.until is None or sent < self.until)


@dataclass(frozen=True, slots=True)
class ExpiredBy(MessageFact):
    """Expired at this time, ms."""

    now: int

    def of(self, message: Message) -> bool:
        """By the expiration."""
        return has_expired(message.expiration, self.now)


@dataclass(frozen=True, slots=True)
class BodyContains(MessageFact):
    """The text of the body (``body_text.whole_text``) contains ``text``; bodies in files are in ``large``.

    ``unsearched`` takes the ids of messages whose body could not be looked through.
    """

    text: str
    large: LargeMessages | None = None
    unsearched: set[int] = field(default_factory=set, compare=False)

    def of(self, message: Message) -> bool:
        """False where there is no text."""
        try:
            found = whole_text(message, self.large)
        except (NotReadable, Undecodable):
            self.unsearched.add(message.id)
            return False
        return found is not None and self.text in found


def joined(facts: Iterable[MessageFact], where: Selector | None) -> Selector | None:
    """All of the facts and the selector; the cheap ones first, as they are given. None: everything."""
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
