"""What pages and journal say about queues: ids, addresses, routing types, names.

Messages of one page with the same queues are equal in this respect, so only the first of them is decoded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pagefmt.change.salvage.owners import page_files
from pagefmt.change.salvage.segments import rebuild
from pagefmt.change.salvage.store import read_around
from pagefmt.codec.messages.amqp_message import AmqpMessageBase
from pagefmt.codec.messages.persisted import Message
from pagefmt.codec.messages.values import ValueKind
from pagefmt.codec.pages.page import open_page
from pagefmt.codec.pages.page_in_memory import PageInMemory
from pagefmt.codec.pages.record import FRAME, Layout, decode_record
from pagefmt.codec.wire import Undecodable
from pagefmt.directory.paging import Store
from pagefmt.directory.queue_names import FQQN
from pagefmt.outstanding.journal_parts import JournalPart, JournalParts

ROUTING_PROPERTY: Final = "_AMQ_ROUTING_TYPE"
_JMS_DESTINATION: Final = "x-opt-jms-dest"
_OF_DESTINATION: Final = {0: 1, 1: 0, 2: 1, 3: 0}  # routing type of a queue, topic, temporary queue and temporary topic


@dataclass(slots=True)
class QueueEvidence:
    """What pages and journal say about one queue id.

    ``addresses``: addresses in its messages. ``names``: queue names in those addresses. ``routing``: routing types that
    the messages ask for. ``shared``: a message was for it and another queue. ``messages``: number of messages in pages
    and journal that name it. ``stores``: folders that contain such messages, with the address in their ``address.txt``.
    """

    id: int
    addresses: Counter[str] = field(default_factory=Counter)
    names: set[str] = field(default_factory=set)
    routing: set[int] = field(default_factory=set)
    shared: bool = False
    messages: int = 0
    stores: dict[str, str | None] = field(default_factory=dict)

    @property
    def address(self) -> str | None:
        """Return the address of the queue, or None if nothing names one.

        This is the address of the store, because a queue of ``a.#`` gets messages of ``a.b``. The address in the
        messages takes precedence if all of them name the same other one, and the store's address cannot receive
        messages of others.
        """
        store_addresses = Counter(
            address for address in self.stores.values() if address is not None and address.strip()
        )
        named = self.addresses.most_common(1)[0][0] if self.addresses else None
        if not store_addresses:
            return named
        (store, _), *_ = store_addresses.most_common(1)
        is_store = store in self.addresses or len(self.addresses) != 1 or store.startswith("$")
        return store if is_store or any(mark in store for mark in "#*") else named

    def of(self, address: str | None) -> bool:
        """Return whether its messages may be for a queue of this address."""
        return address is not None and (address in self.addresses or address in self.stores.values())


@dataclass(slots=True)
class Evidence:
    """What pages and journal say about queues, transactions and ids.

    ``transactions``: ids of those in pages → number of references in their messages. ``largest``: the largest of all
    ids in messages.
    """

    queues: dict[int, QueueEvidence] = field(default_factory=dict)
    transactions: Counter[int] = field(default_factory=Counter)
    layouts: Counter[Layout] = field(default_factory=Counter)
    largest: int = 0

    def queue(self, number: int) -> QueueEvidence:
        """Return the evidence for a queue id, empty at first."""
        evidence = self.queues.get(number)
        if evidence is None:
            evidence = self.queues[number] = QueueEvidence(number)
        return evidence


def gather(stores: Iterable[Store], parts: JournalParts) -> Evidence:
    """Read every page and every message of the journal once and return the evidence in them."""
    evidence = Evidence()
    for store in stores:
        for path in page_files(store):
            content = PageInMemory(b"".join(_readable(path)), 0, path.name)
            _page(evidence, content, store)
    for part in parts.parts():
        if isinstance(part, JournalPart):
            _page(evidence, part.page, None)
    return evidence


def _readable(path: Path) -> Iterator[bytes]:
    """Yield the readable records of a page, those after damage included."""
    with open_page(path) as page:
        stop = 0
        for route in page.routes():
            stop += bool(route[6])
            yield bytes(page.buf[route[1] : route[1] + route[2] + FRAME])
        damaged = page.damage is not None or page.odd is not None
    if damaged:
        data, holes = read_around(path)
        segments = [candidate for candidate in rebuild(data, holes, Layout.NEW).segments if candidate.queues]
        for segment in segments[stop:]:
            yield bytes(segment.data)


def _page(evidence: Evidence, content: PageInMemory, store: Store | None) -> None:
    seen: set[tuple[int, ...]] = set()
    with open_page(content) as page:
        layout = page.layout()
        if layout is not None:
            evidence.layouts[layout] += 1
        for _, at, length, tx, _, message, queues in page.routes():
            evidence.largest = max(evidence.largest, message, tx, *queues)
            if tx > 0 and store is not None:
                evidence.transactions[tx] += len(queues)
            for queue in queues:
                queue_evidence = evidence.queue(queue)
                queue_evidence.messages += 1
                queue_evidence.shared |= len(queues) > 1
                if store is not None:
                    queue_evidence.stores[store.name] = store.address
            if queues and queues not in seen:
                seen.add(queues)
                with suppress(Undecodable):
                    record = decode_record(page.buf, at, length, layout)
                    _message(evidence, record.message, queues)


def _message(evidence: Evidence, message: Message, queues: tuple[int, ...]) -> None:
    address = getattr(message, "address", None)
    if address is None:
        return
    address, _, name = address.partition(FQQN)
    for queue in queues:
        queue_evidence = evidence.queue(queue)
        queue_evidence.addresses[address] += 1
        if name and len(queues) == 1:
            queue_evidence.names.add(name)
        with suppress(Undecodable):
            queue_evidence.routing.update(_routing(message))


def _routing(message: Message) -> Iterator[int]:
    """Yield the routing type (0 multicast, 1 anycast) that the message names, if it does."""
    if isinstance(message, AmqpMessageBase):
        section = message.scanned().message_annotations
        pairs = section.value if section is not None and section.kind is ValueKind.MAP else ()
        for key, value in pairs:
            if str(key.value) == _JMS_DESTINATION and value.value in _OF_DESTINATION:
                yield _OF_DESTINATION[value.value]
        return
    stated = message.properties().get(ROUTING_PROPERTY)
    if stated is not None and stated.value in (0, 1):
        yield int(stated.value)
