"""What pages and journal say of the queues that their messages are for: ids, addresses, routing, names.

Messages of one page that have the same queues are alike: of these the first is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pagefmt.bytes.wire import Undecodable
from pagefmt.directory.queue_names import FQQN
from pagefmt.messages.amqp_message import AmqpMessageBase
from pagefmt.messages.persisted import Message
from pagefmt.messages.values import ValueKind
from pagefmt.outstanding.journal_parts import JournalPart, JournalParts
from pagefmt.pages.in_memory import PageInMemory
from pagefmt.pages.page import open_page
from pagefmt.pages.paging import Store
from pagefmt.pages.record import FRAME, Layout, decode_record
from pagefmt.salvage.owners import page_files
from pagefmt.salvage.segments import rebuild
from pagefmt.salvage.store import read_around

ROUTING_PROPERTY: Final = "_AMQ_ROUTING_TYPE"
_JMS_DESTINATION: Final = "x-opt-jms-dest"
_OF_DESTINATION: Final = {0: 1, 1: 0, 2: 1, 3: 0}
"""Queue, topic, temporary queue, temporary topic: routing type."""


@dataclass(slots=True)
class QueueEvidence:
    """One queue id. ``addresses``: that messages for it name; ``names``: of queues in them; ``routing``: types that
    they ask for. ``shared``: a message was for it and another queue. ``messages`` of pages and journal that name it.
    ``stores``: folders with what their ``address.txt`` says."""

    id: int
    addresses: Counter[str] = field(default_factory=Counter)
    names: set[str] = field(default_factory=set)
    routing: set[int] = field(default_factory=set)
    shared: bool = False
    messages: int = 0
    stores: dict[str, str | None] = field(default_factory=dict)

    @property
    def address(self) -> str | None:
        """Of the queue. That of the store, for a queue of ``a.#`` gets messages of ``a.b``; unless all messages name
        another one, and the store's is none that gets messages of others."""
        said = Counter(each for each in self.stores.values() if each is not None and each.strip())
        named = self.addresses.most_common(1)[0][0] if self.addresses else None
        if not said:
            return named
        (store, _), *_ = said.most_common(1)
        others = store in self.addresses or len(self.addresses) != 1 or store.startswith("$")
        return store if others or any(mark in store for mark in "#*") else named

    def of(self, address: str | None) -> bool:
        """Whether its messages may be for a queue of this address."""
        return address is not None and (address in self.addresses or address in self.stores.values())


@dataclass(slots=True)
class Evidence:
    """``transactions``: of pages → references that their messages have. ``largest``: of all ids in messages."""

    queues: dict[int, QueueEvidence] = field(default_factory=dict)
    transactions: Counter[int] = field(default_factory=Counter)
    layouts: Counter[Layout] = field(default_factory=Counter)
    largest: int = 0

    def queue(self, number: int) -> QueueEvidence:
        """What is known of an id."""
        found = self.queues.get(number)
        if found is None:
            found = self.queues[number] = QueueEvidence(number)
        return found


def gather(stores: Iterable[Store], parts: JournalParts) -> Evidence:
    """Reads every page and every message of the journal once."""
    found = Evidence()
    for store in stores:
        for path in page_files(store):
            content = PageInMemory(b"".join(_readable(path)), 0, path.name)
            _page(found, content, store)
    for part in parts.parts():
        if isinstance(part, JournalPart):
            _page(found, part.page, None)
    return found


def _readable(path: Path) -> Iterator[bytes]:
    """The records of a page, those behind damage too."""
    with open_page(path) as page:
        stop = 0
        for route in page.routes():
            stop += bool(route[6])
            yield bytes(page.buf[route[1] : route[1] + route[2] + FRAME])
        damaged = page.damage is not None or page.odd is not None
    if damaged:
        data, holes = read_around(path)
        segments = [each for each in rebuild(data, holes, Layout.NEW).segments if each.queues]
        for segment in segments[stop:]:
            yield bytes(segment.data)


def _page(found: Evidence, content: PageInMemory, store: Store | None) -> None:
    seen: set[tuple[int, ...]] = set()
    with open_page(content) as page:
        layout = page.layout()
        if layout is not None:
            found.layouts[layout] += 1
        for _, at, length, tx, _, message, queues in page.routes():
            found.largest = max(found.largest, message, tx, *queues)
            if tx > 0 and store is not None:
                found.transactions[tx] += len(queues)
            for queue in queues:
                one = found.queue(queue)
                one.messages += 1
                one.shared |= len(queues) > 1
                if store is not None:
                    one.stores[store.name] = store.address
            if queues and queues not in seen:
                seen.add(queues)
                with suppress(Undecodable):
                    record = decode_record(page.buf, at, length, layout)
                    _message(found, record.message, queues)


def _message(found: Evidence, message: Message, queues: tuple[int, ...]) -> None:
    address = getattr(message, "address", None)
    if address is None:
        return
    address, _, name = address.partition(FQQN)
    for queue in queues:
        one = found.queue(queue)
        one.addresses[address] += 1
        if name and len(queues) == 1:
            one.names.add(name)
        with suppress(Undecodable):
            one.routing.update(_routing(message))


def _routing(message: Message) -> Iterator[int]:
    """0 multicast, 1 anycast, as far as the message says so."""
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
