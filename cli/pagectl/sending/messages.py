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

from pagectl.decoding.sources import AllSources, PageToRead
from pagefmt.bytes.wire import Undecodable
from pagefmt.columns.json_lines import picked_lines
from pagefmt.columns.table_content import StoredIn
from pagefmt.conversion.forms import NewForm
from pagefmt.conversion.names import ANYCAST, NewNames, routing_of
from pagefmt.directory.locks import node_id
from pagefmt.directory.queue_names import FQQN, has_wildcards, qualified
from pagefmt.editions import NEWEST
from pagefmt.exchange.outgoing import Outgoing, SendingWay, outgoing, own_duplicate_id
from pagefmt.messages.amqp_message import AmqpMessageBase
from pagefmt.messages.large import LargeMessages
from pagefmt.messages.values import has_expired
from pagefmt.outstanding.journal_parts import JournalPart
from pagefmt.outstanding.message_filter import MessageFilter, SelectedMessage
from pagefmt.outstanding.origins import AT_SOME_TIME, scheduled_time
from pagefmt.pages.chunks import WHOLE_FILE
from pagefmt.pages.frames import Damage
from pagefmt.pages.page import OddRecord

if TYPE_CHECKING:
    from pagefmt.directory.bindings import QueueBinding
    from pagefmt.directory.locate import DataLocation
    from pagefmt.messages.persisted import Message
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
CAPABILITIES: Final = {"ANYCAST": "queue", "MULTICAST": "topic"}


class QueuedMessage(NamedTuple):
    """One message of a queue. ``scheduled``: not before when (ms); 0: at once. ``first``: whether the queue is the
    first of those that it was routed to. ``unread``: why it cannot be sent."""

    position: int
    id: int
    message: Message | None
    scheduled: int
    first: bool
    unread: str | None = None


@dataclass(slots=True)
class QueueTotals:
    """What was found of a queue, and what became of it. ``waiting``: counted before, if anybody wants to know."""

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
    """``target``: an address, or ``address::queue``."""

    queue: QueueBinding
    target: str
    totals: QueueTotals = field(default_factory=QueueTotals)

    @property
    def name(self) -> str:
        """``address::queue``."""
        return qualified(self.queue)

    @property
    def capability(self) -> str:
        """What the target is to be, as the queue is."""
        anycast = routing_of(self.queue.address) == ANYCAST
        return CAPABILITIES[self.queue.routing or ("ANYCAST" if anycast else "MULTICAST")]

    def target_of(self, message: Message) -> str:
        """Where this message goes. Nobody sends to an address with wildcards (docs/spec/messages.md 16): what a queue
        of such a one has goes to the address that it was sent to, and the broker finds the queue."""
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
        """Those that the queue would deliver, in that order, those with a time behind the others: by the clock a run
        that goes on would not find the order of the one before."""
        choice = MessageFilter(queues=frozenset((queue.id,)), selector=self.selector, outstanding=True)
        sources = AllSources(self.place, self.state, choice, within=self.within, large=self.large, now=0)
        position = 0
        for at in sources:
            known = at.known
            for found in picked_lines(at.page, known, known.store, None, at.choice, at.origin, at.part or WHOLE_FILE):
                if isinstance(found, Damage):
                    self._tell(at, found)
                elif isinstance(found, SelectedMessage):
                    yield self._queued(at, found, queue, position)
                    position += 1
        self.damaged |= sources.damaged

    def _tell(self, at: PageToRead, found: Damage) -> None:
        """Once, however many queues have messages there."""
        file, damage, _ = at.placed(found)
        if (file, damage.offset) not in self._told:
            self._told.add((file, damage.offset))
            self.damaged |= at.tell(found)

    def _queued(self, at: PageToRead, found: SelectedMessage, queue: QueueBinding, position: int) -> QueuedMessage:
        record = found.record
        if isinstance(record, OddRecord):
            why = f"{record.damage.kind}: {record.damage.detail}"
            number = record.record.message.id if record.record is not None else 0
            return QueuedMessage(position, number, None, 0, False, why)
        message = record.message
        first = record.queues[0] == queue.id
        own = scheduled_time(message)
        scheduled = _scheduled(at, record.queues.index(queue.id))
        if scheduled == own or (own > 0 and isinstance(message, AmqpMessageBase)):
            scheduled = 0
        return QueuedMessage(position, message.id, message, scheduled, first)


