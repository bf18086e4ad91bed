"""Core messages of a page in lock-step: where each record's parts lie, header fields, body slices.

New layout, by offset in the payload (spec/page-files.md 4.1, spec/messages.md 2-4):

    0 tx i64 | 8 large type 0 | 9 persister 1 | 10 id i64 | 18 address nsstr | L i32 | core buffer of L bytes | queues
    core buffer: E i32 | body of E-13 bytes | header block
Core large: 0 tx | 8 large type 1 or -1 | 9 H i32 | 13 header block of H bytes | queues
Old layout (4.2, messages 3.1): 0 tx | 8 large type 0 | 9 L i32 | 13 E i32 | body of E-17 bytes | M i32 | header block |
    queues

Every position is computed for all records at once and checked at the end: the parts must fill the payload exactly. A
record that fails any check is left to the reference decoder (``regular`` is false for it).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from pagefmt.columns.gather import Bytes, Ints, Mask, PageBytes

MAX_PAYLOAD: Final = 1 << 31
_NEW, _LARGE, _OLD = 1, 2, 3


@dataclass(slots=True)
class CoreParts:
    """Positions and header values of core records; all arrays have one element for each record given."""

    regular: Mask
    large: Mask
    old: Mask
    id: Ints
    address_at: Ints  # of the characters
    address_size: Ints  # bytes; 0 where there is none
    has_address: Mask
    body_at: Ints
    body_size: Ints
    user_id_at: Ints
    has_user_id: Mask
    type: Ints
    durable: Mask
    expiration: Ints
    timestamp: Ints
    priority: Ints
    properties_at: Ints
    block_end: Ints


def core_parts(page: PageBytes, payload: Ints, length: Ints) -> CoreParts:
    """Everything of core records but their properties. ``payload``: offset of each record's payload in the page."""
    end = payload + length
    large_type = page.i8(payload + 8)
    large = (large_type == 1) | (large_type == -1)
    ordinary = large_type == 0
    old = ordinary & fits_old_layout(page, payload, length)
    new = ordinary & ~old & (page.byte(payload + 9) == 1)
    ok = large | old | new

    outer_flag, outer_size, after_outer, fine = nullable_string(page, payload + 18)
    ok &= ~new | fine
    buffer_size = page.i32(np.where(new, after_outer, payload + 9))
    buffer_at = np.where(new, after_outer + 4, payload + 13)
    ok &= (buffer_size >= 0) & (buffer_at + buffer_size <= end)
    body_end_value = page.i32(buffer_at)
    body_at = buffer_at + 4
    body_size = np.where(large, 0, body_end_value - np.where(old, 17, 13))
    ok &= (body_size >= 0) & (body_at + body_size <= end)
    block = np.where(large, buffer_at, body_at + body_size + np.where(old, 4, 0))
    block_end = buffer_at + buffer_size
    block = np.where(ok, block, 0)

    inner_flag, inner_size, after, fine = nullable_string(page, block + 8)
    ok &= fine
    user_flag = page.byte(after)
    ok &= user_flag <= 1
    has_user_id = user_flag == 1
    fixed = after + 1 + 16 * has_user_id
    ok &= fixed + 20 <= block_end
    has_address = np.where(new, outer_flag, inner_flag)
    return CoreParts(
        regular=ok,
        large=large,
        old=old,
        id=page.i64(np.where(new, payload + 10, block)),
        address_at=np.where(new, payload + 23, block + 13),
        address_size=np.where(has_address, np.where(new, outer_size, inner_size), 0),
        has_address=has_address,
        body_at=body_at,
        body_size=body_size,
        user_id_at=after + 1,
        has_user_id=has_user_id,
        type=page.i8(fixed),
        durable=page.byte(fixed + 1) != 0,
        expiration=page.i64(fixed + 2),
        timestamp=page.i64(fixed + 10),
        priority=page.i8(fixed + 18),
        properties_at=fixed + 19,
        block_end=block_end,
    )


def nullable_string(page: PageBytes, at: Ints) -> tuple[Mask, Ints, Ints, Mask]:
    """(present, bytes, position behind, plausible) of an ``nsstr`` at each position."""
    present = page.byte(at) != 0
    size = np.where(present, page.i32(at + 1), 0)
    fine = (size >= 0) & (size <= MAX_PAYLOAD) & (size % 2 == 0)
    size = np.where(fine, size, 0)
    return present, size, at + 1 + np.where(present, 4 + size, 0), fine


def fits_old_layout(page: PageBytes, payload: Ints, length: Ints) -> Mask:
    """The test of spec/page-files.md 4.3, step 1."""
    message = page.i32(payload + 9)
    body_end = page.i32(payload + 13)
    fits = (body_end >= 17) & (body_end - 9 <= message) & (message >= 0) & (13 + message + 4 <= length)
    at = np.where(fits, payload, 0)
    message, body_end = np.where(fits, message, 0), np.where(fits, body_end, 17)
    queues = page.i32(at + 13 + message)
    total = page.i32(at + body_end)
    whole: Mask = fits & (queues >= 0) & (total == message + 13) & (13 + message + 4 + 8 * queues == length)
    return whole


def queue_counts(page: PageBytes, parts_end: Ints, record_end: Ints, ok: Mask) -> tuple[Ints, Mask]:
    """Number of queue ids of each record, and whether they fill the payload to its end."""
    count = page.i32(parts_end)
    fine = ok & (count >= 0) & (parts_end + 4 + 8 * count == record_end)
    return np.where(fine, count, 0), fine


def repeated_longs(page: PageBytes, first: Ints, count: Ints) -> tuple[Ints, Ints]:
    """(values, offsets) of runs of ``i64``: ``count[k]`` of them from ``first[k]`` on."""
    offsets = np.concatenate(([0], np.cumsum(count)))
    if offsets[-1] == len(count) and bool((count == 1).all()):
        return page.i64(first), offsets
    row = np.repeat(np.arange(len(count)), count)
    within = np.arange(offsets[-1]) - offsets[row]
    return page.i64(first[row] + 8 * within), offsets


_HEX: Final = np.frombuffer(b"0123456789abcdef", np.uint8)
_DIGIT_AT: Final = np.array([n for n in range(36) if n not in (8, 13, 18, 23)])


def uuid_texts(page: PageBytes, at: Ints) -> Bytes:
    """The 36 characters of each UUID at the positions given, version and variant bits forced (messages.md 4)."""
    raw = page.u8[page.inside(at)[:, None] + np.arange(16)]
    raw[:, 6] = (raw[:, 6] & 0x0F) | 0x10
    raw[:, 8] = (raw[:, 8] & 0x3F) | 0x80
    text = np.full((len(at), 36), ord("-"), np.uint8)
    digits = np.empty((len(at), 32), np.uint8)
    digits[:, 0::2], digits[:, 1::2] = raw >> 4, raw & 15
    text[:, _DIGIT_AT] = _HEX[digits]
    return text.reshape(-1)
