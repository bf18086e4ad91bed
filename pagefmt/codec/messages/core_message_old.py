"""Core messages of HornetQ and Artemis 1.x (docs/spec/messages.md 3.1).

    0        i32   E, the body is E − 17 bytes
    4        ...   body
    E − 13   i32   M, the whole block is M − 13 bytes long
    E − 9    ...   header block, up to offset M − 13

The same block is the whole of a journal record of type ADD_MESSAGE (31).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pagefmt.codec.messages.core_fields import PACKET_HEADER
from pagefmt.codec.messages.core_message import CoreMessageBase, HeaderBlock, decode_header_block
from pagefmt.codec.wire import ByteReader, ByteWriter, Undecodable

BEFORE_BODY: Final = PACKET_HEADER + 4


@dataclass(frozen=True, slots=True)
class OldCoreMessage(CoreMessageBase):
    """An ordinary core message of HornetQ and Artemis 1.x."""

    body: bytes
    header: HeaderBlock

    @property
    def large(self) -> bool:
        """Return False: the body is in the record."""
        return False

    def encode(self, out: ByteWriter) -> None:
        """Append the message as it was read."""
        header = ByteWriter()
        self.header.encode(header)
        out.i32(len(self.body) + BEFORE_BODY)
        out.raw(self.body)
        out.i32(PACKET_HEADER + 8 + len(self.body) + len(header.out))
        out.raw(header.done())


def decode_old_core_message(reader: ByteReader) -> OldCoreMessage:
    """Decode the message at the reader's position. Raise ``Undecodable``."""
    start = reader.pos
    end_of_body = reader.i32("end of body")
    if end_of_body < BEFORE_BODY:
        raise Undecodable(start, f"end-of-body value {end_of_body} is below {BEFORE_BODY}")
    body = reader.take(end_of_body - BEFORE_BODY, "body")
    at = reader.pos
    end_of_message = reader.i32("end of message")
    left = end_of_message - PACKET_HEADER - (reader.pos - start)
    if left < 0:
        raise Undecodable(at, f"end-of-message value {end_of_message} is before the headers")
    return OldCoreMessage(body, decode_header_block(reader.sub(left, "header block")))