def _matches(pattern: list[str], words: list[str]) -> bool:
    """As brokers do: ``*`` is one word, ``#`` any number of them."""
    reached = {0}  # words that are matched so far
    for each in pattern:
        if each == "#":
            reached = set(range(min(reached, default=len(words) + 1), len(words) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(words) and each in ("*", words[at])}
    return len(words) in reached


def _scheduled(at: PageToRead, index: int) -> int:
    """The time that the journal has; those that have one come in a part of their own."""
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
    """Makes messages ready. ``lost``: how many lose what, ``lost_before``: of these in an earlier run; ``refused``:
    those that did not arrive."""

    def __init__(self, place: DataLocation, large: LargeMessages | None) -> None:
        self.source = node_id(place.journal) or str((place.journal or place.given).resolve())
        self._large = large
        self._owned: dict[str, set[bytes]] = {}
        self.lost: Counter[tuple[SendingWay, str]] = Counter()
        self.lost_before: Counter[tuple[SendingWay, str]] = Counter()
        self.refused: list[RefusedMessage] = []

    def ready(
        self, sending: QueueToSend, each: QueuedMessage, *, tunnel: bool, queues: bool, before: bool = False
    ) -> tuple[str, Outgoing]:
        """Counted, with where it goes. ``queues``: the broker knows queues by their names; ``before``: it was sent by
        an earlier run.

        Raises ``Undecodable`` and ``NotReadable`` where it cannot be read."""
        message, now = each.message, int(time.time() * 1000)
        if message is None:
            raise Undecodable(0, each.unread or "not understood")
        if sending.queue.routing is None:
            message = _NEW_FORM.message(message, sending.queue.address)
        target = sending.target_of(message)
        if not queues:
            target = target.partition(FQQN)[0]
        made = outgoing(
            message, self._large, tunnel=tunnel, duplicate_id=self._duplicate_id(sending, each, message, target),
            scheduled=each.scheduled, now=now,
        )  # fmt: skip
        totals = sending.totals
        totals.messages += 1
        totals.bytes += made.size
        totals.ways[made.way] += 1
        totals.scheduled += each.scheduled > 0 or scheduled_time(message) not in range(AT_SOME_TIME + 1, now)
        totals.expired += has_expired(message.expiration, now)
        lost = set(made.lost)
        if FQQN in target:
            lost.add(_BY_QUEUE[made.way])
        if made.way is SendingWay.CONVERTED:
            lost.add(_AS_AMQP)
        for counts in (self.lost, self.lost_before) if before else (self.lost,):
            counts.update((made.way, what) for what in lost)
        return target, made

    def refuse(self, sending: QueueToSend, number: int, why: str) -> None:
        """Told and kept."""
        sending.totals.refused += 1
        self.refused.append(RefusedMessage(sending.name, number, why))

    def _duplicate_id(self, sending: QueueToSend, each: QueuedMessage, message: Message, target: str) -> str | None:
        """None: the message keeps its own. Brokers look for ids per address, whatever queue of it was named: of a
        message for several queues only the first one's copy keeps it, and of several messages with one id the first."""
        own = own_duplicate_id(message)
        if own is not None and each.first:
            raw = own if isinstance(own, bytes) else own.encode("utf-8", "surrogatepass")
            digest = hashlib.blake2b(raw, digest_size=16).digest()
            seen = self._owned.setdefault(target.partition(FQQN)[0], set())
            if digest not in seen:
                seen.add(digest)
                return None
        parts = (self.source, sending.name, str(each.id), str(message.timestamp))
        return (
            "pagectl-" + hashlib.blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        )


def next_crc(crc: int, number: int) -> int:
    """Over the ids of the messages so far."""
    return zlib.crc32((number & (1 << 64) - 1).to_bytes(8, "big"), crc)
