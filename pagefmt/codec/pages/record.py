"""One record of a page: the payload between the frame marks (docs/spec/page-files.md 4).

    Artemis 2.x                                      HornetQ, Artemis 1.x
    i64   transaction, -1 none                       i64    transaction
    i8    large type: 0, 1, -1, 2                    bool8  large?
    1, -1:  i32 H, header block of H bytes           i32    size of the message (the reader of an ordinary one
    0, 2:   i8 persister, its layout                        does not look at it)
                                                     ...    old core buffer, or a header block
    i32   Q                                          i32    Q
    i64   Q queue ids                                i64    Q queue ids

Nothing on disk states the layout; ``layout_of`` tells it from the bytes (4.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from struct import Struct
from typing import Final

from pagefmt.codec.messages.core_message import CoreLargeMessage, decode_header_block
from pagefmt.codec.messages.core_message_old import OldCoreMessage, decode_old_core_message
from pagefmt.codec.messages.persisted import Message, decode_persisted, encode_persisted, persister_of
from pagefmt.codec.messages.persisters import PERSISTER_NAMES
from pagefmt.codec.wire import ByteReader, ByteWriter, Undecodable

START_MARK: Final = 0x7B
END_MARK: Final = 0x7D
FRAME: Final = 6
SMALLEST_PAYLOAD: Final = 35
NO_TRANSACTION: Final = -1
ORDINARY: Final = 0
# Large types of a core large message; -1 is written up to 2.11.
CORE_LARGE: Final = (1, -1)
OTHER_LARGE: Final = 2
_I32: Final = Struct(">i")
_I64: Final = Struct(">q")
_HEAD: Final = Struct(">qbB")  # transaction, large type, persister
_TWO: Final = Struct(">ii")


class Layout(Enum):
    """How a payload is laid out; the value is the release line."""

    NEW = "2.x"
    OLD = "1.x"


@dataclass(frozen=True, slots=True)
class PageRecord:
    """A decoded record of a page.

    ``offset``: of the start mark in its file; ``length``: payload bytes, the record takes 6 more.

    ``stated_size`` is the size field of an old ordinary record, which no reader looks at. ``persister`` is None where
    the format has none.
    """

    offset: int
    length: int
    tx: int
    large_type: int
    layout: Layout
    persister: int | None
    message: Message
    queues: tuple[int, ...]
    stated_size: int | None = None

    @property
    def end(self) -> int:
        """Return the offset after the end mark."""
        return self.offset + self.length + FRAME


def layout_of(buf: bytes | memoryview, start: int, size: int) -> Layout:
    """Return the layout of the payload of ``size`` bytes at ``start``.

    Large core records look alike in both and count as new.
    """
    if size < SMALLEST_PAYLOAD or buf[start + 8] != 0:
        return Layout.NEW
    return Layout.OLD if _old_fits(buf, start, size) else Layout.NEW


def _old_fits(buf: bytes | memoryview, start: int, size: int) -> bool:
    stated = _I32.unpack_from(buf, start + 9)[0]
    end_of_body = _I32.unpack_from(buf, start + 13)[0]
    if end_of_body < 17 or end_of_body - 9 > stated or 13 + stated + 4 > size:
        return False
    end_of_message = _I32.unpack_from(buf, start + end_of_body)[0]
    queues = _I32.unpack_from(buf, start + 13 + stated)[0]
    return bool(end_of_message == stated + 13 and queues >= 0 and 13 + stated + 4 + 8 * queues == size)


def stated_id(buf: bytes | memoryview, offset: int, end: int, layout: Layout) -> int | None:
    """Return the message id in the head of a record that is not fully readable, between ``offset`` and ``end``.

    Return 0 if the head is one of a record but has no usable id: it lies beyond ``end`` or is negative, or the
    transaction is invalid. Return None if this is not the head of a record.
    """
    start = offset + 5
    if end < start + 18:
        return None
    tx, large_type, persister = _HEAD.unpack_from(buf, start)
    stated, end_of_body = _TWO.unpack_from(buf, start + 9)
    if large_type in CORE_LARGE:
        id_at = start + 13
    elif layout is Layout.OLD and large_type == ORDINARY and 17 <= end_of_body < stated:
        id_at = start + end_of_body + 4
    elif layout is Layout.NEW and large_type in (ORDINARY, OTHER_LARGE) and persister in PERSISTER_NAMES:
        id_at = start + 10
    else:
        return None
    return max(0, int(_I64.unpack_from(buf, id_at)[0])) if tx >= NO_TRANSACTION and id_at <= end - 8 else 0


def decode_record(buf: bytes | memoryview, offset: int, length: int, layout: Layout | None = None) -> PageRecord:
    """Decode the record at ``offset``, whose frame is valid. Raise ``Undecodable`` unless every byte is used."""
    record, left = decode_prefix(buf, offset, length, layout)
    if left:
        raise Undecodable(offset + 5 + length - left, f"payload: {left} bytes left over")
    return record


def decode_prefix(
    buf: bytes | memoryview, offset: int, length: int, layout: Layout | None = None
) -> tuple[PageRecord, int]:
    """Decode a record whose payload may be longer than its fields need.

    Return it and the number of extra bytes.
    """
    start = offset + 5
    if layout is None:
        layout = layout_of(buf, start, length)
    reader = ByteReader(buf, start, start + length)
    return read_payload(reader, offset, length, layout), reader.left()


def read_payload(reader: ByteReader, offset: int, length: int, layout: Layout) -> PageRecord:
    """Decode the fields of a payload, up to and including the queue ids."""
    tx = reader.i64("transaction")
    large_type = reader.i8("large type")
    message: Message
    stated = None
    if layout is Layout.OLD:
        message, stated = _old_message(reader, large_type)
    else:
        message = _new_message(reader, large_type)
    queues = decode_queues(reader)
    return PageRecord(offset, length, tx, large_type, layout, persister_of(message), message, queues, stated)


def _new_message(reader: ByteReader, large_type: int) -> Message:
    if large_type in CORE_LARGE:
        return _large_message(reader)
    if large_type not in (ORDINARY, OTHER_LARGE):
        raise Undecodable(reader.pos - 1, f"unknown large type {large_type}")
    return decode_persisted(reader, queues_follow=True)


def _large_message(reader: ByteReader) -> CoreLargeMessage:
    size = reader.i32("header block size")
    return CoreLargeMessage(decode_header_block(reader.sub(size, "header block")))


def _old_message(reader: ByteReader, large: int) -> tuple[OldCoreMessage | CoreLargeMessage, int | None]:
    if large:
        return _large_message(reader), None
    stated = reader.i32("message size")
    return decode_old_core_message(reader), stated


def decode_queues(reader: ByteReader) -> tuple[int, ...]:
    """Read the count and the queue ids. Raise ``Undecodable``."""
    at = reader.pos
    count = reader.i32("number of queues")
    if count < 0 or count * 8 > reader.left():
        raise Undecodable(at, f"{count} queue ids cannot fit into {reader.left()} bytes")
    return tuple(reader.i64("queue id") for _ in range(count))


def encode_payload(record: PageRecord) -> bytes:
    """Return the payload as it was read."""
    out = ByteWriter()
    out.i64(record.tx)
    out.u8(record.large_type)
    message = record.message
    if isinstance(message, CoreLargeMessage):
        block = ByteWriter()
        message.encode(block)
        out.i32(len(block.out))
        out.raw(block.done())
    else:
        if record.stated_size is not None:
            out.i32(record.stated_size)
        encode_persisted(out, message)
    out.i32(len(record.queues))
    for queue in record.queues:
        out.i64(queue)
    return out.done()


def frame(payload: bytes) -> bytes:
    """Return the payload with length and marks."""
    return bytes((START_MARK,)) + _I32.pack(len(payload)) + payload + bytes((END_MARK,))


def encode_record(record: PageRecord) -> bytes:
    """Return the record with its frame."""
    return frame(encode_payload(record))
