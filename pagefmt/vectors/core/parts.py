"""Core messages of a page in lock-step: where each record's parts lie, header fields, body slices.

New layout, by offset in the payload (docs/spec/page-files.md 4.1, docs/spec/messages.md 2-4):

    0 tx i64 | 8 large type 0 | 9 persister 1 | 10 id i64 | 18 address nsstr | L i32 | core buffer of L bytes | queues
    core buffer: E i32 | body of E-13 bytes | header block
Core large: 0 tx | 8 large type 1 or -1 | 9 H i32 | 13 header block of H bytes | queues
Old layout (4.2, messages 3.1): 0 tx | 8 large type 0 | 9 L i32 | 13 E i32 | body of E-17 bytes | M i32 | header block |
    queues
Header block: 0 id i64 | 8 address nsstr | user id: mark, 16 bytes where it is 1 | type i8, durable bool,
    expiration i64, timestamp i64, priority i8 | properties

Every position is computed for all records of a layout at once and checked at the end: the parts must fill the payload
exactly. A record that fails any check is left to the reference decoder (``regular`` is false for it).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

import numpy as np
import numpy.typing as npt

from pagefmt.arrays import Bytes, Fields, Ints, Mask
from pagefmt.codec.messages.core_fields import HEADER_FIELDS
from pagefmt.codec.messages.persisters import CORE
from pagefmt.codec.pages.record import CORE_LARGE, ORDINARY
from pagefmt.vectors.pages.gather import PageBytes, fits_old_layout

_NEW, _LARGE, _OLD, _OTHER = 1, 2, 3, 0
_HEAD: Final = np.dtype(
    {
        "names": ["tx", "large_type", "persister", "size", "body_end", "id", "mark", "address_size"],
        "formats": [">i8", "i1", "u1", ">i4", ">i4", ">i8", "u1", ">i4"],
        "offsets": [0, 8, 9, 9, 13, 10, 18, 19],
        "itemsize": 23,
    }
)
_BUFFER: Final = np.dtype([("size", ">i4"), ("body_end", ">i4")])
_BLOCK: Final = np.dtype([("id", ">i8"), ("mark", "u1"), ("address_size", ">i4")])
_FIXED: Final = np.dtype([(field.name, field.layout.format) for field in HEADER_FIELDS.fields])
_NULLABLE: Final = np.dtype([("mark", "u1"), ("size", ">i4")])


@dataclass(slots=True)
class CoreParts:
    """Positions and header values of core records; all arrays have one element for each record given."""

    regular: Mask
    large: Mask
    old: Mask
    tx: Ints
    large_type: Ints
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
    """Read all parts of core records except their properties. ``payload``: position of each record's payload."""
    head = page.fields(payload, _HEAD)
    layout = _layouts(page, payload, length, head)
    present = np.flatnonzero(np.bincount(layout)).tolist()
    if len(present) == 1:
        return _READERS[present[0]](page, payload, payload + length, head)
    rows = [np.flatnonzero(layout == code) for code in present]
    by_layout = [
        _READERS[code](page, payload[mine], payload[mine] + length[mine], head[mine])
        for code, mine in zip(present, rows, strict=True)
    ]
    return _together(rows, by_layout)


def _layouts(page: PageBytes, payload: Ints, length: Ints, head: Fields) -> Ints:
    large_type = head["large_type"]
    ordinary = large_type == ORDINARY
    layout = np.where(ordinary & (head["persister"] == CORE), _NEW, _OTHER)
    if not ordinary.all():
        layout[(large_type == CORE_LARGE[0]) | (large_type == CORE_LARGE[1])] = _LARGE
    size = head["size"].astype(np.int64)
    # in the new layout this is the persister and part of the id: far beyond the record's length
    maybe = np.flatnonzero(ordinary & (size >= 0) & (size <= length - 17))
    if len(maybe):
        layout[maybe[fits_old_layout(page, payload[maybe], length[maybe])]] = _OLD
    return layout


def _together(rows: list[Ints], parts: list[CoreParts]) -> CoreParts:
    """Merge the parts of several layouts into columns over all records."""
    back = np.argsort(np.concatenate(rows), kind="stable")
    return CoreParts(
        **{
            field.name: np.concatenate([getattr(columns, field.name) for columns in parts])[back]
            for field in fields(CoreParts)
        }
    )


def _new(page: PageBytes, payload: Ints, end: Ints, head: Fields) -> CoreParts:
    has_address, address_size, at, ok = _nullable(head["mark"], head["address_size"], payload + 18)
    buffer = page.fields(page.inside(at), _BUFFER)
    size = buffer["size"].astype(np.int64)
    body_at, block_end = at + 8, at + 4 + size
    body_size = buffer["body_end"].astype(np.int64) - 13
    block = body_at + body_size
    ok &= (size >= 0) & (block_end <= end) & (body_size >= 0) & (block <= end)
    parts = _block(page, head, block, block_end, ok)
    parts.id = head["id"].astype(np.int64)
    parts.has_address, parts.address_at, parts.address_size = has_address, payload + 23, address_size
    parts.body_at, parts.body_size = body_at, body_size
    return parts


