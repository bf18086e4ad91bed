"""The shortest way through a record: transaction, large type, message id, queue ids (docs/spec/page-files.md 4).

Fixed offsets only: properties, bodies and sections are stepped over by the lengths that stand before them, and the
payload must come out to its last byte. The careful reader is ``record``; both are held together by tests.
"""

from __future__ import annotations

import struct
from struct import Struct
from typing import Final, TypeAlias

from pagefmt.codec.messages.persisters import AMQP, AMQP_LARGE, CORE, WITH_EXPIRATION, WITH_EXTRA
from pagefmt.codec.pages.record import CORE_LARGE, ORDINARY, OTHER_LARGE, Layout, layout_of
from pagefmt.codec.wire import ByteReader, Undecodable

Buffer = bytes | memoryview
# number, offset, length, transaction, large type, message id, queue ids (each once: a broker asks whether a queue is
# named, not how often)
Route: TypeAlias = tuple[int, int, int, int, int, int, tuple[int, ...]]

_I32: Final = Struct(">i").unpack_from
_I64: Final = Struct(">q").unpack_from
_HEAD: Final = Struct(">qbbq").unpack_from  # transaction, large type, persister, message id
# Bytes of payload from which on an old record's size may begin with a 1, which in a new record means core.
OLD_LIKE_CORE: Final = 1 << 24
_QUEUES: Final = {n: Struct(f">{n}q").unpack_from for n in range(65)}


def route_at(buf: Buffer, offset: int, length: int, number: int = -1) -> Route:
    """Read the route of a record.

    Raise ``Undecodable`` if the payload does not end exactly, or fits neither layout.
    """
    start = offset + 5
    try:
        tx, large_type, persister, message_id = _HEAD(buf, start)
        if persister == CORE and large_type == ORDINARY and length < OLD_LIKE_CORE:
            at = _behind_core(buf, start + 18)
        else:
            message_id, at = _behind_others(buf, start, length, large_type, persister)
        count = _I32(buf, at)[0]
        if count < 0 or at + 4 + 8 * count != start + length:
            raise Undecodable(at, f"{count} queue ids do not end with the payload")
        unpack = _QUEUES.get(count) or Struct(f">{count}q").unpack_from
        queues = unpack(buf, at + 4)
        return number, offset, length, tx, large_type, message_id, queues if count < 2 else tuple(dict.fromkeys(queues))
    except struct.error as err:
        raise Undecodable(offset, "the fields reach over the end of the file") from err


def _behind_core(buf: Buffer, at: int) -> int:
    """``at``: of the outer address. The core buffer is stepped over."""
    at = _behind_nullable(buf, at)
    return _behind_sized(buf, at)


def _behind_nullable(buf: Buffer, at: int) -> int:
    return _behind_sized(buf, at + 1) if _byte(buf, at) else at + 1


def _behind_sized(buf: Buffer, at: int) -> int:
    size = _I32(buf, at)[0]
    if size < 0:
        raise Undecodable(at, f"negative length {size}")
    return int(at + 4 + size)


def _byte(buf: Buffer, at: int) -> int:
    if at >= len(buf):
        raise Undecodable(at, "the fields reach over the end of the file")
    return buf[at]


def _behind_others(buf: Buffer, start: int, length: int, large_type: int, persister: int) -> tuple[int, int]:
    """Message id and the offset of the queue count."""
    if large_type in CORE_LARGE:
        return _I64(buf, start + 13)[0], _behind_sized(buf, start + 9)
    if large_type not in (ORDINARY, OTHER_LARGE):
        raise Undecodable(start + 8, f"unknown large type {large_type}")
    if large_type == ORDINARY and layout_of(buf, start, length) is Layout.OLD:
        end_of_body = _I32(buf, start + 13)[0]
        return _I64(buf, start + end_of_body + 4)[0], start + 13 + _I32(buf, start + 9)[0]
    if persister == CORE:
        return _I64(buf, start + 10)[0], _behind_core(buf, start + 18)
    if persister in AMQP:
        return _I64(buf, start + 10)[0], _behind_amqp(buf, start + 26, persister)
    if persister != AMQP_LARGE:
        raise Undecodable(start + 9, f"no persister has the id {persister}")
    from pagefmt.codec.messages.amqp_message import decode_amqp_large

    reader = ByteReader(buf, start + 10, start + length)
    return decode_amqp_large(reader, queues_follow=True).id, reader.pos


def _behind_amqp(buf: Buffer, at: int, persister: int) -> int:
    at = _behind_sized(buf, _behind_nullable(buf, at))
    if persister in WITH_EXTRA:
        at = _behind_sized(buf, at)
    return at + 8 if persister in WITH_EXPIRATION else at


def routed_exactly(buf: Buffer, offset: int) -> bool:
    """Return whether the record at ``offset`` can be routed."""
    try:
        route_at(buf, offset, _I32(buf, offset + 1)[0])
    except Undecodable:
        return False
    return True
