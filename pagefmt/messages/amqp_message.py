"""AMQP messages of Artemis 2.x (docs/spec/messages.md 9.1, 9.2). Behind the persister id byte:

    2, 3, 5 standard                            4 large
    i64    message id                           i64    message id, names the body file
    i64    message format                       bool8  durable
    nsstr  address                              i64    message format
    i32    L                                    nsstr  address
    L      encoded sections                     i32    X, then X bytes: extra properties
    i32    X            (3, 5)                  ...    saved sections, without a length of their own
    X      extra properties                     i64    expiration      (2.17+)
    i64    expiration   (5)                     bool8  re-encoded      (2.17+)

The encoded sections are kept as bytes and decoded when asked for (``amqp_sections``), as in the broker.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Final

from pagefmt.bytes.wire import ByteReader, ByteWriter, Undecodable
from pagefmt.messages.amqp_sections import (
    AmqpSections,
    SavedSections,
    decode_saved_sections,
    decode_sections,
    scanned_sections,
)
from pagefmt.messages.amqp_text import identifier_text
from pagefmt.messages.persisters import AMQP_LARGE, WITH_EXPIRATION, WITH_EXTRA
from pagefmt.messages.properties import PropertiesBlock, decode_properties, encode_properties
from pagefmt.messages.values import Property, TypedValue, ValueKind

DEFAULT_PRIORITY: Final = 4
HIGHEST_PRIORITY: Final = 9


@dataclass(frozen=True, slots=True)
class ExtraProperties:
    """Extra properties with the size that stands before them; ``rest`` are bytes behind the block, if any."""

    size: int
    block: PropertiesBlock | None

    @property
    def entries(self) -> tuple[Property, ...] | None:
        """The properties, None where there is no block."""
        return None if self.block is None else self.block.entries

    def encode(self, out: ByteWriter) -> None:
        """Size and block."""
        out.i32(self.size)
        if self.block is not None:
            encode_properties(out, self.block)


NO_EXTRA: Final = ExtraProperties(0, None)


def decode_extra(reader: ByteReader) -> ExtraProperties:
    """Extra properties with their size. Raises ``Undecodable`` where the block does not fill it."""
    at = reader.pos
    size = reader.i32("extra properties size")
    if size == 0:
        return NO_EXTRA
    block = reader.sub(size, "extra properties")
    decoded = decode_properties(block)
    if block.left():
        raise Undecodable(at, f"extra properties: size {size}, but {block.left()} bytes are left over")
    return ExtraProperties(size, decoded)


class AmqpMessageBase:
    """What an AMQP message answers from its sections, by the names that every message has."""

    __slots__ = ()
    protocol: Final = "amqp"
    stored_address: str | None
    extra: ExtraProperties

    def scanned(self) -> AmqpSections:
        """The sections that the broker looks at on arrival."""
        raise NotImplementedError

    @property
    def address(self) -> str | None:
        """The stored address, else the one of the extra properties or the field "to"."""
        if self.stored_address is not None:
            return self.stored_address
        return address_elsewhere(self.extra, self.scanned())

    @property
    def priority(self) -> int:
        """Of the header section, at most 9; 4 by default."""
        header = self.scanned().header
        value = header.priority if header else None
        return DEFAULT_PRIORITY if value is None else min(value, HIGHEST_PRIORITY)

    @property
    def timestamp(self) -> int:
        """Creation time in ms, 0 where it is not set."""
        created = self.scanned().properties.get("creation_time")
        return int(created.value) if created is not None and created.kind is ValueKind.TIMESTAMP else 0

    @property
    def user_id(self) -> str | None:
        """The AMQP message id as text."""
        found = self.scanned().properties.get("message_id")
        return None if found is None else identifier_text(found)

    @property
    def type(self) -> None:
        """None: AMQP messages have no core type."""
        return None

    @property
    def type_name(self) -> None:
        """None: AMQP messages have no core type."""
        return None

    def properties(self) -> dict[str, TypedValue]:
        """The application properties as the broker hands them out: unsigned numbers as long."""
        return {name: _as_given(value) for name, value in self.scanned().application()}


def _as_given(typed: TypedValue) -> TypedValue:
    match typed.kind:
        case ValueKind.UBYTE | ValueKind.USHORT | ValueKind.UINT | ValueKind.ULONG:
            signed = typed.value - (1 << 64) if typed.value >= 1 << 63 else typed.value
            return TypedValue(ValueKind.LONG, signed)
        case _:
            return typed


@dataclass(frozen=True, slots=True)
class AmqpMessage(AmqpMessageBase):
    """A message whose sections stand in the record (persisters 2, 3, 5)."""

    persister: int
    id: int
    message_format: int
    address_mark: int
    stored_address: str | None
    encoded: bytes
    extra: ExtraProperties
    stored_expiration: int | None
    _scanned: AmqpSections | None = field(default=None, init=False, repr=False, compare=False)
    _sections: AmqpSections | None = field(default=None, init=False, repr=False, compare=False)

    @property
    def large(self) -> bool:
        """The body stands in the record."""
        return False

    @property
    def durable(self) -> bool:
        """The sender's word; brokers from 2.28 on take what they find in a page for durable until they scan it."""
        header = self.scanned().header
        return bool(header and header.durable)

    @property
    def expiration(self) -> int:
        """ms, 0 never. Without a stored one: the absolute time; a time to live starts anew at each reading."""
        if self.stored_expiration is not None:
            return self.stored_expiration
        return absolute_expiry(self.scanned())

    def sections(self) -> AmqpSections:
        """All sections in any order, decoded once. Raises ``Undecodable``, offsets within the encoded message."""
        if self._sections is None:
            object.__setattr__(self, "_sections", decode_sections(ByteReader(self.encoded)))
        assert self._sections is not None
        return self._sections

    def scanned(self) -> AmqpSections:
        """What the broker looks at on arrival (its facts are the same where no section comes late)."""
        if self._scanned is None and self._sections is not None and not self._sections.late:
            return self._sections
        if self._scanned is None:
            object.__setattr__(self, "_scanned", scanned_sections(ByteReader(self.encoded)))
        assert self._scanned is not None
        return self._scanned

    @property
    def read_late(self) -> bytes:
        """What ``check`` looks at: offsets in its errors count from there."""
        return self.encoded

    def check(self) -> None:
        """Decode all sections. Raises ``Undecodable``."""
        self.sections()

    def encode(self, out: ByteWriter) -> None:
        """Behind the persister id byte."""
        out.i64(self.id)
        out.i64(self.message_format)
        out.marked_sstr(self.address_mark, self.stored_address)
        out.i32(len(self.encoded))
        out.raw(self.encoded)
        if self.persister in WITH_EXTRA:
            self.extra.encode(out)
        if self.stored_expiration is not None:
            out.i64(self.stored_expiration)


