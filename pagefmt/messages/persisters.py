"""Persister ids: which layout the message part of a 2.x record has (spec/messages.md 1).

1  core             every protocol that lives in the broker as core: core, JMS, STOMP, MQTT, OpenWire
2  AMQP v1          2.0 – 2.2
3  AMQP v2          2.3 – 2.16, adds extra properties
4  AMQP large       2.12+, grew in 2.17
5  AMQP v3          2.17+, adds the expiration
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from pagefmt.bytes.wire import ByteReader, ByteWriter, Undecodable
from pagefmt.messages.core_message import CoreLargeMessage, CoreMessage, decode_core_message
from pagefmt.messages.core_message_old import OldCoreMessage

if TYPE_CHECKING:
    # brought in when there is such a message: a third of what a look at core pages would import
    from pagefmt.messages.amqp_message import AmqpLargeMessage, AmqpMessage

CORE: Final = 1
AMQP_V1: Final = 2
AMQP_V2: Final = 3
AMQP_LARGE: Final = 4
AMQP_V3: Final = 5

Message: TypeAlias = "CoreMessage | OldCoreMessage | CoreLargeMessage | AmqpMessage | AmqpLargeMessage"


def decode_persisted(
    reader: ByteReader, *, queues_follow: bool = False
) -> CoreMessage | AmqpMessage | AmqpLargeMessage:
    """A persister id byte and what follows: page records, journal records of type 45, embedded bodies.

    ``queues_follow``: queue ids stand behind the message (page records); elsewhere it takes the cursor to its end.
    """
    at = reader.pos
    persister = reader.u8("persister id")
    if persister == CORE:
        return decode_core_message(reader)
    if persister not in (AMQP_V1, AMQP_V2, AMQP_LARGE, AMQP_V3):
        raise Undecodable(at, f"no persister has the id {persister if persister < 128 else persister - 256}")
    from pagefmt.messages.amqp_message import decode_amqp_large, decode_amqp_message

    if persister == AMQP_LARGE:
        return decode_amqp_large(reader, queues_follow)
    return decode_amqp_message(reader, persister)


def persister_of(message: Message) -> int | None:
    """None: the format has no persister byte."""
    match message:
        case CoreMessage():
            return CORE
        case OldCoreMessage() | CoreLargeMessage():
            return None
        case _:
            return message.persister


def encode_persisted(out: ByteWriter, message: Message) -> None:
    persister = persister_of(message)
    if persister is not None:
        out.u8(persister)
    message.encode(out)
