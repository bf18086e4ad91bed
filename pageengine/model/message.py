"""A message in the broker and its references: one reference per queue, in memory or read back from a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pageengine.model.sizes import body_bytes
from pageengine.trace.operations import MessageType, Property, PropertyType, Send

if TYPE_CHECKING:
    from pageengine.model.page import Record
    from pageengine.paging.store import AddressStore
    from pageengine.queues.consumer import Consumer
    from pageengine.queues.queue import Queue

DEFAULT_PRIORITY = 4
RESERVED = "_AMQ_"
DUPLICATE_ID = "_AMQ_DUPL_ID"
GROUP_ID = "_AMQ_GROUP_ID"
GROUP_SEQUENCE = "_AMQ_GROUP_SEQUENCE"
SCHEDULED = "_AMQ_SCHED_DELIVERY"
FilterValue = None | bool | int | float | str | bytes


class Message:
    """One message. ``mem`` and ``enc`` in bytes, ``expiration`` on the trace's clock in ns (0: never).

    ``special``: it has a property that the broker itself looks at.
    """

    __slots__ = (
        "address", "durable", "enc", "expiration", "id", "large", "mem", "owner", "priority",
        "props", "references", "reload_mem", "seq", "source", "special", "type",
    )  # fmt: skip

    def __init__(
        self, id: int, seq: int | None, address: str, type: MessageType, durable: bool, priority: int, expiration: int,
        props: tuple[Property, ...], enc: int, mem: int, reload_mem: int, large: bool, source: Send, special: bool,
    ) -> None:  # fmt: skip
        self.id = id
        self.seq = seq
        self.address = address
        self.type = type
        self.durable = durable
        self.priority = priority
        self.expiration = expiration
        self.props = props
        self.enc = enc
        self.mem = mem
        self.reload_mem = reload_mem
        self.large = large
        self.source = source
        self.special = special
        self.owner: AddressStore | None = None
        self.references = 0

    def lose_body(self) -> None:
        """A large message that is not durable: a restart leaves its record in the page, but not its body."""
        body = body_bytes(self.source)
        self.enc -= body if self.enc > body else 0

    def property(self, name: str) -> FilterValue:
        """Value of a property as a filter sees it, None where there is none."""
        for one in self.props:
            if one.name == name:
                return one.value
        return None

    def has(self, name: str) -> bool:
        return any(one.name == name for one in self.props)


class Reference:
    """A message in one queue. ``record`` is its place in the pages, None for a message that was never paged."""

    __slots__ = (
        "consumer", "delivery_count", "gone", "linked", "live", "mem", "message", "next", "prev", "queue", "record",
        "scheduled", "sequence", "stored_count",
    )  # fmt: skip

    def __init__(self, message: Message, queue: Queue, record: Record | None) -> None:
        self.message = message
        self.queue = queue
        self.record = record
        self.mem = message.mem
        self.delivery_count = 0
        self.stored_count = 0
        self.sequence = 0
        self.scheduled = 0
        self.consumer: Consumer | None = None
        self.prev: Reference | None = None
        self.next: Reference | None = None
        self.linked = False
        self.gone = False
        self.live = False


def string_property(name: str, value: str) -> Property:
    return Property(name, PropertyType.STRING, value)


def long_property(name: str, value: int) -> Property:
    return Property(name, PropertyType.LONG, value)
