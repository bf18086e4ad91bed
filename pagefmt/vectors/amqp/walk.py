"""Sections, list fields and map entries of all AMQP messages of a page in lock-step (docs/spec/messages.md 9.2, 9.3).

A value's width follows from the high nibble of its constructor. What the common encodings do not cover (descriptors
that are not small ulongs, described values, sections out of order or repeated) leaves the record to the reference
decoder. Most steps meet the same constructor in all messages; these cost a fraction of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from pagefmt.arrays import Bytes, Ints, Mask
from pagefmt.vectors.amqp.parts import AmqpParts
from pagefmt.vectors.pages.gather import PageBytes

HEADER, DELIVERY, ANNOTATIONS, PROPS, APPLICATION, DATA, SEQUENCE, AMQP_VALUE, FOOTER = range(9)
ABSENT: Final = -1
NULL: Final = 0x40
FIELDS: Final = {HEADER: 5, PROPS: 13}
MAPS: Final = (DELIVERY, ANNOTATIONS, APPLICATION, FOOTER)
# The descriptor of the first section, a small ulong; the descriptors of the next sections count up.
DESCRIBED: Final = 0x005370
_MAX_SECTIONS: Final = 4096
_MAX_PAIRS: Final = 4096

_FIXED: Final = np.repeat(np.array([0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 0, 0, 0, 0, 0, 0], np.int64), 16)
# Bytes of the size field, by constructor.
_SIZED: Final = np.repeat(np.array([0] * 10 + [1, 4] * 3, np.int64), 16)


def u32(page: PageBytes, at: Ints) -> Ints:
    """Big-endian unsigned integers of four bytes."""
    return page.i32(at) & 0xFFFFFFFF


def one_value(codes: Bytes) -> int | None:
    """Return the constructor that all values have, or None if they differ."""
    first = int(codes[0]) if len(codes) else None
    return first if first is not None and bool((codes == first).all()) else None


def widths(page: PageBytes, at: Ints) -> tuple[Bytes, Ints, Ints]:
    """Return constructor, offset of the content and size of the content of the value at each position."""
    code = page.byte(at)
    return code, *widths_of(page, at, code)


def widths_of(page: PageBytes, at: Ints, code: Bytes) -> tuple[Ints, Ints]:
    """(offset, size) of the content of values with the constructors given."""
    same = one_value(code)
    if same is None:
        return mixed_widths(page, at, code)
    sized = int(_SIZED[same])
    content = at + (1 + sized)
    if sized == 0:
        return content, np.full(len(at), _FIXED[same])
    return content, page.byte(at + 1).astype(np.int64) if sized == 1 else u32(page, at + 1)


def mixed_widths(page: PageBytes, at: Ints, code: Bytes) -> tuple[Ints, Ints]:
    """Return offset and size of each value's content, as ``widths_of`` does, when constructors differ."""
    sized, size = _SIZED.take(code), _FIXED.take(code)
    narrow, wide = np.flatnonzero(sized == 1), np.flatnonzero(sized == 4)
    if len(narrow):
        size[narrow] = page.byte(at.take(narrow) + 1)
    if len(wide):
        size[wide] = u32(page, at.take(wide) + 1)
    sized += at
    sized += 1
    return sized, size


@dataclass(slots=True)
class SectionPositions:
    """For each kind of section the position of its (first) value's constructor, ``ABSENT`` where there is none."""

    at: list[Ints]
    body_kinds: Ints  # how many body sections (data, sequence, value) there are


def sections(page: PageBytes, parts: AmqpParts, rows: Ints) -> SectionPositions:
    """Walk the sections of the messages ``rows``; what does not fit clears ``parts.regular``."""
    n = len(parts.regular)
    positions = [np.full(n, ABSENT, np.int64) for _ in range(9)]
    bodies, last = np.zeros(n, np.int64), np.full(len(rows), -1, np.int64)
    at = parts.encoded_at[rows]
    end = at + parts.encoded_size[rows]
    # All messages advance together, one section in each round; those that end or are irregular drop out.
    for _ in range(_MAX_SECTIONS):
        if not len(rows):
            break
        head = page.i32(at)  # the constructor behind the descriptor is its last byte
        kind, code = (head >> 8) - DESCRIBED, head.astype(np.uint8)
        content, size = widths_of(page, at + 3, code)
        after = content + size
        good = (kind >= 0) & (kind <= FOOTER) & (code >= NULL) & (after <= end)
        # behind the application properties or a body the broker looks for no other sections on arrival
        good &= (kind > APPLICATION) | (last < APPLICATION)
        if not good.all():
            kind[~good] = 0
        for section in np.flatnonzero(np.bincount(kind, minlength=1)).tolist():
            _keep_positions(
                positions[section], bodies, rows, at, good, np.flatnonzero(good & (kind == section)), section
            )
        if not good.all():
            parts.regular[rows[~good]] = False
        going = np.flatnonzero(good & (after < end))
        last = np.maximum(last, kind).take(going)
        rows, at, end = rows.take(going), after.take(going), end.take(going)
    parts.regular[rows] = False
    return SectionPositions(positions, bodies)


