"""What a queue would deliver, in the order of delivery, each message made ready for its target."""

from __future__ import annotations

import hashlib
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from pagectl.decoding.sources import AllSources, PageSources, PageToRead
from pagefmt.change.conversion.forms import NewForm
from pagefmt.change.conversion.names import ANYCAST, NewNames, routing_of
from pagefmt.codec.messages.amqp_message import AmqpMessageBase
from pagefmt.codec.messages.large import LargeMessages
from pagefmt.codec.messages.values import has_expired
from pagefmt.codec.pages.file_part import WHOLE_FILE
from pagefmt.codec.pages.frames import Damage
from pagefmt.codec.pages.page import OddRecord
from pagefmt.codec.wire import Undecodable
from pagefmt.directory.bindings import ROUTING
from pagefmt.directory.locks import node_id
from pagefmt.directory.queue_names import FQQN, has_wildcards, qualified
from pagefmt.editions import NEWEST
from pagefmt.exchange.outgoing import Outgoing, SendingWay, outgoing, own_duplicate_id
from pagefmt.outstanding.journal_parts import JournalPart
from pagefmt.outstanding.message_filter import MessageFilter, SelectedMessage
from pagefmt.outstanding.message_location import AT_SOME_TIME, scheduled_time
from pagefmt.table.json_lines import picked_lines
from pagefmt.table.table_content import StoredIn

if TYPE_CHECKING:
    from pagefmt.codec.messages.persisted import Message
    from pagefmt.directory.bindings import QueueBinding
    from pagefmt.directory.locate import DataLocation
    from pagefmt.outstanding.state import PagingState
    from pagefmt.selector import Selector

_NEW_FORM: Final = NewForm(NewNames(), NEWEST, old=True)
_BY_QUEUE: Final = {
    SendingWay.AS_IS: "the plain address: core clients see ADDRESS::QUEUE as the destination",
    SendingWay.CONVERTED: "the plain address: core clients see ADDRESS::QUEUE as the destination",
    SendingWay.TUNNELLED: "the plain address: clients see ADDRESS::QUEUE as the destination",
}
_AS_AMQP: Final = (
    "core clients see a new JMSMessageID (the old one is in NATIVE_MESSAGE_ID) and additional JMS_AMQP_… properties"
)
_ROUTING_TYPES: Final = {name: number for number, name in ROUTING.items()}
CAPABILITIES: Final = {"ANYCAST": "queue", "MULTICAST": "topic"}


class QueuedMessage(NamedTuple):
    """A message of a queue, ready to be prepared for sending.

    ``scheduled`` is the earliest delivery time in milliseconds, 0 for immediate delivery. ``first`` says whether this
    queue is the first of those that the message was routed to. ``unread`` is the reason why the message cannot be sent.
    """

    position: int
    id: int
    message: Message | None
    scheduled: int
    first: bool
    unread: str | None = None


@dataclass(slots=True)
class QueueTotals:
    """The message counts of one queue. ``waiting``: counted before sending, 0 if the count was not requested.

    ``messages`` of ``bytes`` were prepared for sending, by way in ``ways``. Of all messages, ``sent`` and ``refused``
    count those of this run, ``before`` those that an earlier run sent. ``failure``: why none was sent, or None.
    """

    waiting: int = 0
    messages: int = 0
    bytes: int = 0
    ways: Counter[SendingWay] = field(default_factory=Counter)
    scheduled: int = 0
    expired: int = 0
    in_doubt: int = 0
    sent: int = 0
    before: int = 0
    refused: int = 0
    perhaps_twice: int = 0  # under way when the connection to a broker that remembers no ids was lost
    failure: str | None = None


