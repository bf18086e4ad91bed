"""A message in the broker: its sizes, its properties, and how many references to it are in memory."""

from __future__ import annotations

from enum import Enum

from pageengine.model.ports import StorePort
from pageengine.model.sizes import body_bytes
from pageengine.trace.operations import MessageProperty, Send
from pagefmt.messages.values import ValueKind

DEFAULT_PRIORITY = 4
RESERVED = "_AMQ_"
DUPLICATE_ID = "_AMQ_DUPL_ID"
GROUP_ID = "_AMQ_GROUP_ID"
GROUP_SEQUENCE = "_AMQ_GROUP_SEQUENCE"
SCHEDULED = "_AMQ_SCHED_DELIVERY"
FilterValue = None | bool | int | float | str | bytes


class AmqpKind(Enum):
    """By which kind of link an AMQP message came: one with an address, or one where each message has its own."""

    TO_ADDRESS = "to address"
    ANONYMOUS = "anonymous"


class Message:
    """One message. ``mem`` (memory estimate) and ``enc`` (encoded) in bytes, ``expiration`` on the trace's clock in ns
    (0: never). ``special``: it has a property that the broker evaluates. ``reloads_alike``: it weighs the same after a
    restart. ``record_extra``: what its record in a page has over that of a core message, in bytes.
    ``amqp``: by which kind of link it came, None where the broker made a core message of it.
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
        self, id: int, address: str, expiration: int, props: tuple[MessageProperty, ...], enc: int, mem: int,
        reloads_alike: bool, large: bool, source: Send, special: bool,
    ) -> None:  # fmt: skip
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
        """A large non-durable message after a restart: its record is still in the page, its body is gone."""
        body = body_bytes(self.source)
        self.enc -= body if self.enc > body else 0

    def property(self, name: str) -> FilterValue:
        """Value of a property as a filter sees it, None where there is none."""
        for one in self.props:
            if one.name == name:
                return one.value
        return None

    def has(self, name: str) -> bool:
        """Whether there is such a property."""
        return any(one.name == name for one in self.props)


def string_property(name: str, value: str) -> MessageProperty:
    """A property with a text value."""
    return MessageProperty(name, ValueKind.STRING, value)


def long_property(name: str, value: int) -> MessageProperty:
    """A property with a 64-bit integer value."""
    return MessageProperty(name, ValueKind.LONG, value)
