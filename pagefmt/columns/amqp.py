"""AMQP messages in lock-step: sections, list fields and map entries of all messages at once (spec/messages.md 9).

Payload, persisters 2, 3 and 5:

    0 tx i64 | 8 large type 0 | 9 persister | 10 id i64 | 18 format i64 | 26 address nsstr | L i32 | encoded message |
    X i32, properties block of X bytes (3 and 5) | expiration i64 (5) | queues

A value's width follows from the high nibble of its constructor. What the common encodings do not cover (descriptors
that are not small ulongs, described or compound values in maps, unusual types in fields, times that the broker
counts from "now") leaves the record to the reference decoder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa

from pagefmt.columns.core import MAX_PAYLOAD, nullable_string
from pagefmt.columns.gather import Bytes, Ints, Mask, PageBytes
from pagefmt.columns.schema import BINARY, PROPERTIES, STRING, VALUE
from pagefmt.columns.strings import slices, text_of_utf8

HEADER, DELIVERY, ANNOTATIONS, PROPS, APPLICATION, DATA, SEQUENCE, AMQP_VALUE, FOOTER = range(9)
_FIRST_SECTION: Final = 0x70
_MAX_SECTIONS: Final = 4096
_MAX_PAIRS: Final = 4096
ABSENT: Final = -1

_NULL: Final = 0x40
_FIXED: Final = np.array([0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 0, 0, 0, 0, 0, 0], np.int64)


@dataclass(slots=True)
class AmqpParts:
    """Positions in AMQP records; arrays have one element for each record given."""

    regular: Mask
    persister: Ints
    id: Ints
    format: Ints
    address_at: Ints
    address_size: Ints
    has_address: Mask
    encoded_at: Ints
    encoded_size: Ints
    extra_at: Ints
    extra_end: Ints
    expiration: Ints
    parts_end: Ints


def amqp_parts(page: PageBytes, payload: Ints, length: Ints) -> AmqpParts:
    """Where the parts of each record lie. ``payload``: offset of each record's payload in the page."""
    end = payload + length
    persister = page.i8(payload + 9)
    ok = (page.byte(payload + 8) == 0) & ((persister == 2) | (persister == 3) | (persister == 5))
    has_address, address_size, at, fine = nullable_string(page, payload + 26)
    ok &= fine & (at + 4 <= end)
    at = np.where(ok, at, 0)
    size = page.i32(at)
    ok &= (size >= 0) & (at + 4 + size <= end)
    encoded_at, size = at + 4, np.where(ok, size, 0)
    at = encoded_at + size
    with_extra = persister != 2
    extra_size = np.where(with_extra, page.i32(at), 0)
    ok &= (extra_size >= 0) & (extra_size <= MAX_PAYLOAD)
    extra_at = at + np.where(with_extra, 4, 0)
    extra_end = extra_at + np.where(ok, extra_size, 0)
    ok &= extra_end <= end
    newest = persister == 5
    return AmqpParts(
        regular=ok,
        persister=persister,
        id=page.i64(payload + 10),
        format=page.i64(payload + 18),
        address_at=payload + 31,
        address_size=np.where(has_address, address_size, 0),
        has_address=has_address,
        encoded_at=encoded_at,
        encoded_size=size,
        extra_at=extra_at,
        extra_end=extra_end,
        expiration=np.where(newest, page.i64(extra_end), 0),
        parts_end=extra_end + np.where(newest, 8, 0),
    )


def _u32(page: PageBytes, at: Ints) -> Ints:
    return page.i32(at) & 0xFFFFFFFF


def widths(page: PageBytes, at: Ints) -> tuple[Bytes, Ints, Ints]:
    """(constructor, offset of the content, size of the content) of the value at each position."""
    code = page.byte(at)
    nibble = code >> 4
    size = _FIXED[nibble]
    variable = nibble >= 0x0A
    if not variable.any():
        return code, at + 1, size
    wide = (nibble & 1) == 1
    one, four = page.byte(at + 1).astype(np.int64), _u32(page, at + 1)
    content = at + 1 + np.where(variable, np.where(wide, 4, 1), 0)
    return code, content, np.where(variable, np.where(wide, four, one), size)


