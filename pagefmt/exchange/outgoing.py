"""A stored message as the payload of an AMQP delivery to a broker (docs/spec/messages.md 16).

An AMQP message is sent byte for byte, except for what each sender sets: the duplicate id among the application
properties, the remaining time to live, the delivery time of a scheduled message. A core message is sent unchanged
inside AMQP if the link accepts it, with the duplicate id among its properties; otherwise it is converted.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum, StrEnum
from typing import Final, NamedTuple

from pagefmt.codec.messages.amqp_message import AmqpLargeMessage, AmqpMessage, AmqpMessageBase
from pagefmt.codec.messages.amqp_sections import (
    ANNOTATIONS,
    APPLICATION,
    BODY,
    DATA,
    DELIVERY,
    FOOTER,
    HEADER,
    section_code,
)
from pagefmt.codec.messages.amqp_values import decode_amqp_value, encode_amqp_value
from pagefmt.codec.messages.bodies import inflated, is_compressed
from pagefmt.codec.messages.core_fields import BYTES, PACKET_HEADER, PROPERTY_CODES
from pagefmt.codec.messages.core_message import CoreLargeMessage, CoreMessageBase, HeaderBlock
from pagefmt.codec.messages.large import LargeFile, LargeMessages, content_of
from pagefmt.codec.messages.persisted import Message
from pagefmt.codec.messages.properties import encode_value
from pagefmt.codec.messages.values import TypedValue, ValueKind, long, string
from pagefmt.codec.wire import ByteReader, ByteWriter, Undecodable
from pagefmt.exchange.amqp_form import U32, amqp_form, header_fields
from pagefmt.exchange.core_form import core_form
from pagefmt.storage.files import NotReadable

DUPLICATE_ID: Final = "_AMQ_DUPL_ID"
SCHEDULED: Final = "_AMQ_SCHED_DELIVERY"
_ROUTING_TYPE: Final = "_AMQ_ROUTING_TYPE"
CONVERTED_LIMIT: Final = 256 << 20  # bytes of a large body that is converted, and therefore held in memory
_SECTION_LIMIT: Final = 1 << 30
_HEAD: Final = 1 << 16
_I32: Final = 0x7FFFFFFF


class SendingWay(StrEnum):
    """How a message is sent: unchanged, as core within AMQP, or converted to AMQP."""

    AS_IS = "as is"
    TUNNELLED = "tunnelled"
    CONVERTED = "converted"


class MessageFormat(IntEnum):
    """Of an AMQP delivery: what its bytes are."""

    AMQP = 0
    CORE = 0x468C0100
    CORE_LARGE = 0x468C0200


class Outgoing(NamedTuple):
    """A message in the form in which it is sent.

    ``head`` is followed by the bytes of ``file`` from ``skip`` on. If ``sections`` is set, these are the content of
    body sections, and a new section starts after every ``_SECTION_LIMIT`` bytes. ``lost``: what does not arrive, one
    sentence each.
    """

    way: SendingWay
    format: MessageFormat
    head: bytes
    file: LargeFile | None = None
    skip: int = 0
    sections: bool = False
    lost: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Return the bytes of head and body, without the starts of sections."""
        return len(self.head) + (self.file.size - self.skip if self.file is not None else 0)

    def parts(self) -> Iterator[bytes]:
        """Yield all bytes in order. Raise ``NotReadable``."""
        yield self.head
        if self.file is None:
            return
        at = 0
        for chunk in self.file.chunks():
            if self.sections and at % _SECTION_LIMIT == 0:
                yield _data_start(min(self.file.size - at, _SECTION_LIMIT))
            yield chunk[max(0, self.skip - at) :]
            at += len(chunk)
        if at < self.file.size:
            raise NotReadable(f"{self.file.path}: {self.file.size - at} bytes shorter than it was")


def own_duplicate_id(message: Message) -> str | bytes | None:
    """Return the duplicate id that the sender gave the message, or None. Raise ``Undecodable``."""
    if isinstance(message, AmqpMessageBase):
        property_value = dict(message.scanned().application()).get(DUPLICATE_ID)
    elif DUPLICATE_ID.encode("utf-16-le") in message.header.properties_bytes:
        property_value = message.properties().get(DUPLICATE_ID)
    else:
        return None
    if property_value is None or property_value.kind is ValueKind.NULL:
        return None
    return bytes(property_value.value) if property_value.kind is ValueKind.BYTES else str(property_value.value)


