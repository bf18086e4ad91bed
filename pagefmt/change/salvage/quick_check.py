"""A quick check that proves an ordinary core record of 2.x sound, without building anything from it.

What it accepts, the strict reader (``record``) decodes to its last byte, properties included; what it does not accept
is not thereby damaged, but is left to that reader. Tests hold the two together on golden, damaged and generated pages.
"""

from __future__ import annotations

import struct
from struct import Struct
from typing import Final

from pagefmt.codec.messages.core_fields import (
    HEADER_FIELDS,
    PACKET_HEADER,
    PROPERTY_TYPES,
    USER_ID_PRESENT,
    USER_ID_SIZE,
)
from pagefmt.codec.messages.persisters import CORE
from pagefmt.codec.pages.record import ORDINARY

_I32: Final = Struct(">i").unpack_from
_SIZES: Final = {code: form.size for code, form in PROPERTY_TYPES.items() if form.size is not None}
_UNITS: Final = {code: form.unit for code, form in PROPERTY_TYPES.items() if form.size is None}


def proves_sound(buf: bytes | memoryview, offset: int, length: int) -> bool:
    """Return whether a quick check proves that the framed record at ``offset`` is sound; False proves nothing."""
    start = offset + 5
    if length < 61 or buf[start + 8] != ORDINARY or buf[start + 9] != CORE:
        return False
    try:
        at = _after_string(buf, start + 18)
        size = _I32(buf, at)[0]
        end = at + 4 + size
        if size < 0 or end + 4 > start + length or not _header_fits(buf, at + 4, end):
            return False
        queues = _I32(buf, end)[0]
    except (struct.error, IndexError, _NotProven):
        return False
    return bool(queues >= 0 and end + 4 + 8 * queues == start + length)


class _NotProven(Exception):
    """The quick check cannot decide, so the strict reader must."""


def _after_string(buf: bytes | memoryview, at: int) -> int:
    """Return the offset after the ``nsstr`` at ``at``. Raise ``_NotProven`` if its length is negative or odd."""
    if not buf[at]:
        return at + 1
    size = _I32(buf, at + 1)[0]
    if size < 0 or size & 1:
        raise _NotProven
    return int(at + 5 + size)


def _header_fits(buf: bytes | memoryview, at: int, end: int) -> bool:
    """Return whether the fields from the end-of-body value to the properties fill the bytes up to ``end`` exactly.

    Raise ``_NotProven`` if a length is implausible.
    """
    body = _I32(buf, at)[0] - PACKET_HEADER
    if body < 0 or at + 4 + body > end:
        return False
    at = _after_string(buf, at + 4 + body + 8)
    at += 1 + (USER_ID_SIZE if buf[at] == USER_ID_PRESENT else 0) + HEADER_FIELDS.size
    if at >= end:
        return False
    if not buf[at]:
        return at + 1 == end
    return _properties_end(buf, at + 5, _I32(buf, at + 1)[0], end) == end


def _properties_end(buf: bytes | memoryview, at: int, count: int, end: int) -> int:
    """Return the offset after ``count`` properties.

    Raise ``_NotProven`` if one is malformed or extends beyond ``end``.
    """
    if count < 0 or count > end - at:
        raise _NotProven
    for _ in range(count):
        name = _I32(buf, at)[0]
        if name < 0 or name & 1:
            raise _NotProven
        at += 4 + name
        code = buf[at]
        width = _SIZES.get(code)
        at += 1
        if width is None:
            size = _I32(buf, at)[0]
            if code not in _UNITS or size < 0 or size % _UNITS[code]:
                raise _NotProven
            at += 4 + size
        else:
            at += width
        if at > end:
            raise _NotProven
    return at