@dataclass(slots=True)
class Sections:
    """For each kind of section the position of its (first) value's constructor, ``ABSENT`` where there is none."""

    at: list[Ints]
    body_kinds: Ints  # how many body sections (data, sequence, value) there are


def sections(page: PageBytes, parts: AmqpParts) -> Sections:
    """Walk the sections of all messages; what does not fit clears ``parts.regular``."""
    n = len(parts.regular)
    found = [np.full(n, ABSENT, np.int64) for _ in range(9)]
    bodies = np.zeros(n, np.int64)
    cursor = parts.encoded_at.copy()
    end = parts.encoded_at + parts.encoded_size
    rows = np.flatnonzero(parts.regular & (parts.encoded_size > 0))
    for _ in range(_MAX_SECTIONS):
        if not len(rows):
            break
        at = cursor[rows]
        kind = page.byte(at + 2).astype(np.int64) - _FIRST_SECTION
        good = (page.byte(at) == 0) & (page.byte(at + 1) == 0x53) & (kind >= 0) & (kind <= FOOTER)
        code, content, size = widths(page, at + 3)
        after = content + size
        good &= (code >= 0x40) & (after <= end[rows])
        kind = np.where(good, kind, 0)
        for each in np.unique(kind[good]):
            here = good & (kind == each)
            mine = rows[here]
            again = found[each][mine] != ABSENT
            if each in (DATA, SEQUENCE):
                mine_new = mine[~again]
                found[each][mine_new] = at[here][~again] + 3
                bodies[mine] += 1
            else:
                good[np.flatnonzero(here)[again]] = False
                found[each][mine] = at[here] + 3
                bodies[mine] += int(each == AMQP_VALUE)
        parts.regular[rows[~good]] = False
        cursor[rows] = after
        rows = rows[good & (after < end[rows])]
    parts.regular[rows] = False
    return Sections(found, bodies)


def list_fields(page: PageBytes, at: Ints, fields: int, regular: Mask) -> list[Ints]:
    """Position of each field's constructor of the list at ``at`` (``ABSENT``: missing or null)."""
    n = len(at)
    out = [np.full(n, ABSENT, np.int64) for _ in range(fields)]
    rows = np.flatnonzero(at != ABSENT)
    code = page.byte(at[rows])
    regular[rows[(code != 0x45) & (code != 0xC0) & (code != 0xD0) & (code != _NULL)]] = False
    rows = rows[(code == 0xC0) | (code == 0xD0)]
    _, content, size = widths(page, at[rows])
    wide = page.byte(at[rows]) == 0xD0
    count = np.where(wide, _u32(page, content), page.byte(content))
    cursor, end = content + np.where(wide, 4, 1), content + size
    regular[rows[count > fields]] = False
    for k in range(fields):
        going = np.flatnonzero(count > k)
        if not len(going):
            break
        start = cursor[going]
        code, content, size = widths(page, start)
        after = content + size
        bad = (after > end[going]) | (code < 0x40)
        regular[rows[going[bad]]] = False
        out[k][rows[going]] = np.where((code == _NULL) | bad, ABSENT, start)
        cursor[going] = after
    done = np.flatnonzero(count <= fields)
    regular[rows[done[cursor[done] != end[done]]]] = False
    return out


def integers(page: PageBytes, at: Ints, regular: Mask, *, kinds: tuple[int, ...]) -> tuple[Ints, Mask]:
    """Values of the integer-like constructors in ``kinds``; another constructor clears ``regular``."""
    rows = np.flatnonzero(at != ABSENT)
    valid = np.zeros(len(at), bool)
    out = np.zeros(len(at), np.int64)
    code = page.byte(at[rows])
    for each in np.unique(code):
        here = rows[code == each]
        if int(each) not in kinds:
            regular[here] = False
            continue
        out[here], valid[here] = _read_integer(page, int(each), at[here] + 1), True
    return out, valid


