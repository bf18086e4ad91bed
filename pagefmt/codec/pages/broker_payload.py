"""What a broker's page reader looks at in one payload, and where that makes it throw (docs/spec/page-files.md 4.4).

The reader of an edition is walked field by field: fixed fields, the header block to the priority, queue ids. What it
decodes only when a queue delivers the message (properties of ordinary core messages, AMQP sections before the body) is
looked at if ``late`` is set: a broker stops itself there, at each start (AMQ222010; measured on 2.28 and 2.56). An AMQP
body that is not understood is delivered as it is. The strict reader is ``record``: it finds more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pagefmt.codec.messages.amqp_sections import DELIVERY, HEADER, decode_saved_sections, scanned_sections, section_code
from pagefmt.codec.messages.amqp_values import FIXED, decode_amqp_value
from pagefmt.codec.messages.core_fields import (
    HEADER_FIELDS,
    PACKET_HEADER,
    PROPERTY_TYPES,
    USER_ID_PRESENT,
    USER_ID_SIZE,
)
from pagefmt.codec.messages.persisters import AMQP, AMQP_LARGE, CORE, SINCE_2_12, WITH_EXPIRATION, WITH_EXTRA
from pagefmt.codec.pages.frames import Reach
from pagefmt.codec.pages.record import CORE_LARGE, END_MARK
from pagefmt.codec.wire import ByteReader, Undecodable
from pagefmt.editions import Edition

_COMPOUNDS: Final = frozenset((0x00, 0xC0, 0xC1, 0xD0, 0xD1, 0xE0, 0xF0))


def walk_payload(reader: ByteReader, edition: Edition, *, late: bool = False) -> tuple[int, int]:
    """Return the offsets of the message id and the queue count. The reader is left after the last queue id."""
    reader.skip(8, "transaction")
    large_type = reader.i8("large type")
    if edition.old_layout:
        message_id = _walk_old(reader, large_type)
    elif _is_core_large(large_type, edition):
        reader.skip(4, "header block size")  # not looked at
        message_id = reader.pos
        _walk_header(reader)
        walk_properties(reader)
    else:
        message_id = reader.pos + 1
        _walk_persisted(reader, edition, late)
    queues = reader.pos
    count = reader.i32("number of queues")
    if count < 0:
        raise Undecodable(queues, f"{count} queue ids")
    reader.skip(8 * count, "queue ids")
    return message_id, queues


def walk_old_record(buf: bytes | memoryview, at: int, end: int, edition: Edition, reach: Reach) -> tuple[int, int, int]:
    """Return what ``walk_payload`` does for the record at ``at``, and the offset at which the old reader ends.

    The old reader follows the fields: they may end before the stated ``end``, or go beyond it up to the end of the
    file.
    """
    for limit in (end, len(buf)):
        reach(at, limit)
        reader = ByteReader(buf, at + 5, limit)
        try:
            message_id, queues = walk_payload(reader, edition)
            if reader.u8("end mark") != END_MARK:
                raise Undecodable(reader.pos - 1, "no end mark after the last queue id")
        except Undecodable:
            if limit == len(buf):
                raise
        else:
            return message_id, queues, reader.pos
    raise AssertionError


def _is_core_large(large_type: int, edition: Edition) -> bool:
    return large_type != 0 if edition <= Edition.ARTEMIS_2_10 else large_type in CORE_LARGE


def _walk_old(reader: ByteReader, large: int) -> int:
    if large:
        block = reader.sub(reader.i32("header block size"), "header block")
        message_id = block.pos
        _walk_header(block)
        walk_properties(block)
        return message_id
    reader.skip(4, "message size")  # not looked at
    start = reader.pos
    end_of_body = reader.i32("end of body")
    if end_of_body < PACKET_HEADER:
        raise Undecodable(start, f"end-of-body value {end_of_body}")
    probe = ByteReader(reader.buf, start, reader.end)
    probe.skip(end_of_body - PACKET_HEADER, "body")
    length = probe.i32("end of message") - PACKET_HEADER
    reader.pos = start
    block = reader.sub(length, "message")
    block.skip(end_of_body - PACKET_HEADER + 4, "body")
    message_id = block.pos
    _walk_header(block)
    walk_properties(block)
    return message_id


def _walk_header(reader: ByteReader) -> None:
    reader.skip(8, "message id")
    _skip_nullable(reader)
    if reader.u8("user id present") == USER_ID_PRESENT:
        reader.skip(USER_ID_SIZE, "user id")
    reader.skip(HEADER_FIELDS.size, "type, durable, expiration, timestamp, priority")


def _skip_sized(reader: ByteReader, what: str) -> None:
    reader.skip(reader.i32(what), what)


def _skip_nullable(reader: ByteReader) -> None:
    if reader.u8("address present"):
        _skip_sized(reader, "address")


def walk_properties(reader: ByteReader) -> None:
    """Skip a block of core properties, decoding as much as a broker's reader does.

    Raise ``Undecodable`` if it would throw. Brokers decode the block of a large message, and the extra properties of
    AMQP, when they read the page.
    """
    if reader.u8("properties present") == 0:
        return
    count = reader.i32("number of properties")
    if count < 0:
        raise Undecodable(reader.pos - 4, f"{count} properties")
    for _ in range(count):
        _skip_sized(reader, "property name")
        at = reader.pos
        code = reader.u8("value type")
        form = PROPERTY_TYPES.get(code)
        if form is None:
            raise Undecodable(at, f"unknown value type {code}")
        reader.skip(reader.i32("value") if form.size is None else form.size, "value")


def _walk_persisted(reader: ByteReader, edition: Edition, late: bool) -> None:
    at = reader.pos
    persister = reader.u8("persister id")
    walk = _WALKS.get(persister)
    if walk is None or (persister in SINCE_2_12 and edition <= Edition.ARTEMIS_2_10):
        raise Undecodable(at, f"no persister has the id {persister}")
    walk(reader, edition, late)


def _walk_core(reader: ByteReader, edition: Edition, late: bool) -> None:
    reader.skip(8, "message id")
    _skip_nullable(reader)
    buffer = reader.sub(reader.i32("core buffer size"), "core buffer")
    buffer.skip(buffer.i32("end of body") - PACKET_HEADER, "body")
    _walk_header(buffer)
    if late:
        walk_properties(buffer)


def _walk_amqp(persister: int) -> Callable[[ByteReader, Edition, bool], None]:
    def walk(reader: ByteReader, edition: Edition, late: bool) -> None:
        reader.skip(16, "message id and format")
        _skip_nullable(reader)
        encoded = reader.sub(reader.i32("encoded size"), "encoded message")
        if late:
            scanned_sections(ByteReader(encoded.buf, encoded.pos, encoded.end))
        if edition >= Edition.ARTEMIS_2_44:
            _recover_priority(encoded)
        elif edition <= Edition.ARTEMIS_2_10:
            scanned_sections(encoded)
        if persister in WITH_EXTRA and reader.i32("extra properties size") != 0:
            walk_properties(reader)
        if persister in WITH_EXPIRATION:
            reader.skip(8, "expiration")

    return walk


def _recover_priority(encoded: ByteReader) -> None:
    """2.44 and later look for a header in the first two sections."""
    for _ in range(2):
        if not encoded.left():
            return
        at = encoded.pos
        code = encoded.u8("constructor")
        if code != 0:
            if code not in FIXED and code not in _COMPOUNDS:
                raise Undecodable(at, f"unknown AMQP constructor 0x{code:02x}")
            return
        try:
            section = section_code(decode_amqp_value(encoded), at)
        except Undecodable:
            return
        if section == HEADER:
            _walk_amqp_header(encoded)
            return
        if section != DELIVERY:
            return
        decode_amqp_value(encoded)


def _walk_amqp_header(encoded: ByteReader) -> None:
    at = encoded.pos
    code = encoded.u8("header")
    if code == 0x45:
        return
    if code not in (0xC0, 0xD0):
        raise Undecodable(at, f"an AMQP header of type 0x{code:02x}")
    small = code == 0xC0
    encoded.skip(1 if small else 4, "header size")
    count = encoded.u8("count") if small else encoded.i32("count")
    if count < 2:
        return
    durable = encoded.u8("durable")
    if durable == 0x56:
        encoded.skip(1, "durable")
    elif durable not in (0x40, 0x41, 0x42):
        raise Undecodable(at, f"durable of type 0x{durable:02x}")
    priority = encoded.u8("priority")
    if priority == 0x50:
        encoded.skip(1, "priority")
    elif priority != 0x40:
        raise Undecodable(at, f"priority of type 0x{priority:02x}")


def _walk_amqp_large(reader: ByteReader, edition: Edition, late: bool) -> None:
    reader.skip(8 + 1 + 8, "message id, durable, format")
    _skip_nullable(reader)
    if reader.i32("extra properties size") != 0:
        walk_properties(reader)
    decode_saved_sections(reader)
    if reader.left() >= 8:
        reader.skip(8, "expiration")
    if reader.left():
        reader.skip(1, "re-encoded")


_WALKS: Final[dict[int, Callable[[ByteReader, Edition, bool], None]]] = {
    CORE: _walk_core,
    **{persister: _walk_amqp(persister) for persister in AMQP},
    AMQP_LARGE: _walk_amqp_large,
}
