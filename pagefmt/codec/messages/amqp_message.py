"""AMQP messages of Artemis 2.x (docs/spec/messages.md 9.1, 9.2).

After the persister id byte:

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

from pagefmt.codec.messages.amqp_sections import (
    AmqpSections,
    SavedSections,
    decode_saved_sections,
    decode_sections,
    scanned_sections,
)
from pagefmt.codec.messages.amqp_text import identifier_text
from pagefmt.codec.messages.persisters import AMQP_LARGE, WITH_EXPIRATION, WITH_EXTRA
from pagefmt.codec.messages.properties import PropertiesBlock, decode_properties, encode_properties
from pagefmt.codec.messages.values import Property, TypedValue, ValueKind
from pagefmt.codec.wire import ByteReader, ByteWriter, Undecodable

DEFAULT_PRIORITY: Final = 4
HIGHEST_PRIORITY: Final = 9


@dataclass(frozen=True, slots=True)
class ExtraProperties:
    """Extra properties with the size that stands before them; ``rest`` are bytes behind the block, if any."""

    size: int
    block: PropertiesBlock | None

    @property
    def entries(self) -> tuple[Property, ...] | None:
        """Return the properties, or None if there is no block."""
        return None if self.block is None else self.block.entries

    def encode(self, out: ByteWriter) -> None:
        """Append the size and the block."""
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
        """Return the sections that the broker parses on arrival."""
        raise NotImplementedError

    @property
    def address(self) -> str | None:
        """Return the stored address, else that of the extra properties, else the field "to"."""
        if self.stored_address is not None:
            return self.stored_address
        return address_elsewhere(self.extra, self.scanned())

    @property
    def priority(self) -> int:
        """Return the priority of the header section, at most 9; 4 if it has none."""
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
        """Return the AMQP message id as text, or None if it has none."""
        message_id = self.scanned().properties.get("message_id")
        return None if message_id is None else identifier_text(message_id)

    @property
    def type(self) -> None:
        """Return None: AMQP messages have no core type."""
        return None

    @property
    def type_name(self) -> None:
        """Return None: AMQP messages have no core type."""
        return None

    def properties(self) -> dict[str, TypedValue]:
        """Return the application properties as the broker hands them out: unsigned numbers as long."""
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
        """Return False: the body is in the record."""
        return False

    @property
    def durable(self) -> bool:
        """Return the header's flag.

        Brokers from 2.28 on take paged messages for durable until they parse the sections.
        """
        header = self.scanned().header
        return bool(header and header.durable)

    @property
    def expiration(self) -> int:
        """Return when the message expires in ms since 1970, 0 for never.

        If no time is stored, it is that of the properties; a time to live starts anew at each reading.
        """
        if self.stored_expiration is not None:
            return self.stored_expiration
        return absolute_expiry(self.scanned())

    def sections(self) -> AmqpSections:
        """Decode all sections, in any order, once. Raise ``Undecodable`` with offsets within the encoded message."""
        if self._sections is None:
            object.__setattr__(self, "_sections", decode_sections(ByteReader(self.encoded)))
        assert self._sections is not None
        return self._sections

    def scanned(self) -> AmqpSections:
        """Return the sections that the broker parses on arrival; all sections, if decoded and none comes late."""
        if self._scanned is None and self._sections is not None and not self._sections.late:
            return self._sections
        if self._scanned is None:
            object.__setattr__(self, "_scanned", scanned_sections(ByteReader(self.encoded)))
        assert self._scanned is not None
        return self._scanned

    @property
    def read_late(self) -> bytes:
        """Return the bytes that ``check`` decodes; offsets in its errors count from their start."""
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
    """Return the address if the record has none: the broker's extra property, else the field "to", else None."""
    for entry in extra.entries or ():
        if entry.name == "_AMQ_AD" and entry.value.kind is ValueKind.STRING:
            return str(entry.value.value)
    to = sections.properties.get("to")
    return None if to is None or to.kind is not ValueKind.STRING else str(to.value)


def absolute_expiry(sections: AmqpSections) -> int:
    """Return the field absolute-expiry-time in ms, 0 if it is not set."""
    value = sections.properties.get("absolute_expiry_time")
    return max(0, int(value.value)) if value is not None and value.kind is ValueKind.TIMESTAMP else 0


@dataclass(frozen=True, slots=True)
class AmqpLargeMessage(AmqpMessageBase):
    """A large AMQP message: its sections are in the record, its body is in a file.

    ``tail``: expiration and the re-encoded mark, or None as written by 2.12 – 2.16.
    """

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
        """Return True: the body is in a file."""
        return True

    @property
    def durable(self) -> bool:
        """Return the durable flag of the record."""
        return self.durable_mark != 0

    @property
    def expiration(self) -> int:
        """Return when the message expires (ms since 1970, 0 for never); if no time is stored, by its properties."""
        return self.tail[0] if self.tail is not None else absolute_expiry(self.scanned())

    def sections(self) -> AmqpSections:
        """Return the sections in the record, which are all except the body."""
        return self.saved.sections

    def scanned(self) -> AmqpSections:
        """Return the sections in the record."""
        return self.saved.sections

    @property
    def read_late(self) -> bytes:
        """Return no bytes, since ``check`` decodes nothing."""
        return b""

    def check(self) -> None:
        """Accept the message: nothing in it is decoded late."""

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
    """Decode a message of persister 2, 3 or 5 after the id byte (docs/spec/messages.md 9.1)."""
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
    """Decode a large AMQP message of either form.

    The forms differ by 9 bytes, and queue ids after the message take 4 + 8 Q: the number of bytes left determines the
    form.
    """
    message_id = reader.i64("message id")
    durable_mark = reader.u8("durable")
    message_format = reader.i64("message format")
    address_mark, address = reader.marked_sstr("address")
    extra = decode_extra(reader)
    saved = decode_saved_sections(reader)
    newer = (reader.left() - 4) % 8 == TAIL_SIZE % 8 if queues_follow else reader.left() >= TAIL_SIZE
    tail = (reader.i64("expiration"), reader.u8("re-encoded")) if newer else None
    return AmqpLargeMessage(message_id, durable_mark, message_format, address_mark, address, extra, saved, tail)
