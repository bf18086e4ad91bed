"""Messages as a journal or page stores them, described as the sends that brought them to the broker."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from math import isfinite
from typing import Final, NamedTuple

from pageengine.model.amqp_encoding import body_bytes_within
from pageengine.model.message import DEFAULT_PRIORITY
from pageengine.model.sizes import FIXED_WIDTH, LARGE_SIZE_PROPERTY, header_bytes, properties_bytes
from pageengine.trace.client_protocols import client_of, without_own
from pageengine.trace.operations import ClientOptions, ClientProtocol, MessageProperties, MessageProperty
from pagefmt.codec.messages.amqp_message import AmqpLargeMessage, AmqpMessage
from pagefmt.codec.messages.core_fields import USER_ID_SIZE
from pagefmt.codec.messages.core_message import CoreLargeMessage, CoreMessage
from pagefmt.codec.messages.core_message_old import OldCoreMessage
from pagefmt.codec.messages.large import LargeMessages
from pagefmt.codec.messages.persisted import Message
from pagefmt.codec.messages.values import TypedValue, ValueKind
from pagefmt.codec.wire import Undecodable
from pagefmt.history.copies import NAMES_OF_ORIGINALS, CopyOrigin, origin_of
from pagefmt.storage.files import NotReadable

_HIGHEST_PRIORITY: Final = 9
_HIGHEST_CHAR: Final = 0xFFFF
_NO_PROPERTIES: Final = 1  # bytes of an empty block of properties
_KINDS: Final = frozenset((*FIXED_WIDTH, ValueKind.STRING, ValueKind.BYTES))


class SentMessage(NamedTuple):
    """What a trace says of a message that was sent.

    ``size``: bytes of the body with which the replayed message is encoded in as many bytes as the stored one.
    ``timestamp`` and ``expiration`` are in ms since 1970, 0 without one. ``origin``: of a copy that a broker made.
    ``lacks``: what is not as it was, None if all is.
    """

    id: int
    address: str
    protocol: ClientProtocol
    client: ClientOptions
    size: int
    large: bool
    durable: bool
    priority: int
    timestamp: int
    expiration: int
    props: MessageProperties
    origin: CopyOrigin | None
    lacks: str | None


def sent_message(message: Message, bodies: LargeMessages) -> SentMessage | None:
    """Return what a trace says of a message, None if no address is known or it cannot be decoded.

    ``bodies``: of large messages.
    """
    with suppress(Undecodable):
        address = message.address
        if address is not None:
            if isinstance(message, AmqpMessage | AmqpLargeMessage):
                return _amqp(message, address, bodies)
            return _core(message, address, bodies)
    return None


def _core(message: CoreMessage | OldCoreMessage | CoreLargeMessage, address: str, bodies: LargeMessages) -> SentMessage:
    stored = message.properties()
    every, lacks = _properties(stored.items())
    protocol, client = client_of({item.name: item.value for item in every})
    props = without_own(protocol, every)
    if isinstance(message, CoreLargeMessage):
        declared = stored.get(LARGE_SIZE_PROPERTY)
        size = int(declared.value) if declared is not None and declared.kind is ValueKind.LONG else None
        props = MessageProperties(item for item in props if item.name != LARGE_SIZE_PROPERTY)
        if size is None and (size := _body_size(bodies, message.id)) is None:
            size, lacks = 0, "size of a large body"
    else:
        size = len(message.body)
        if protocol is ClientProtocol.CORE:
            size += USER_ID_SIZE if message.header.user_bytes is not None else 0
            # the body makes up for what cannot be a property of a trace
            replayed = header_bytes("", properties_bytes(props), len(props)) - header_bytes("", 0, 0) + _NO_PROPERTIES
            size += max(len(message.header.properties_bytes) - replayed, 0)
    return SentMessage(
        message.id,
        address,
        protocol,
        client,
        size,
        message.large,
        message.durable,
        min(message.priority, _HIGHEST_PRIORITY),
        message.timestamp,
        message.expiration,
        props,
        None if stored.keys().isdisjoint(NAMES_OF_ORIGINALS) else origin_of(message),
        lacks,
    )


def _amqp(message: AmqpMessage | AmqpLargeMessage, address: str, bodies: LargeMessages) -> SentMessage:
    props, lacks = _properties(message.properties().items())
    encoded = len(message.encoded) if isinstance(message, AmqpMessage) else _body_size(bodies, message.id)
    if encoded is None:
        encoded, lacks = 0, "size of a large body"
    size = body_bytes_within(encoded, address, message.durable, props)
    return SentMessage(
        message.id,
        address,
        ClientProtocol.AMQP,
        ClientOptions(),
        max(size, 0),
        message.large,
        message.durable,
        min(message.priority, _HIGHEST_PRIORITY) if message.priority is not None else DEFAULT_PRIORITY,
        message.timestamp,
        message.expiration,
        props,
        origin_of(message),
        lacks or ("sections of an AMQP message that make it larger than the replayed one" if size < 0 else None),
    )


def _properties(entries: Iterable[tuple[str, TypedValue]]) -> tuple[MessageProperties, str | None]:
    """Return the properties that a trace can have, and what it lacks, None if it has all."""
    props, lacks = [], None
    for name, value in entries:
        if value.kind in _KINDS and _has_plain_value(value):
            props.append(MessageProperty(name, value.kind, _plain(value)))
        else:
            lacks = "property of a kind that a trace does not have"
    return MessageProperties(props), lacks


def _has_plain_value(value: TypedValue) -> bool:
    """Return whether a trace can have the value: numbers are finite, characters are one UTF-16 unit."""
    if isinstance(value.value, float):
        return isfinite(value.value)
    return value.kind is not ValueKind.CHAR or value.value <= _HIGHEST_CHAR


def _plain(value: TypedValue) -> bool | int | float | str | bytes | None:
    """Return the value as a trace has it: characters as text, booleans as such."""
    match value.kind:
        case ValueKind.CHAR:
            return chr(value.value)
        case ValueKind.BOOLEAN:
            return bool(value.value)
        case _:
            plain: int | float | str | bytes | None = value.value
            return plain


def _body_size(bodies: LargeMessages, message: int) -> int | None:
    """Return the bytes of a large body, None if there is none or it cannot be read."""
    with suppress(NotReadable):
        file = bodies.find(message)
        return None if file is None else file.size
    return None
