"""Core messages of Artemis 2.x (docs/spec/messages.md 2 – 4, 7).

Persister 1, behind its id byte            Core buffer of L bytes
    i64    message id (the one that counts)    i32    E, body is E − 13 bytes
    nsstr  address (the one that counts)       ...    body
    i32    L                                   ...    header block, to the end (``core_fields``)
    ...    core buffer

A large message in a page is a header block and nothing else; its body is the file <message id>.msg.

Marks (the first byte of a nullable, of a boolean) are kept as found. The properties are kept as bytes and decoded when
asked for, as in the broker: damage in them does not make the record unreadable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pagefmt.codec.messages.amqp_text import uuid_text
from pagefmt.codec.messages.core_fields import (
    HEADER_FIELDS,
    MESSAGE_TYPES,
    PACKET_HEADER,
    USER_ID_PRESENT,
    USER_ID_SIZE,
)
from pagefmt.codec.messages.properties import PropertiesBlock, decode_whole_block
from pagefmt.codec.messages.values import TypedValue, last_wins
from pagefmt.codec.wire import ByteReader, ByteWriter, Undecodable


@dataclass(frozen=True, slots=True)
class HeaderBlock:
    """Address, user id, fixed fields and the undecoded properties of a core message."""

    id: int
    address_mark: int
    address: str | None
    user_mark: int
    user_bytes: bytes | None
    type: int
    durable_mark: int
    expiration: int
    timestamp: int
    priority: int
    properties_bytes: bytes

    def properties_block(self) -> PropertiesBlock:
        """Decode the properties.

        Raise ``Undecodable``, with offsets within the block, if they do not fill its bytes.
        """
        return decode_whole_block(self.properties_bytes)

    def encode(self, out: ByteWriter) -> None:
        """Append the block as it was read."""
        out.i64(self.id)
        out.marked_sstr(self.address_mark, self.address)
        out.u8(self.user_mark)
        if self.user_bytes is not None:
            out.raw(self.user_bytes)
        out.u8(self.type)
        out.u8(self.durable_mark)
        out.i64(self.expiration)
        out.i64(self.timestamp)
        out.u8(self.priority)
        out.raw(self.properties_bytes)


def decode_header_block(reader: ByteReader) -> HeaderBlock:
    """Decode a header block, which extends to the reader's end."""
    message_id = reader.i64("message id")
    address_mark, address = reader.marked_sstr("address")
    user_mark = reader.u8("user id present")
    user = reader.take(USER_ID_SIZE, "user id") if user_mark == USER_ID_PRESENT else None
    kind, durable, expiration, timestamp, priority = reader.fixed(HEADER_FIELDS)
    return HeaderBlock(
        message_id,
        address_mark,
        address,
        user_mark,
        user,
        kind,
        durable,
        expiration,
        timestamp,
        priority,
        reader.rest("properties"),
    )


def user_id_text(raw: bytes | None) -> str | None:
    """Return the UUID with version and variant bits forced, as brokers show it (docs/spec/messages.md 4)."""
    if raw is None:
        return None
    forced = bytearray(raw)
    forced[6] = (forced[6] & 0x0F) | 0x10
    forced[8] = (forced[8] & 0x3F) | 0x80
    return uuid_text(bytes(forced))


class CoreMessageBase:
    """What every core message answers from its header block, whatever surrounds that."""

    __slots__ = ()
    header: HeaderBlock
    protocol: Final = "core"

    @property
    def id(self) -> int:
        """Return the message id of the header block."""
        return self.header.id

    @property
    def address(self) -> str | None:
        """Return the address, None if it is null."""
        return self.header.address

    @property
    def durable(self) -> bool:
        """Return whether the message survives a restart."""
        return self.header.durable_mark != 0

    @property
    def priority(self) -> int:
        """Return the priority, 0 to 9."""
        return self.header.priority

    @property
    def timestamp(self) -> int:
        """Return when the message was sent in ms since 1970, 0 if it is not set."""
        return self.header.timestamp

    @property
    def expiration(self) -> int:
        """Return when the message expires in ms since 1970, 0 for never."""
        return self.header.expiration

    @property
    def user_id(self) -> str | None:
        """Return the user id as brokers show it."""
        return user_id_text(self.header.user_bytes)

    @property
    def type(self) -> int:
        """Return the number of the message type."""
        return self.header.type

    @property
    def type_name(self) -> str | None:
        """Return the name of the message type, None for an unknown one."""
        return MESSAGE_TYPES.get(self.header.type)

    def properties(self) -> dict[str, TypedValue]:
        """Return the properties by name. Raises ``Undecodable``."""
        return last_wins(self.header.properties_block().entries)

    @property
    def read_late(self) -> bytes:
        """Return the bytes that ``check`` decodes; offsets in its errors count from their start."""
        return self.header.properties_bytes

    def check(self) -> None:
        """Raise ``Undecodable`` where a lazily read part does not hold what its place says."""
        self.header.properties_block()


@dataclass(frozen=True, slots=True)
class CoreMessage(CoreMessageBase):
    """An ordinary core message of 2.x; the outer id and address win over those of the header."""

    outer_id: int
    outer_mark: int
    outer_address: str | None
    body: bytes
    header: HeaderBlock

    @property
    def id(self) -> int:
        """Return the id before the core buffer."""
        return self.outer_id

    @property
    def address(self) -> str | None:
        """Return the address before the core buffer."""
        return self.outer_address

    @property
    def large(self) -> bool:
        """Return False: the body is in the record."""
        return False

    def encode(self, out: ByteWriter) -> None:
        """Append the message in the form of persister 1, without its id byte."""
        out.i64(self.outer_id)
        out.marked_sstr(self.outer_mark, self.outer_address)
        buffer = ByteWriter()
        buffer.i32(len(self.body) + PACKET_HEADER)
        buffer.raw(self.body)
        self.header.encode(buffer)
        out.i32(len(buffer.out))
        out.raw(buffer.done())


@dataclass(frozen=True, slots=True)
class CoreLargeMessage(CoreMessageBase):
    """A core message whose body is the file ``<id>.msg``; the same bytes in every version."""

    header: HeaderBlock

    @property
    def large(self) -> bool:
        """Return True: the body is in a file."""
        return True

    @property
    def body(self) -> None:
        """Return None: the body is in a file."""
        return None

    def encode(self, out: ByteWriter) -> None:
        """Append the header block."""
        self.header.encode(out)


def decode_core_message(reader: ByteReader) -> CoreMessage:
    """Decode a message of persister 1 after its id byte (page records, journal records of type 45)."""
    outer_id = reader.i64("message id")
    outer_mark, outer_address = reader.marked_sstr("address")
    size = reader.i32("core buffer size")
    buffer = reader.sub(size, "core buffer")
    at = buffer.pos
    end_of_body = buffer.i32("end of body")
    if end_of_body < PACKET_HEADER:
        raise Undecodable(at, f"end-of-body value {end_of_body} is below {PACKET_HEADER}")
    body = buffer.take(end_of_body - PACKET_HEADER, "body")
    return CoreMessage(outer_id, outer_mark, outer_address, body, decode_header_block(buffer))