def _read_integer(page: PageBytes, code: int, at: Ints) -> Ints:
    """The number behind an integer, boolean, char or timestamp constructor."""
    if code in (0x41, 0x42, 0x43, 0x44):
        return np.full(len(at), int(code == 0x41), np.int64)
    if code == 0x56:
        return np.minimum(page.byte(at), 1).astype(np.int64)
    if code in (0x50, 0x52, 0x53):
        return page.byte(at).astype(np.int64)
    if code in (0x51, 0x54, 0x55):
        return page.i8(at)
    if code in (0x60, 0x61):
        return page.i16(at) & 0xFFFF if code == 0x60 else page.i16(at)
    if code in (0x70, 0x73):
        return _u32(page, at)
    return page.i32(at) if code == 0x71 else page.i64(at)


BOOLEANS: Final = (0x41, 0x42, 0x56)
UBYTES: Final = (0x50,)
UINTS: Final = (0x43, 0x52, 0x70)
TIMESTAMPS: Final = (0x83,)
STRINGS: Final = (0xA1, 0xB1)
SYMBOLS: Final = (0xA3, 0xB3)
BINARIES: Final = (0xA0, 0xB0)


def texts(page: PageBytes, at: Ints, regular: Mask, *, kinds: tuple[int, ...]) -> pa.StringArray:
    """String or symbol fields as text."""
    values, _ = _content(page, at, regular, kinds)
    text, bad = text_of_utf8(values)
    regular[bad] = False
    return text


def binaries(page: PageBytes, at: Ints, regular: Mask) -> pa.BinaryArray:
    return _content(page, at, regular, BINARIES)[0]


def _content(page: PageBytes, at: Ints, regular: Mask, kinds: tuple[int, ...]) -> tuple[pa.BinaryArray, Mask]:
    present = at != ABSENT
    if not present.any():
        return pa.nulls(len(at), BINARY), present
    code, content, size = widths(page, np.where(present, at, 0))
    fits = np.isin(code, kinds)
    regular[present & ~fits] = False
    valid = present & fits
    return slices(page, content, size, valid), valid


@dataclass(slots=True)
class Pairs:
    """The entries of a map section of all messages, flat, in wire order."""

    offsets: Ints
    present: Mask
    key_at: Ints
    value_at: Ints