def _keep_positions(positions: Ints, bodies: Ints, rows: Ints, at: Ints, good: Mask, indices: Ints, kind: int) -> None:
    """Keep the positions of one kind of section. A repeated one clears ``good``, unless its kind may repeat."""
    mine = rows.take(indices)
    fresh = positions.take(mine) == ABSENT
    if fresh.all():
        positions[mine] = at.take(indices) + 3
    else:
        positions[mine[fresh]] = at[indices[fresh]] + 3
        if kind not in (DATA, SEQUENCE):
            good[indices[~fresh]] = False
    if kind in (DATA, SEQUENCE, AMQP_VALUE):
        bodies[mine] += 1


def list_fields(page: PageBytes, at: Ints, fields: int, regular: Mask) -> Ints:
    """Return a row for each field with the positions of its constructor, ``ABSENT`` where missing or null.

    ``at`` are the positions of the lists. Malformed lists clear ``regular``.
    """
    out = np.full((fields, len(at)), ABSENT, np.int64)
    rows = np.flatnonzero(at != ABSENT)
    code, content, size = widths(page, at[rows])
    a_list = (code == 0xC0) | (code == 0xD0)
    regular[rows[~a_list & (code != 0x45)]] = False
    if not a_list.all():
        rows, code, content, size = rows[a_list], code[a_list], content[a_list], size[a_list]
    count, start = _counted(page, code, content)
    regular[rows[count > fields]] = False
    keep = count <= fields
    rows, count, cursor, end = rows[keep], count[keep], start[keep], (content + size)[keep]
    for k in range(fields):
        rows, cursor, end, count = _going_on(rows, cursor, end, count, k, regular)
        if not len(rows):
            break
        code, content, size = widths(page, cursor)
        after = content + size
        good = (after <= end) & (code >= NULL)
        regular[rows[~good]] = False
        out[k][rows] = np.where(good & (code != NULL), cursor, ABSENT)
        cursor = after
    else:
        regular[rows[cursor != end]] = False
    return out


def _counted(page: PageBytes, code: Bytes, content: Ints) -> tuple[Ints, Ints]:
    """Return (count, offset after it) of lists and maps."""
    wide = (code & 0x10) != 0
    if not wide.any():
        return page.byte(content).astype(np.int64), content + 1
    return np.where(wide, u32(page, content), page.byte(content)), content + np.where(wide, 4, 1)


def _going_on(
    rows: Ints, cursor: Ints, end: Ints, count: Ints, step: int, regular: Mask
) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the lists or maps with more than ``step`` entries. The others must end exactly at their end."""
    more = count > step
    if more.all():
        return rows, cursor, end, count
    done = ~more
    regular[rows[done][cursor[done] != end[done]]] = False
    return rows[more], cursor[more], end[more], count[more]


@dataclass(slots=True)
class Pairs:
    """The entries of a map section of all messages, flat, in wire order."""

    offsets: Ints
    present: Mask
    key_at: Ints
    value_at: Ints

    def owners(self) -> Ints:
        """Return the message of each entry."""
        return np.repeat(np.arange(len(self.present)), np.diff(self.offsets))


def map_pairs(page: PageBytes, at: Ints, regular: Mask) -> Pairs:
    """Return the positions of keys and values of the map at ``at``. Keys must be strings or symbols."""
    present = at != ABSENT
    rows = np.flatnonzero(present)
    code, content, size = widths(page, at[rows])
    count, cursor = _counted(page, code, content)
    end = content + size
    fine = ((code == 0xC1) | (code == 0xD1)) & (count % 2 == 0) & (count <= size) & (count <= 2 * _MAX_PAIRS)
    regular[rows[~fine]] = False
    rows, cursor, end, count = rows[fine], cursor[fine], end[fine], count[fine] // 2
    per_message = np.zeros(len(at), np.int64)
    per_message[rows] = count
    offsets = np.concatenate(([0], np.cumsum(per_message)))
    keys, values = np.zeros(int(offsets[-1]), np.int64), np.zeros(int(offsets[-1]), np.int64)
    for step in range(_MAX_PAIRS + 1):
        rows, cursor, end, count = _going_on(rows, cursor, end, count, step, regular)
        if not len(rows):
            break
        _, key_content, key_size = widths(page, cursor)
        value = key_content + key_size
        value_code, value_content, value_size = widths(page, value)
        after = value_content + value_size
        good = (after <= end) & (value_code >= NULL)
        slot = offsets[rows] + step
        keys[slot], values[slot] = cursor, value
        if not good.all():
            regular[rows[~good]] = False
            # a wild size leads nowhere: the start of the page stands for what is thrown away
            keys[slot[~good]] = values[slot[~good]] = 0
            rows, after, end, count = rows[good], after[good], end[good], count[good]
        cursor = after
    return Pairs(offsets, present, keys, values)
