"""Messages as the engine makes them: from a send, and as copies for dead letters, expiry and diverts.

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
from pagefmt.messages.values import ValueKind

ORIGINAL_ADDRESS = "_AMQ_ORIG_ADDRESS"
ORIGINAL_QUEUE = "_AMQ_ORIG_QUEUE"
ORIGINAL_ID = "_AMQ_ORIG_MESSAGE_ID"
ACTUAL_EXPIRY = "_AMQ_ACTUAL_EXPIRY"
LARGE_HEADER = 45
OLD_LAYOUT = 4
OLD_PACKET = 14
FIRST_BUFFER = 1500
SMALLEST_BUFFER = 64


_made = tuple.__new__
"""A named tuple from its values, in a third of the time: every message gets one."""


class PropertySizes(NamedTuple):
    """What the address and the properties of a message add to its body; bytes."""

    header: int
    properties: int
    special: bool
    scheduled: bool
    """A message that is read again from the journal then comes with its properties decoded."""


@lru_cache(maxsize=65536)
def measures(address: str, props: tuple[MessageProperty, ...], seq_name: str) -> PropertySizes:
    """Cached: the same for all messages of an address with equal properties apart from the sequence number."""
    named = (*props, long_property(seq_name, 0)) if seq_name else props
    total = properties_bytes(named)
    special = any(one.name.startswith(RESERVED) for one in named)
    scheduled = special and any(one.name == SCHEDULED for one in named)
    header = header_bytes(address, total, len(named))
    return PropertySizes(header, total + 8 * len(named) if named else 0, special, scheduled)


def _sizes(profile: Profile, found: PropertySizes, body: int, large: bool) -> tuple[int, int]:
    """Encoded size and memory estimate, in bytes."""
    if large:
        return body + found.header, profile.large_offset + LARGE_HEADER + 2 * found.header
    enc = 4 + body + found.header
    if profile.old_layout:
        enc += OLD_LAYOUT
        return enc, profile.message_offset + buffer_bytes(profile, enc) + found.properties
    return enc, profile.message_offset + enc + found.properties


def reloaded_bytes(profile: Profile, enc: int, mem: int) -> int:
    """Memory estimate of a message read from the journal: properties not decoded, in old editions another buffer."""
    if not profile.old_layout:
        return mem if profile.reloads_decoded else profile.message_offset + enc
    return mem - buffer_bytes(profile, enc) + max(SMALLEST_BUFFER, 1 << (enc - 1).bit_length())


def buffer_bytes(profile: Profile, enc: int) -> int:
    """Bytes of a message's buffer: its encoding, in old editions the packet that it arrived in."""
    if not profile.old_layout:
        return enc
    packet = enc + OLD_PACKET
    if not profile.buffer_in_powers_of_two:
        return packet
    return FIRST_BUFFER if packet <= FIRST_BUFFER else 1 << (packet - 1).bit_length()


def is_large(header: TraceHeader, body: int) -> bool:
    """Whether clients send a message with so many bytes of body in pieces."""
    return 4 + body > header.min_large_message_size


def from_send(broker: Broker, header: TraceHeader, send: Send) -> Message:
    """The message as it arrives from a client; with its number as a property, if the trace has one for that."""
    profile, name = broker.profile, header.seq_property
    body = send.size if send.type is MessageType.BYTES and send.text is None and send.body is None else body_bytes(send)
    large = is_large(header, body)
    props = (*send.props, long_property(LARGE_SIZE_PROPERTY, body)) if large else send.props
    found = measures(send.address, props, name)
    enc, mem = _sizes(profile, found, body, large)
    expiration = broker.expires_after(send.expire_ms) if send.expire_ms else 0
    if name:
        props = (_made(MessageProperty, (name, ValueKind.LONG, send.seq)), *props)
    broker.ids += 1
    return Message(
        broker.ids, send.address, expiration, props, enc, mem, large or found.scheduled, large, send, found.special
    )


def dead_letter_copy(broker: Broker, message: Message, queue: str, target: str, *, expired: bool = False) -> Message:
    """The copy for a dead letter or expiry address: it names its origin and does not expire."""
    added = [
        string_property(ORIGINAL_ADDRESS, message.address),
        string_property(ORIGINAL_QUEUE, queue),
        long_property(ORIGINAL_ID, message.id),
    ]
    if expired:
        added.append(long_property(ACTUAL_EXPIRY, broker.now // NS_PER_MS))
    return _copy(broker, message, target, added)


def diverted_copy(broker: Broker, message: Message, divert: str, target: str) -> Message:
    """The copy for a divert: it names the divert and expires when the message does."""
    added = [
        string_property(ORIGINAL_QUEUE, divert),
        string_property(ORIGINAL_ADDRESS, message.address),
        long_property(ORIGINAL_ID, message.id),
    ]
    return _copy(broker, message, target, added, message.expiration)


def _copy(broker: Broker, message: Message, target: str, added: list[MessageProperty], expiration: int = 0) -> Message:
    names = {one.name for one in added}
    props = (*(one for one in message.props if one.name not in names), *added)
    body = body_bytes(message.source)
    enc, mem = _sizes(broker.profile, measures(target, props, ""), body, message.large)
    return Message(
        broker.next_id(), target, expiration, props, enc, mem,
        message.large, message.large,
        replace(message.source, address=target), True,
    )  # fmt: skip
