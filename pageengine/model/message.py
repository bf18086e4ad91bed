"""A message in the broker: its sizes, its properties, and how many references to it are in memory."""

from __future__ import annotations

from enum import Enum

from pageengine.model.ports import StorePort
from pageengine.model.sizes import body_bytes
from pageengine.trace.operations import MessageProperty, Send
from pagefmt.codec.messages.values import ValueKind

DEFAULT_PRIORITY = 4
RESERVED = "_AMQ_"
DUPLICATE_ID = "_AMQ_DUPL_ID"
GROUP_ID = "_AMQ_GROUP_ID"
GROUP_SEQUENCE = "_AMQ_GROUP_SEQUENCE"
SCHEDULED = "_AMQ_SCHED_DELIVERY"
FilterValue = None | bool | int | float | str | bytes


class AmqpKind(Enum):
    """Kind of link by which an AMQP message came: with an address, or with one for each message."""

    TO_ADDRESS = "to address"
    ANONYMOUS = "anonymous"


class Message:
    """Message in the engine.

    ``mem`` (memory estimate) and ``enc`` (encoded) are in bytes, ``expiration`` is on the trace's clock in ns (0:
    never). ``special``: it has a property that the broker evaluates. ``reloads_alike``: it weighs the same after a
    restart. ``record_extra``: bytes of its page record beyond those of a core message's. ``amqp``: the kind of AMQP
    link it arrived by, None if the broker made a core message of it.
    """

    __slots__ = (
        "address",
        "amqp",
        "durable",
        "enc",
        "expiration",
        "id",
        "large",
        "mem",
        "owner",
        "priority",
        "props",
        "record_extra",
        "references",
        "reloads_alike",
        "seq",
        "source",
        "special",
        "type",
        "user_id",
    )

    def __init__(
        self,
        id: int,
        address: str,
        expiration: int,
        props: tuple[MessageProperty, ...],
        enc: int,
        mem: int,
        reloads_alike: bool,
        large: bool,
        source: Send,
        special: bool,
    ) -> None:
        self.id = id
        self.seq: int | None = source.seq
        self.address = address
        self.type = source.type
        self.durable = source.durable
        self.priority = source.priority
        self.expiration = expiration
        self.props = props
        self.enc = enc
        self.mem = mem
        self.reloads_alike = reloads_alike
        self.large = large
        self.source = source
        self.special = special
        self.owner: StorePort | None = None
        self.references = self.record_extra = 0
        self.user_id: bytes | None = None
        self.amqp: AmqpKind | None = None

    def lose_body(self) -> None:
        """Subtract the body, as happens to a large non-durable message at a restart.

        Only its record is still in the page.
        """
        body = body_bytes(self.source)
        self.enc -= body if self.enc > body else 0

    def property(self, name: str) -> FilterValue:
        """Return the value of a property as a filter sees it, or None if there is none."""
        for candidate in self.props:
            if candidate.name == name:
                return candidate.value
        return None

    def has(self, name: str) -> bool:
        """Return whether the message has a property of that name."""
        return any(candidate.name == name for candidate in self.props)


def string_property(name: str, value: str) -> MessageProperty:
    """Return a property with a text value."""
    return MessageProperty(name, ValueKind.STRING, value)


def long_property(name: str, value: int) -> MessageProperty:
    """Return a property with a 64-bit integer value."""
    return MessageProperty(name, ValueKind.LONG, value)