@dataclass(slots=True)
class QueueToSend:
    """A queue whose messages are sent. ``target``: an address, or ``address::queue``."""

    queue: QueueBinding
    target: str
    totals: QueueTotals = field(default_factory=QueueTotals)

    @property
    def name(self) -> str:
        """Return ``address::queue``."""
        return qualified(self.queue)

    @property
    def capability(self) -> str:
        """Return the capability of the link's target that matches the routing type of the queue."""
        anycast = routing_of(self.queue.address) == ANYCAST
        return CAPABILITIES[self.queue.routing or ("ANYCAST" if anycast else "MULTICAST")]

    def target_of(self, message: Message) -> str:
        """Return the address to send this message to.

        A client cannot send to an address with wildcards (docs/spec/messages.md 16), so messages of a queue on such an
        address go to the address that they were originally sent to, from where the broker routes them to the queue.
        """
        address, both, queue = self.target.partition(FQQN)
        own = message.address
        wild = both and own and has_wildcards(address) and _matches(address.split("."), own.split("."))
        return f"{own}{FQQN}{queue}" if wild else self.target


@dataclass(slots=True)
class StoredMessages:
    """The messages of a place. ``damaged``: something was met that cannot be read or is unknown."""

    place: DataLocation
    state: PagingState
    selector: Selector | None
    large: LargeMessages | None
    within: StoredIn = StoredIn.LIVE
    damaged: bool = False
    _told: set[tuple[str, int]] = field(default_factory=set)

    def of(self, queue: QueueBinding) -> Iterator[QueuedMessage]:
        """Yield the messages that the queue would deliver, in delivery order.

        Scheduled messages come last, whatever the clock says: otherwise a continued run would see another order than
        the run before.
        """
        sources = self.sources(MessageFilter(queues=self.ids_of(queue), selector=self.selector, outstanding=True))
        position = 0
        for at in sources:
            holder = at.known
            for item in picked_lines(at.page, holder, holder.store, None, at.choice, at.origin, at.part or WHOLE_FILE):
                if isinstance(item, Damage):
                    self._tell(at, item)
                elif isinstance(item, SelectedMessage):
                    yield self._queued(at, item, queue, position)
                    position += 1
        self.damaged |= sources.damaged

    def ids_of(self, queue: QueueBinding) -> frozenset[int]:
        """Return the ids of the queue: a deleted queue and its successor have one name."""
        return frozenset((queue.id,))

    def sources(self, choice: MessageFilter) -> PageSources:
        """Return what is read for the chosen messages."""
        return AllSources(self.place, self.state, choice, within=self.within, large=self.large, now=0)

    def _tell(self, at: PageToRead, damaged: Damage) -> None:
        """Report damage once, however many queues have messages in the damaged place."""
        file, damage, _ = at.placed(damaged)
        if (file, damage.offset) not in self._told:
            self._told.add((file, damage.offset))
            self.damaged |= at.tell(damaged)

    def _queued(self, at: PageToRead, selected: SelectedMessage, queue: QueueBinding, position: int) -> QueuedMessage:
        record = selected.record
        if isinstance(record, OddRecord):
            why = f"{record.damage.kind}: {record.damage.detail}"
            number = record.record.message.id if record.record is not None else 0
            return QueuedMessage(position, number, None, 0, False, why)
        message = record.message
        ids = self.ids_of(queue)
        index = next(n for n, number in enumerate(record.queues) if number in ids)
        own = scheduled_time(message)
        scheduled = _scheduled(at, index)
        if scheduled == own or (own > 0 and isinstance(message, AmqpMessageBase)):
            scheduled = 0
        return QueuedMessage(position, message.id, message, scheduled, index == 0)


