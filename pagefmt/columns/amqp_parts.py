"""Where the parts of AMQP records lie (spec/messages.md 9.1). Payload, persisters 2, 3 and 5:

0 tx i64 | 8 large type 0 | 9 persister | 10 id i64 | 18 format i64 | 26 address nsstr | L i32 | encoded message |
X i32, properties block of X bytes (3 and 5) | expiration i64 (5) | queues
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pagefmt.columns.core import MAX_PAYLOAD, nullable_string
from pagefmt.columns.gather import Ints, Mask, PageBytes


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
