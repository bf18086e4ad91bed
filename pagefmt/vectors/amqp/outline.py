"""The positions of the values of one AMQP message, from which a plan for all messages of a page is made.

Only what is built the usual way has an outline: descriptors that are small ulongs, sections in the order in which the
broker looks for them, lists and maps whose parts fill them.
"""

from __future__ import annotations

from struct import Struct
from typing import Final, NamedTuple

from pagefmt.vectors.amqp.walk import APPLICATION, DATA, DESCRIBED, FIELDS, FOOTER, MAPS, NULL, SEQUENCE

Buffer = bytes | bytearray | memoryview

# The index of the token that represents the list or map itself.
WHOLE_SECTION: Final = -1

_HEAD: Final = Struct(">I").unpack_from
_FIXED: Final = (0, 0, 0, 0, 0, 1, 2, 4, 8, 16)
_LISTS: Final = (0x45, 0xC0, 0xD0)
_PAIRED: Final = (0xC1, 0xD1)
_MOST: Final = 256


class OutlinedValue(NamedTuple):
    """A value: its section, its place there (entry k of a map: key 2k, value 2k+1), constructor, content, end."""

    section: int
    place: int
    at: int
    start: int
    end: int


class _Unusual(Exception):
    pass


def outline(buf: Buffer, at: int, end: int) -> list[OutlinedValue] | None:
    """Return the values of the message in ``buf[at:end]``, in order, or None if its structure is unusual."""
    tokens: list[OutlinedValue] = []
    last = -1
    try:
        while at < end:
            section = (_HEAD(buf, at)[0] >> 8) - DESCRIBED
            if not 0 <= section <= FOOTER or (section <= APPLICATION <= last):
                return None
            at = _section(buf, section, at + 3, end, tokens)
            last = max(last, section)
    except _Unusual:
        return None
    return tokens if 0 < len(tokens) <= _MOST else None


def _section(buf: Buffer, section: int, at: int, end: int, tokens: list[OutlinedValue]) -> int:
    before = sum(1 for token in tokens if token.section == section)
    if before and section not in (DATA, SEQUENCE):
        raise _Unusual
    if section in FIELDS or section in MAPS:
        whole = _value(buf, section, WHOLE_SECTION, at, end)
        tokens.append(whole)
        _items(buf, whole, tokens)
    else:
        whole = _value(buf, section, before, at, end)
        tokens.append(whole)
    return whole.end


def _items(buf: Buffer, whole: OutlinedValue, tokens: list[OutlinedValue]) -> None:
    """Append the fields of a list, or the keys and values of a map."""
    section, code = whole.section, buf[whole.at]
    if code not in (_LISTS if section in FIELDS else _PAIRED):
        raise _Unusual
    if code == 0x45:
        return
    wide = code & 0x10
    if whole.start + (4 if wide else 1) > whole.end:
        raise _Unusual
    count = _HEAD(buf, whole.start)[0] if wide else buf[whole.start]
    if count > FIELDS.get(section, _MOST) or (section in MAPS and count % 2):
        raise _Unusual
    at = whole.start + (4 if wide else 1)
    for index in range(count):
        token = _value(buf, section, index, at, whole.end)
        tokens.append(token)
        at = token.end
    if at != whole.end:
        raise _Unusual


def _value(buf: Buffer, section: int, index: int, at: int, end: int) -> OutlinedValue:
    if at >= end:
        raise _Unusual
    code = buf[at]
    if code < NULL:
        raise _Unusual
    if code < 0xA0:
        start, size = at + 1, _FIXED[code >> 4]
    elif code & 0x10:
        start, size = at + 5, _HEAD(buf, at + 1)[0]
    else:
        start, size = at + 2, buf[at + 1]
    if start + size > end:
        raise _Unusual
    return OutlinedValue(section, index, at, start, start + size)