def _old(page: PageBytes, payload: Ints, end: Ints, head: Fields) -> CoreParts:
    size = head["size"].astype(np.int64)
    body_at, block_end = payload + 17, payload + 13 + size
    body_size = head["body_end"].astype(np.int64) - 17
    block = body_at + body_size + 4
    ok = (size >= 0) & (block_end <= end) & (body_size >= 0) & (block - 4 <= end)
    parts = _block(page, head, block, block_end, ok)
    parts.old[:] = True
    parts.body_at, parts.body_size = body_at, body_size
    return parts


def _large(page: PageBytes, payload: Ints, end: Ints, head: Fields) -> CoreParts:
    size = head["size"].astype(np.int64)
    block, block_end = payload + 13, payload + 13 + size
    parts = _block(page, head, block, block_end, (size >= 0) & (block_end <= end))
    parts.large[:] = True
    return parts


def _neither(page: PageBytes, payload: Ints, end: Ints, head: Fields) -> CoreParts:
    return _block(page, head, payload, payload, np.zeros(len(payload), bool))


def _block(page: PageBytes, head: Fields, at: Ints, end: Ints, ok: Mask) -> CoreParts:
    """Read the header block at each position."""
    n = len(at)
    at = np.where(ok, at, 0)
    begin = page.fields(at, _BLOCK)
    has_address, address_size, mark_at, fine = _nullable(begin["mark"], begin["address_size"], at + 8)
    mark = page.byte(mark_at)
    ok = ok & fine & (mark <= 1)
    has_user_id = mark == 1
    fixed = mark_at + 1
    if has_user_id.any():
        fixed = fixed + 16 * has_user_id
    ok &= fixed + 20 <= end
    values = page.fields(page.inside(fixed), _FIXED)
    return CoreParts(
        regular=ok,
        large=np.zeros(n, bool),
        old=np.zeros(n, bool),
        tx=head["tx"].astype(np.int64),
        large_type=head["large_type"].astype(np.int64),
        id=begin["id"].astype(np.int64),
        address_at=at + 13,
        address_size=address_size,
        has_address=has_address,
        body_at=at,
        body_size=np.zeros(n, np.int64),
        user_id_at=mark_at + 1,
        has_user_id=has_user_id,
        type=values["type"].astype(np.int64),
        durable=values["durable"] != 0,
        expiration=values["expiration"].astype(np.int64),
        timestamp=values["timestamp"].astype(np.int64),
        priority=values["priority"].astype(np.int64),
        properties_at=fixed + 19,
        block_end=end,
    )


_READERS: Final = {_NEW: _new, _LARGE: _large, _OLD: _old, _OTHER: _neither}


def nullable_string(page: PageBytes, at: Ints) -> tuple[Mask, Ints, Ints, Mask]:
    """Return (present, size in bytes, position after it, plausible) of an ``nsstr`` at each position."""
    head = page.fields(page.inside(at), _NULLABLE)
    return _nullable(head["mark"], head["size"], at)


_SIGN_AND_ODD: Final = np.int64(-(1 << 63) + 1)


def _nullable(mark: Bytes, size: npt.NDArray[np.int32], at: Ints) -> tuple[Mask, Ints, Ints, Mask]:
    """Return what ``nullable_string`` does, from the first bytes of the string."""
    present = mark != 0
    stated = size.astype(np.int64)
    if not present.all():
        stated[~present] = 0
    fine = (stated & _SIGN_AND_ODD) == 0
    if not fine.all():
        stated[~fine] = 0
    return present, stated, at + (stated + 5) if present.all() else at + 1 + np.where(present, 4 + stated, 0), fine


_HEX: Final = np.frombuffer(b"0123456789abcdef", np.uint8)
_DIGIT_AT: Final = np.array([n for n in range(36) if n not in (8, 13, 18, 23)])


def uuid_texts(page: PageBytes, at: Ints) -> Bytes:
    """Return the 36 characters of each UUID, version and variant bits forced (messages.md 4)."""
    raw = page.window(page.inside(at), 16)
    raw[:, 6] = (raw[:, 6] & 0x0F) | 0x10
    raw[:, 8] = (raw[:, 8] & 0x3F) | 0x80
    return uuid_characters(raw)


def uuid_characters(raw: Bytes) -> Bytes:
    """Return the 36 characters of each row of 16 bytes."""
    text = np.full((len(raw), 36), ord("-"), np.uint8)
    digits = np.empty((len(raw), 32), np.uint8)
    digits[:, 0::2], digits[:, 1::2] = raw >> 4, raw & 15
    text[:, _DIGIT_AT] = _HEX[digits]
    return text.reshape(-1)
