"""Messages behind their persister id: any protocol, decoded and encoded (docs/spec/messages.md 1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from pagefmt.codec.messages.core_message import CoreLargeMessage, CoreMessage, decode_core_message
from pagefmt.codec.messages.core_message_old import OldCoreMessage
from pagefmt.codec.messages.persisters import AMQP, AMQP_LARGE, CORE
from pagefmt.codec.wire import ByteReader, ByteWriter, Undecodable

if TYPE_CHECKING:
    # imported when the first AMQP message comes: a third of what reading core pages would import
    from pagefmt.codec.messages.amqp_message import AmqpLargeMessage, AmqpMessage

Message: TypeAlias = "CoreMessage | OldCoreMessage | CoreLargeMessage | AmqpMessage | AmqpLargeMessage"


def decode_persisted(
    reader: ByteReader, *, queues_follow: bool = False
) -> CoreMessage | AmqpMessage | AmqpLargeMessage:
    """Decode a persister id byte and its message: page records, journal records of type 45, embedded bodies.

    ``queues_follow``: queue ids follow the message (page records); elsewhere it extends to the reader's end.
    """
    at = reader.pos
    persister = reader.u8("persister id")
    if persister == CORE:
        return decode_core_message(reader)
    if persister != AMQP_LARGE and persister not in AMQP:
        raise Undecodable(at, f"no persister has the id {persister if persister < 128 else persister - 256}")
    from pagefmt.codec.messages.amqp_message import decode_amqp_large, decode_amqp_message

    if persister == AMQP_LARGE:
        return decode_amqp_large(reader, queues_follow)
    return decode_amqp_message(reader, persister)


def persister_of(message: Message) -> int | None:
    """Return the persister byte of the message's format, None if the format has none."""
    match message:
        case CoreMessage():
            return CORE
        case OldCoreMessage() | CoreLargeMessage():
            return None
        case _:
            return message.persister


def encode_persisted(out: ByteWriter, message: Message) -> None:
    """Append the persister id, if the format has one, and the message."""
    persister = persister_of(message)
    if persister is not None:
        out.u8(persister)
    message.encode(out)
