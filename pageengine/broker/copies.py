"""Messages as the engine creates them: from a send, and as copies for dead letters, expiry and diverts.

Source: docs/spec/paging-engine.md 1.3, 3.6 and 3.7.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from msgspec.structs import replace

from pageengine.broker.broker import Broker
from pageengine.model.message import RESERVED, SCHEDULED, Message, long_property, string_property
from pageengine.model.sizes import LARGE_SIZE_PROPERTY, body_bytes, header_bytes, properties_bytes
from pageengine.settings.profiles import Profile
from pageengine.trace.operations import NS_PER_MS, MessageProperty, MessageType, Send, TraceHeader
from pagefmt.codec.messages.values import ValueKind

ORIGINAL_ADDRESS = "_AMQ_ORIG_ADDRESS"
ORIGINAL_QUEUE = "_AMQ_ORIG_QUEUE"
ORIGINAL_ID = "_AMQ_ORIG_MESSAGE_ID"
ACTUAL_EXPIRY = "_AMQ_ACTUAL_EXPIRY"
LARGE_HEADER = 45
OLD_LAYOUT = 4
OLD_PACKET = 14
FIRST_BUFFER = 1500
SMALLEST_BUFFER = 64


# Creates a named tuple from its values in a third of the usual time: every message gets one.
_made = tuple.__new__


class PropertySizes(NamedTuple):
    """Bytes that the address and the properties of a message add to its body."""

    header: int
    properties: int
    special: bool
    # Read again from the journal, the message has decoded properties.
    scheduled: bool


@lru_cache(maxsize=65536)
def measures(address: str, props: tuple[MessageProperty, ...], seq_name: str) -> PropertySizes:
    """Return the sizes of headers and properties.

    Cached, because they are equal for all messages of an address with equal properties apart from the sequence number.
    """
    named = (*props, long_property(seq_name, 0)) if seq_name else props
    total = properties_bytes(named)
    special = any(item.name.startswith(RESERVED) for item in named)
    scheduled = special and any(item.name == SCHEDULED for item in named)
    header = header_bytes(address, total, len(named))
    return PropertySizes(header, total + 8 * len(named) if named else 0, special, scheduled)


def _sizes(profile: Profile, measured: PropertySizes, body: int, large: bool) -> tuple[int, int]:
    """Return the encoded size and the memory estimate, in bytes."""
    if large:
        return body + measured.header, profile.large_offset + LARGE_HEADER + 2 * measured.header
    enc = 4 + body + measured.header
    if profile.old_layout:
        enc += OLD_LAYOUT
        return enc, profile.message_offset + buffer_bytes(profile, enc) + measured.properties
    return enc, profile.message_offset + enc + measured.properties


def reloaded_bytes(profile: Profile, enc: int, mem: int) -> int:
    """Return the memory estimate of a message read from the journal.

    Its properties are not decoded, and in old editions its buffer is another one.
    """
    if not profile.old_layout:
        return mem if profile.reloads_decoded else profile.message_offset + enc
    return mem - buffer_bytes(profile, enc) + max(SMALLEST_BUFFER, 1 << (enc - 1).bit_length())


def buffer_bytes(profile: Profile, enc: int) -> int:
    """Return the bytes of a message's buffer: its encoding, in old editions the packet that it arrived in."""
    if not profile.old_layout:
        return enc
    packet = enc + OLD_PACKET
    if not profile.buffer_in_powers_of_two:
        return packet
    return FIRST_BUFFER if packet <= FIRST_BUFFER else 1 << (packet - 1).bit_length()


def is_large(header: TraceHeader, body: int) -> bool:
    """Return whether clients send a message with that many bytes of body in pieces."""
    return 4 + body > header.min_large_message_size


def from_send(broker: Broker, header: TraceHeader, send: Send) -> Message:
    """Return the message as it arrives from a client, with its number as a property if the trace names one for that."""
    profile, name = broker.profile, header.seq_property
    body = send.size if send.type is MessageType.BYTES and send.text is None and send.body is None else body_bytes(send)
    large = is_large(header, body)
    props = (*send.props, long_property(LARGE_SIZE_PROPERTY, body)) if large else send.props
    measured = measures(send.address, props, name)
    enc, mem = _sizes(profile, measured, body, large)
    expiration = broker.expires_after(send.expire_ms) if send.expire_ms else 0
    if name:
        props = (_made(MessageProperty, (name, ValueKind.LONG, send.seq)), *props)
    broker.ids += 1
    return Message(
        broker.ids,
        send.address,
        expiration,
        props,
        enc,
        mem,
        large or measured.scheduled,
        large,
        send,
        measured.special,
    )


def dead_letter_copy(broker: Broker, message: Message, queue: str, target: str, *, expired: bool = False) -> Message:
    """Return the copy for a dead letter or expiry address: it names its origin and does not expire."""
    added = [
        string_property(ORIGINAL_ADDRESS, message.address),
        string_property(ORIGINAL_QUEUE, queue),
        long_property(ORIGINAL_ID, message.id),
    ]
    if expired:
        added.append(long_property(ACTUAL_EXPIRY, broker.now // NS_PER_MS))
    return _copy(broker, message, target, added)


def diverted_copy(broker: Broker, message: Message, divert: str, target: str) -> Message:
    """Return the copy for a divert: it names the divert and expires when the message does."""
    added = [
        string_property(ORIGINAL_QUEUE, divert),
        string_property(ORIGINAL_ADDRESS, message.address),
        long_property(ORIGINAL_ID, message.id),
    ]
    return _copy(broker, message, target, added, message.expiration)


def _copy(broker: Broker, message: Message, target: str, added: list[MessageProperty], expiration: int = 0) -> Message:
    names = {item.name for item in added}
    props = (*(item for item in message.props if item.name not in names), *added)
    body = body_bytes(message.source)
    enc, mem = _sizes(broker.profile, measures(target, props, ""), body, message.large)
    return Message(
        broker.next_id(),
        target,
        expiration,
        props,
        enc,
        mem,
        message.large,
        message.large,
        replace(message.source, address=target),
        True,
    )
