"""Messages as the engine makes them: from a send, and as copies for dead letters, expiry and diverts.

Source: spec/paging-engine.md 1.3, 3.6 and 3.7.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pageengine.message import Message, Reference, long_property, string_property
from pageengine.operations import Property, PropertyType, Send, TraceHeader
from pageengine.profiles import Profile
from pageengine.sizes import LARGE_SIZE_PROPERTY, body_bytes, header_bytes, properties_bytes

if TYPE_CHECKING:
    from pageengine.broker import Broker

NS_PER_MS = 1_000_000
ORIGINAL_ADDRESS = "_AMQ_ORIG_ADDRESS"
ORIGINAL_QUEUE = "_AMQ_ORIG_QUEUE"
ORIGINAL_ID = "_AMQ_ORIG_MESSAGE_ID"
ACTUAL_EXPIRY = "_AMQ_ACTUAL_EXPIRY"
LARGE_HEADER = 45


def _measured(profile: Profile, address: str, props: tuple[Property, ...], body: int, large: bool) -> tuple[int, int]:
    """Encoded size and memory estimate, in bytes."""
    total = properties_bytes(props)
    header = header_bytes(address, total, len(props))
    if large:
        return body + header, profile.large_offset + LARGE_HEADER + 2 * header
    enc = 4 + body + header
    return enc, profile.message_offset + enc + (total + 8 * len(props) if props else 0)


def from_send(broker: Broker, header: TraceHeader, send: Send) -> Message:
    """The message as it arrives from a client."""
    profile = broker.profile
    props = send.props
    if header.seq_property:
        props = (Property(header.seq_property, PropertyType.LONG, send.seq), *props)
    body = body_bytes(send)
    large = 4 + body > header.min_large_message_size
    if large:
        props = (*props, long_property(LARGE_SIZE_PROPERTY, body))
    enc, mem = _measured(profile, send.address, props, body, large)
    expiration = 0
    if send.expire_ms:
        expiration = broker.now + send.expire_ms * NS_PER_MS
        broker.expiring = True
    return Message(
        broker.next_id(), send.seq, send.address, send.type, send.durable, min(send.priority, 9), expiration, props,
        enc, mem, mem if large else profile.message_offset + enc, large, send,
    )  # fmt: skip


def expired_copy(broker: Broker, ref: Reference, target: str, *, expired: bool) -> Message:
    """The copy that goes to an expiry or dead letter address: it says where it comes from and expires no more."""
    message = ref.message
    added = [
        string_property(ORIGINAL_ADDRESS, message.address),
        string_property(ORIGINAL_QUEUE, ref.queue.name),
        long_property(ORIGINAL_ID, message.id),
    ]
    if expired:
        added.append(long_property(ACTUAL_EXPIRY, broker.now // NS_PER_MS))
    names = {one.name for one in added}
    props = (*(one for one in message.props if one.name not in names), *added)
    return _copy(broker, message, target, props)


def diverted_copy(broker: Broker, message: Message, target: str) -> Message:
    added = (string_property(ORIGINAL_ADDRESS, message.address), long_property(ORIGINAL_ID, message.id))
    names = {one.name for one in added}
    return _copy(broker, message, target, (*(one for one in message.props if one.name not in names), *added))


def _copy(broker: Broker, message: Message, target: str, props: tuple[Property, ...]) -> Message:
    body = body_bytes(message.source)
    enc, mem = _measured(broker.profile, target, props, body, message.large)
    return Message(
        broker.next_id(), message.seq, target, message.type, message.durable, message.priority, 0, props, enc, mem,
        mem if message.large else broker.profile.message_offset + enc, message.large,
        replace(message.source, address=target),
    )  # fmt: skip
