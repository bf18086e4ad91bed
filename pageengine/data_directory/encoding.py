"""The engine's messages as bytes: core messages of 2.x, page records, bodies of large messages.

Source: docs/spec/messages.md 2 to 4, docs/spec/page-files.md 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import pack, unpack
from typing import TYPE_CHECKING

from pageengine.errors import PageEngineError
from pageengine.model.amqp_encoding import NULL, data_start, sections_before_body
from pageengine.model.message import AmqpKind, Message
from pageengine.model.sizes import payload_bytes
from pageengine.trace.operations import NS_PER_MS, MessageProperty, MessageType, Send
from pagefmt.codec.messages.amqp_message import NO_EXTRA, AmqpLargeMessage, AmqpMessage, decode_extra
from pagefmt.codec.messages.amqp_sections import SavedSections, decode_saved_sections
from pagefmt.codec.messages.core_fields import MESSAGE_TYPES
from pagefmt.codec.messages.core_message import CoreLargeMessage, CoreMessage, HeaderBlock
from pagefmt.codec.messages.persisted import persister_of
from pagefmt.codec.messages.persisters import AMQP_V3
from pagefmt.codec.messages.properties import double_of, float_of, properties_bytes
from pagefmt.codec.messages.values import Property as StoredProperty
from pagefmt.codec.messages.values import TypedValue, ValueKind
from pagefmt.codec.pages.record import CORE_LARGE, ORDINARY, OTHER_LARGE, Layout, PageRecord, encode_record
from pagefmt.codec.wire import ByteReader, ByteWriter

if TYPE_CHECKING:
    from pageengine.clients.run import Run
    from pageengine.model.page import PagedMessage

TRUE = 0xFF
# 2100-01-01 in ms.
FAR_AHEAD_MS = 4_102_444_800_000
PRESENT = 1
# Position of a section that is missing.
ABSENT = -1
ADDRESS_PROPERTY = "_AMQ_AD"
_PIECE = 1 << 16
TYPE_CODES = {name: code for code, name in MESSAGE_TYPES.items()}


class CannotWrite(PageEngineError):
    """Error for a data directory that cannot be written."""


def _typed(item: MessageProperty) -> TypedValue:
    """Return the value as the codec of properties expects it; numbers with a fraction keep their bits."""
    value = item.value
    if item.type is ValueKind.FLOAT:
        return float_of(unpack(">I", pack(">f", value))[0])
    if item.type is ValueKind.DOUBLE:
        return double_of(unpack(">Q", pack(">d", value))[0])
    if item.type is ValueKind.CHAR:
        assert isinstance(value, str)
        return TypedValue(ValueKind.CHAR, ord(value))
    if item.type is ValueKind.BOOLEAN:
        return TypedValue(ValueKind.BOOLEAN, bool(value), TRUE if value else 0)
    return TypedValue(item.type, value)


def body_of(send: Send) -> Iterator[bytes]:
    """Yield the body as a client encodes it, in pieces; a generated body is a pattern that depends on ``seq``."""
    if send.body is not None:
        yield send.body
    elif send.text is not None:
        out = ByteWriter()
        out.nsstr(send.text)
        yield out.done()
    elif send.type is MessageType.TEXT:
        out = ByteWriter()
        out.nsstr("x")
        letter = out.done()[-2:]
        yield b"\1" + (2 * send.size).to_bytes(4, "big")
        yield from _repeated(letter, 2 * send.size)
    else:
        start = send.seq & 0xFF
        yield from _repeated(bytes((start + k) & 0xFF for k in range(256)), send.size)


def _repeated(cycle: bytes, size: int) -> Iterator[bytes]:
    piece = cycle * (_PIECE // len(cycle))
    for _ in range(size // _PIECE):
        yield piece
    yield piece[: size % _PIECE]


def _expiration(run: Run, message: Message) -> int:
    """Return the expiration on the wall clock in ms.

    A trace without a start time has none: what is over by its own clock lies in the past, everything else far ahead.
    """
    if not message.expiration:
        return 0
    if run.header.start_ns is not None:
        return (message.expiration + run.header.start_ns) // NS_PER_MS
    return 1 if message.expiration <= run.broker.now else FAR_AHEAD_MS + message.expiration // NS_PER_MS


def header_block(run: Run, message: Message) -> HeaderBlock:
    """Return headers and properties as the encoder expects them."""
    user = message.user_id
    entries = tuple(StoredProperty(item.name, _typed(item)) for item in message.props)
    return HeaderBlock(
        message.id,
        PRESENT,
        message.address,
        0 if user is None else PRESENT,
        user,
        TYPE_CODES[message.type.value],
        TRUE if message.durable else 0,
        _expiration(run, message),
        (run.header.start_ns or 0) // NS_PER_MS,
        message.priority,
        properties_bytes(entries),
    )


def stored_message(run: Run, message: Message) -> CoreMessage | CoreLargeMessage | AmqpMessage | AmqpLargeMessage:
    """Return the message as the encoder expects it."""
    if message.amqp is not None:
        return _amqp_message(run, message)
    header = header_block(run, message)
    if message.large:
        return CoreLargeMessage(header)
    return CoreMessage(message.id, PRESENT, message.address, b"".join(body_of(message.source)), header)


def _amqp_message(run: Run, message: Message) -> AmqpMessage | AmqpLargeMessage:
    extra = NO_EXTRA
    if message.amqp is AmqpKind.TO_ADDRESS or (message.large and run.profile.large_amqp_names_address):
        own = properties_bytes((StoredProperty(ADDRESS_PROPERTY, TypedValue(ValueKind.STRING, message.address)),))
        extra = decode_extra(ByteReader(len(own).to_bytes(4, "big") + own))
    if message.large:
        return AmqpLargeMessage(
            message.id,
            TRUE if message.durable else 0,
            0,
            PRESENT,
            message.address,
            extra,
            _saved_sections(message),
            (_expiration(run, message), 0),
        )
    encoded = b"".join(_amqp_bytes(message))
    return AmqpMessage(AMQP_V3, message.id, 0, PRESENT, message.address, encoded, extra, _expiration(run, message))


def _before_body(message: Message) -> tuple[bytes, bytes, bytes]:
    send = message.source
    to = send.address if message.amqp is AmqpKind.ANONYMOUS else None
    return sections_before_body(send.durable, to, send.props)


def _amqp_bytes(message: Message) -> Iterator[bytes]:
    yield from _before_body(message)
    yield data_start(payload_bytes(message.source))
    yield from body_of(message.source)


def _saved_sections(message: Message) -> SavedSections:
    """Return what a large message's record repeats of its file, with positions in it (docs/spec/messages.md 9.2)."""
    header, properties, application = _before_body(message)
    in_front = len(header) + len(properties)
    out = ByteWriter()
    out.i32(0 if header else ABSENT)
    out.i32(len(header))
    out.raw(header or NULL)
    for position, section in (
        (ABSENT, None),
        (0, None),
        (ABSENT, b""),
        (len(header) if properties else ABSENT, properties),
        (in_front if application else ABSENT, None),
        (in_front + len(application), application),
    ):
        out.i32(position)
        if section is not None:
            out.raw(section or NULL)
    return decode_saved_sections(ByteReader(out.done()))


def body_file_of(message: Message) -> Iterator[bytes]:
    """Yield the file of a large message: the body, for an AMQP message everything that arrived."""
    return body_of(message.source) if message.amqp is None else _amqp_bytes(message)


def encoded_record(run: Run, record: PagedMessage) -> bytes:
    """Return a page record with its frame."""
    message = stored_message(run, record.message)
    large = ORDINARY
    if record.message.large:
        large = CORE_LARGE[0] if record.message.amqp is None else OTHER_LARGE
    persister = persister_of(message)
    return encode_record(PageRecord(0, 0, record.tx, large, Layout.NEW, persister, message, record.queues))