def address_elsewhere(extra: ExtraProperties, sections: AmqpSections) -> str | None:
    """Where the record names no address: the broker's own extra property, else the field "to"."""
    for entry in extra.entries or ():
        if entry.name == "_AMQ_AD" and entry.value.kind is ValueKind.STRING:
            return str(entry.value.value)
    to = sections.properties.get("to")
    return None if to is None or to.kind is not ValueKind.STRING else str(to.value)


def absolute_expiry(sections: AmqpSections) -> int:
    """The field absolute-expiry-time in ms, 0 where it is not set."""
    found = sections.properties.get("absolute_expiry_time")
    return max(0, int(found.value)) if found is not None and found.kind is ValueKind.TIMESTAMP else 0


@dataclass(frozen=True, slots=True)
class AmqpLargeMessage(AmqpMessageBase):
    """``tail``: expiration and the re-encoded mark, or None as written by 2.12 – 2.16."""

    persister: ClassVar[int] = AMQP_LARGE
    id: int
    durable_mark: int
    message_format: int
    address_mark: int
    stored_address: str | None
    extra: ExtraProperties
    saved: SavedSections
    tail: tuple[int, int] | None

    @property
    def large(self) -> bool:
        """The body is in a file."""
        return True

    @property
    def durable(self) -> bool:
        """As the record says."""
        return self.durable_mark != 0

    @property
    def expiration(self) -> int:
        """ms, 0 never; without a stored one the absolute time of the properties."""
        return self.tail[0] if self.tail is not None else absolute_expiry(self.scanned())

    def sections(self) -> AmqpSections:
        """The sections that the record keeps; the body is not among them."""
        return self.saved.sections

    def scanned(self) -> AmqpSections:
        """The same as ``sections``."""
        return self.saved.sections

    @property
    def read_late(self) -> bytes:
        """Nothing."""
        return b""

    def check(self) -> None:
        """Nothing is decoded late."""

    def encode(self, out: ByteWriter) -> None:
        """Behind the persister id byte."""
        out.i64(self.id)
        out.u8(self.durable_mark)
        out.i64(self.message_format)
        out.marked_sstr(self.address_mark, self.stored_address)
        self.extra.encode(out)
        out.raw(self.saved.raw)
        if self.tail is not None:
            out.i64(self.tail[0])
            out.u8(self.tail[1])


def decode_amqp_message(reader: ByteReader, persister: int) -> AmqpMessage:
    """Persisters 2, 3 and 5 behind the id byte (docs/spec/messages.md 9.1)."""
    message_id = reader.i64("message id")
    message_format = reader.i64("message format")
    address_mark, address = reader.marked_sstr("address")
    encoded = reader.take(reader.i32("encoded size"), "encoded message")
    return AmqpMessage(
        persister=persister,
        id=message_id,
        message_format=message_format,
        address_mark=address_mark,
        stored_address=address,
        encoded=encoded,
        extra=decode_extra(reader) if persister in WITH_EXTRA else NO_EXTRA,
        stored_expiration=reader.i64("expiration") if persister in WITH_EXPIRATION else None,
    )


TAIL_SIZE: Final = 9


def decode_amqp_large(reader: ByteReader, queues_follow: bool) -> AmqpLargeMessage:
    """The two forms differ by 9 bytes, queue ids behind take 4 + 8 Q: what is left tells which form it is."""
    message_id = reader.i64("message id")
    durable_mark = reader.u8("durable")
    message_format = reader.i64("message format")
    address_mark, address = reader.marked_sstr("address")
    extra = decode_extra(reader)
    saved = decode_saved_sections(reader)
    newer = (reader.left() - 4) % 8 == TAIL_SIZE % 8 if queues_follow else reader.left() >= TAIL_SIZE
    tail = (reader.i64("expiration"), reader.u8("re-encoded")) if newer else None
    return AmqpLargeMessage(message_id, durable_mark, message_format, address_mark, address, extra, saved, tail)