def _matches(pattern: list[str], words: list[str]) -> bool:
    """Return whether an address matches a pattern: ``*`` stands for one word, ``#`` for any number of words."""
    reached = {0}  # words that are matched so far
    for wanted in pattern:
        if wanted == "#":
            reached = set(range(min(reached, default=len(words) + 1), len(words) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(words) and wanted in ("*", words[at])}
    return len(words) in reached


def _scheduled(at: PageToRead, index: int) -> int:
    """Return the delivery time in the journal (ms) of a scheduled message, 0 if it has none.

    Scheduled journal messages come in a part of their own, of one message each.
    """
    if not isinstance(at.known, JournalPart) or len(at.known.origin.numbers) != 1:
        return 0
    _, times = at.known.origin.deliveries(np.zeros(1, np.int64), np.zeros(0, np.int64))
    return max(0, int(times[index]))


class RefusedMessage(NamedTuple):
    """A message that the broker did not take, or that cannot be read."""

    queue: str
    id: int
    why: str


class Preparing:
    """Prepares stored messages for sending, and counts what they lose.

    ``lost`` counts messages by sending way and what they lose, ``lost_before`` those among them that an earlier run
    sent. ``refused`` lists messages that did not arrive. ``again``: brokers have had the messages before, and may
    remember their own duplicate ids, and those with which they were sent then.
    """

    def __init__(self, place: DataLocation, large: LargeMessages | None, *, again: bool = False) -> None:
        self.source = node_id(place.journal) or str((place.journal or place.given).resolve())
        self._again = again
        self._large = large
        self._owned: dict[str, set[bytes]] = {}
        self.lost: Counter[tuple[SendingWay, str]] = Counter()
        self.lost_before: Counter[tuple[SendingWay, str]] = Counter()
        self.refused: list[RefusedMessage] = []

    def ready(
        self, sending: QueueToSend, queued: QueuedMessage, *, tunnel: bool, queues: bool, before: bool = False
    ) -> tuple[str, Outgoing]:
        """Return a message in the form in which it is sent, with its target address, and count it.

        Raises ``Undecodable`` and ``NotReadable`` if the message cannot be read.

        Args:
            sending: The queue, with its totals.
            queued: The message.
            tunnel: Whether the broker accepts core messages unchanged inside AMQP.
            queues: Whether the broker accepts ``address::queue`` as a target.
            before: Whether an earlier run sent the message.
        """
        message, now = queued.message, int(time.time() * 1000)
        if message is None:
            raise Undecodable(0, queued.unread or "not understood")
        if sending.queue.routing is None:
            message = _NEW_FORM.message(message, sending.queue.address)
        target = sending.target_of(message)
        if not queues:
            target = target.partition(FQQN)[0]
        prepared = outgoing(
            message,
            self._large,
            tunnel=tunnel,
            duplicate_id=self._duplicate_id(sending, queued, message, target),
            scheduled=queued.scheduled,
            now=now,
            routing=_ROUTING_TYPES.get(sending.queue.routing or ""),
        )
        totals = sending.totals
        totals.messages += 1
        totals.bytes += prepared.size
        totals.ways[prepared.way] += 1
        totals.scheduled += queued.scheduled > 0 or scheduled_time(message) not in range(AT_SOME_TIME + 1, now)
        totals.expired += has_expired(message.expiration, now)
        lost = set(prepared.lost)
        if FQQN in target:
            lost.add(_BY_QUEUE[prepared.way])
        if prepared.way is SendingWay.CONVERTED:
            lost.add(_AS_AMQP)
        for counts in (self.lost, self.lost_before) if before else (self.lost,):
            counts.update((prepared.way, what) for what in lost)
        return target, prepared

    def refuse(self, sending: QueueToSend, number: int, why: str) -> None:
        """Count and record a message that is not sent."""
        sending.totals.refused += 1
        self.refused.append(RefusedMessage(sending.name, number, why))

    def _duplicate_id(self, sending: QueueToSend, queued: QueuedMessage, message: Message, target: str) -> str | None:
        """Return a duplicate id for a message, or None if the message keeps its own.

        Brokers compare ids per address, whichever of its queues was named. So only the copy for the first queue of a
        message keeps the message's own id, and of several messages with one id only the first does.
        """
        own = own_duplicate_id(message)
        if own is not None and queued.first and not self._again:
            raw = own if isinstance(own, bytes) else own.encode("utf-8", "surrogatepass")
            digest = hashlib.blake2b(raw, digest_size=16).digest()
            seen = self._owned.setdefault(target.partition(FQQN)[0], set())
            if digest not in seen:
                seen.add(digest)
                return None
        parts = (
            self.source,
            sending.name,
            str(queued.id),
            str(message.timestamp),
            *(("again",) if self._again else ()),
        )
        return (
            "pagectl-" + hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        )


def next_crc(crc: int, number: int) -> int:
    """Return the CRC-32 of the message ids so far, ``crc``, extended by one more id."""
    return zlib.crc32((number & (1 << 64) - 1).to_bytes(8, "big"), crc)