def outgoing(
    message: Message,
    large: LargeMessages | None,
    *,
    tunnel: bool,
    duplicate_id: str | None,
    scheduled: int,
    now: int,
    routing: int | None = None,
) -> Outgoing:
    """Return the form in which a stored message is sent to a broker.

    Args:
        message: a message of a page or of the journal.
        large: the large-messages directory, if there is one.
        tunnel: send core messages unchanged within AMQP instead of converting them.
        duplicate_id: to add; None if the message has its own.
        scheduled: earliest delivery from the queue, ms since 1970; 0: as the message says.
        now: ms since 1970.
        routing: routing type of the queue: a message that was moved there may name that of another queue, and a broker
            routes a converted message by it. None: as the message says.

    Raises:
        Undecodable: the message cannot be read.
        NotReadable: its body is missing.
    """
    file = None
    if message.large:
        file = large.find(message.id) if large is not None else None
        if file is None:
            raise NotReadable(f"message {message.id}: its file in the large-messages directory is missing")
    if isinstance(message, AmqpMessageBase):
        return _as_is(message, file, duplicate_id, scheduled, now, U32 if tunnel else _I32)
    block = _properties(message.header, duplicate_id, scheduled)
    if not tunnel:
        return _converted(message, block, file, now, routing)
    out = ByteWriter()
    header = message.header if block is message.header.properties_bytes else _with(message.header, block)
    if isinstance(message, CoreLargeMessage):
        header.encode(out)
        return Outgoing(SendingWay.TUNNELLED, MessageFormat.CORE_LARGE, _data(out.done()), file, sections=True)
    out.i32(len(message.body) + PACKET_HEADER)
    out.raw(message.body)
    header.encode(out)
    core = out.done()
    return Outgoing(SendingWay.TUNNELLED, MessageFormat.CORE, _data(len(core).to_bytes(4, "big") + core))


def _data(content: bytes) -> bytes:
    return _data_start(len(content)) + content


def _data_start(size: int) -> bytes:
    return bytes((0, 0x53, DATA, 0xB0)) + size.to_bytes(4, "big")


def _with(header: HeaderBlock, block: bytes) -> HeaderBlock:
    from dataclasses import replace

    return replace(header, properties_bytes=block)


def _properties(header: HeaderBlock, duplicate_id: str | None, scheduled: int) -> bytes:
    """Return the properties of a core message, encoded, with the added ones."""
    block = header.properties_bytes
    if scheduled > 0:
        block = _added(block, SCHEDULED, long(scheduled))
    return block if duplicate_id is None else _added(block, DUPLICATE_ID, string(duplicate_id))


def _added(block: bytes, name: str, typed: TypedValue) -> bytes:
    """Return the encoded properties with one more entry, which takes precedence over one of the same name."""
    count = int.from_bytes(block[1:5], "big") if block[:1] > b"\0" else 0
    out = ByteWriter()
    out.u8(1)
    out.i32(count + 1)
    out.raw(block[5:] if count or block[:1] > b"\0" else b"")
    out.sstr(name)
    out.u8(PROPERTY_CODES[typed.kind])
    encode_value(out, typed)
    return out.done()


def _converted(
    message: CoreMessageBase, block: bytes, file: LargeFile | None, now: int, routing: int | None
) -> Outgoing:
    from pagefmt.codec.messages.properties import decode_whole_block
    from pagefmt.codec.messages.values import last_wins

    form = core_form(message)
    form.properties = last_wins(decode_whole_block(block).entries)
    own = form.properties.get(DUPLICATE_ID)
    if own is not None and own.kind is ValueKind.BYTES:
        form.properties[DUPLICATE_ID] = string(own.value.hex())
        form.lost.append("a binary duplicate id becomes text")
    if routing is not None and _ROUTING_TYPE in form.properties:
        form.properties[_ROUTING_TYPE] = TypedValue(ValueKind.BYTE, routing)
    compressed = is_compressed(form.properties)
    if file is not None and form.type == BYTES and not compressed and file.size < 1 << 31:
        converted = amqp_form(form, message.address, now, streamed=file.size)
        return Outgoing(SendingWay.CONVERTED, MessageFormat.AMQP, converted.content, file, lost=converted.lost)
    if file is not None:
        form.body = content_of(file, CONVERTED_LIMIT) or b""
    if compressed:
        form.body = inflated(form.body, CONVERTED_LIMIT)
    converted = amqp_form(form, message.address, now)
    return Outgoing(SendingWay.CONVERTED, MessageFormat.AMQP, converted.content, lost=converted.lost)


# -- AMQP messages ----------------------------------------------------------------------------------------------------


class _Bound(NamedTuple):
    """A section of a message: the offsets of its start, its value, and its end."""

    code: int
    start: int
    value: int
    end: int


def _bounds(content: bytes) -> list[_Bound]:
    """Return the sections before the body, which starts at the last ``end``. Raise ``Undecodable``."""
    bounds: list[_Bound] = []
    reader = ByteReader(content)
    while reader.left():
        start = reader.pos
        if reader.u8("section") != 0:
            raise Undecodable(start, "an AMQP section is expected")
        code = section_code(decode_amqp_value(reader), start)
        if code in BODY or code == FOOTER:
            break
        value = reader.pos
        constructor = reader.u8("constructor")
        if constructor in (0xC0, 0xC1):
            reader.skip(reader.u8("size"))
        elif constructor in (0xD0, 0xD1):
            reader.skip(reader.i32("size"))
        elif constructor not in (0x40, 0x45):
            raise Undecodable(value, f"neither a list nor a map: 0x{constructor:02x}")
        bounds.append(_Bound(code, start, value, reader.pos))
    return bounds