def map_pairs(page: PageBytes, at: Ints, regular: Mask) -> Pairs:
    """Positions of keys and values of the map at ``at``. Keys must be strings or symbols."""
    present = at != ABSENT
    rows = np.flatnonzero(present)
    code, content, size = widths(page, at[rows])
    a_map = (code == 0xC1) | (code == 0xD1)
    wide = code == 0xD1
    count = np.where(wide, _u32(page, content), page.byte(content))
    end = content + size
    fine = a_map & (count % 2 == 0) & (count <= size) & (count <= 2 * _MAX_PAIRS)
    regular[rows[~fine]] = False
    pairs = np.where(fine, count // 2, 0)
    per_message = np.zeros(len(at), np.int64)
    per_message[rows] = pairs
    offsets = np.concatenate(([0], np.cumsum(per_message)))
    keys, values = np.zeros(int(offsets[-1]), np.int64), np.zeros(int(offsets[-1]), np.int64)
    cursor = content + np.where(wide, 4, 1)
    going, step = np.flatnonzero(pairs), 0
    while len(going):
        key = cursor[going]
        _, key_content, key_size = widths(page, key)
        value = key_content + key_size
        value_code, value_content, value_size = widths(page, value)
        after = value_content + value_size
        good = (after <= end[going]) & (value_code >= 0x40)
        regular[rows[going[~good]]] = False
        slot = offsets[rows[going]] + step
        keys[slot], values[slot] = key, np.where(good, value, 0)
        cursor[going] = np.where(good, after, end[going])
        step += 1
        going = going[good & (pairs[going] > step)]
    closed = np.flatnonzero(fine)
    regular[rows[closed[cursor[closed] != end[closed]]]] = False
    return Pairs(offsets, present, keys, values)


_TYPE_NAMES: Final = ("null", "boolean", "ubyte", "byte", "ushort", "short", "uint", "int", "ulong", "long", "float",
                      "double", "char", "timestamp", "uuid", "bytes", "string", "symbol", "")  # fmt: skip
_GIVEN_NAMES: Final = tuple("long" if name in ("ubyte", "ushort", "uint", "ulong") else name for name in _TYPE_NAMES)
_UNKNOWN: Final = len(_TYPE_NAMES) - 1
_NAME_OF: Final = np.full(256, _UNKNOWN, np.int8)
for _name, _codes in (
    ("null", (0x40,)), ("boolean", BOOLEANS), ("ubyte", UBYTES), ("byte", (0x51,)), ("ushort", (0x60,)),
    ("short", (0x61,)), ("uint", UINTS), ("int", (0x54, 0x71)), ("ulong", (0x44, 0x53, 0x80)), ("long", (0x55, 0x81)),
    ("float", (0x72,)), ("double", (0x82,)), ("char", (0x73,)), ("timestamp", TIMESTAMPS), ("bytes", BINARIES),
    ("string", STRINGS), ("symbol", SYMBOLS),
):  # fmt: skip
    for _code in _codes:
        _NAME_OF[_code] = _TYPE_NAMES.index(_name)
_WHOLE: Final = frozenset((0x41, 0x42, 0x43, 0x44, 0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x60, 0x61, 0x70, 0x71,
                           0x73, 0x80, 0x81, 0x83))  # fmt: skip


def pair_values(page: PageBytes, pairs: Pairs, regular: Mask, *, as_given: bool) -> pa.StructArray:
    """The values as VALUE structs; compound, described, decimal and uuid values leave their message irregular.

    ``as_given``: as the broker hands out application properties, unsigned numbers as long.
    """
    at, n = pairs.value_at, len(pairs.value_at)
    code, content, size = widths(page, at)
    kind = _NAME_OF[code]
    longs, is_long = np.zeros(n, np.int64), np.zeros(n, bool)
    reals, is_real = np.zeros(n), np.zeros(n, bool)
    unfit = kind == _UNKNOWN
    for each in np.unique(code):
        here = np.flatnonzero(code == each)
        if int(each) in _WHOLE:
            longs[here], is_long[here] = _read_integer(page, int(each), at[here] + 1), True
        elif each == 0x72:
            reals[here], is_real[here] = page.f32(at[here] + 1), True
        elif each == 0x82:
            reals[here], is_real[here] = page.f64(at[here] + 1), True
    unfit |= (code == 0x80) & (longs < 0)
    is_text = np.isin(code, STRINGS + SYMBOLS)
    text, bad = text_of_utf8(slices(page, content, size, is_text))
    unfit |= bad
    raw = slices(page, content, size, np.isin(code, BINARIES))
    if unfit.any():
        regular[_owners(pairs)[unfit]] = False
    type_names = _GIVEN_NAMES if as_given else _TYPE_NAMES
    names = pa.DictionaryArray.from_arrays(pa.array(kind), pa.array(type_names, STRING)).cast(STRING)
    parts = [names, pa.array(longs, mask=~is_long), pa.array(reals, mask=~is_real), text, raw, pa.nulls(n, STRING)]
    return pa.StructArray.from_arrays(parts, fields=list(VALUE))


def _owners(pairs: Pairs) -> Ints:
    return np.repeat(np.arange(len(pairs.present)), np.diff(pairs.offsets))


def pair_keys(page: PageBytes, pairs: Pairs, regular: Mask) -> pa.DictionaryArray:
    """The names of the entries, each distinct one decoded once."""
    code, content, size = widths(page, pairs.key_at)
    unfit = ~np.isin(code, STRINGS + SYMBOLS)
    coded = slices(page, content, np.where(unfit, 0, size)).dictionary_encode()
    names, bad = text_of_utf8(coded.dictionary)
    if bad.any():
        unfit |= bad[np.asarray(coded.indices)]
        names = names.fill_null("")
    if unfit.any():
        regular[_owners(pairs)[unfit]] = False
    return pa.DictionaryArray.from_arrays(coded.indices, names)


def map_array(pairs: Pairs, names: pa.DictionaryArray, values: pa.StructArray) -> pa.MapArray:
    """A map for each message, null where the section is absent."""
    offsets = pa.array(pairs.offsets.astype(np.int32), mask=np.append(~pairs.present, False))
    return pa.MapArray.from_arrays(offsets, names.cast(STRING), values).cast(PROPERTIES)