def _as_is(
    message: AmqpMessageBase, file: LargeFile | None, duplicate_id: str | None, scheduled: int, now: int, longest: int
) -> Outgoing:
    own = [entry.name for entry in message.extra.entries or () if entry.name != "_AMQ_AD"]
    lost = tuple(f"{name}: the broker's own note about an AMQP message" for name in own)
    assert isinstance(message, AmqpMessage | AmqpLargeMessage)
    header = _header_with_time_left(message, now, longest)
    if header is not None and message.expiration - now > longest:
        lost += (f"a time to live above {longest} ms is cut to that",)
    if isinstance(message, AmqpMessage):
        edited = _edited(message.encoded, header, duplicate_id, scheduled)
        return Outgoing(SendingWay.AS_IS, MessageFormat.AMQP, edited, lost=lost)
    assert file is not None
    size = _HEAD
    while True:
        head = b"".join(file.chunks(size))
        try:
            end = max((bound.end for bound in _bounds(head)), default=0)
            break
        except Undecodable:
            if size >= file.size:
                raise
            size *= 4
    edited = _edited(head[:end], header, duplicate_id, scheduled)
    return Outgoing(SendingWay.AS_IS, MessageFormat.AMQP, edited, file, skip=end, lost=lost)


def _edited(content: bytes, header: bytes | None, duplicate_id: str | None, scheduled: int) -> bytes:
    """Return the encoded sections with the changed header and the added entries; other bytes are unchanged."""
    bounds = {bound.code: bound for bound in _bounds(content)}
    changes: list[tuple[int, int, bytes]] = []
    if header is not None and HEADER in bounds:
        changes.append((bounds[HEADER].start, bounds[HEADER].end, header))
    front = max((bound.end for code, bound in bounds.items() if code in (HEADER, DELIVERY)), default=0)
    if scheduled > 0:
        name = TypedValue(ValueKind.SYMBOL, "x-opt-delivery-time")
        changes.append(_with_entry(content, bounds.get(ANNOTATIONS), front, ANNOTATIONS, name, long(scheduled)))
    if duplicate_id is not None:
        end = max((bound.end for bound in bounds.values()), default=0)
        text = string(duplicate_id)
        changes.append(_with_entry(content, bounds.get(APPLICATION), end, APPLICATION, string(DUPLICATE_ID), text))
    edited, at = b"", 0
    for start, end, fresh in changes:
        edited += content[at:start] + fresh
        at = end
    return edited + content[at:]


def _header_with_time_left(message: AmqpMessage | AmqpLargeMessage, now: int, longest: int) -> bytes | None:
    """Return the encoded header section with the remaining time to live, or None if the header stays unchanged.

    It stays if it has no time to live or the message expires at a fixed time. ``now``: ms since 1970. ``longest``:
    limit of the time in ms, because brokers such as 2.28 take more than 2^31 - 1 ms for a time in the past.
    """
    sections = message.scanned()
    header = sections.header
    if header is None or header.ttl is None or "absolute_expiry_time" in sections.properties or not message.expiration:
        return None
    remaining = min(max(1, message.expiration - now), longest)
    out = ByteWriter()
    out.raw(bytes((0, 0x53, HEADER)))
    fields = header_fields(header.durable, header.priority, remaining, header.first_acquirer, header.delivery_count)
    encode_amqp_value(out, TypedValue(ValueKind.LIST, tuple(fields)))
    return out.done()


def _with_entry(
    content: bytes, bound: _Bound | None, before: int, code: int, name: TypedValue, typed: TypedValue
) -> tuple[int, int, bytes]:
    """Return the start and end of the map section to replace, and its encoding with one more entry at the end.

    ``bound`` None: there is no such section, so the new one is inserted at ``before``.
    """
    # The new section is always a map32 (D1), because the entry may not fit a map8 (C1), whose size and count are a byte
    # each. Existing items are copied as they are; a section with any other value, such as null, has none.
    items, count = b"", 0
    if bound is not None and content[bound.value] == 0xC1:
        items, count = content[bound.value + 3 : bound.end], content[bound.value + 2]
    elif bound is not None and content[bound.value] == 0xD1:
        items = content[bound.value + 9 : bound.end]
        count = int.from_bytes(content[bound.value + 5 : bound.value + 9], "big")
    out = ByteWriter()
    out.raw(bytes((0, 0x53, code, 0xD1)))
    entry = ByteWriter()
    encode_amqp_value(entry, name)
    encode_amqp_value(entry, typed)
    added = entry.done()
    out.i32(4 + len(items) + len(added))
    out.i32(count + 2)
    out.raw(items)
    out.raw(added)
    return (before, before, out.done()) if bound is None else (bound.start, bound.end, out.done())
