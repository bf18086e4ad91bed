"""Positions of the parts of AMQP records (docs/spec/messages.md 9.1).

Payload, persisters 2, 3 and 5:

0 tx i64 | 8 large type 0 | 9 persister | 10 id i64 | 18 format i64 | 26 address nsstr | L i32 | encoded message |
X i32, properties block of X bytes (3 and 5) | expiration i64 (5) | queues
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from pagefmt.arrays import Ints, Mask
from pagefmt.codec.messages.persisters import ADDING_ADDRESS, AMQP, WITH_EXPIRATION, WITH_EXTRA
from pagefmt.codec.pages.record import ORDINARY
from pagefmt.vectors.core.parts import nullable_string
from pagefmt.vectors.pages.gather import PageBytes

_HEAD: Final = np.dtype([("tx", ">i8"), ("large_type", "i1"), ("persister", "i1"), ("id", ">i8"), ("format", ">i8")])


def _table(ids: tuple[int, ...]) -> Mask:
    """Return an array that says of each persister byte, signed or not, whether it is one of the ids."""
    table = np.zeros(256, bool)
    table[list(ids)] = True
    return table


HAS_SECTIONS: Final = _table(AMQP)
_HAS_NO_EXTRA: Final = HAS_SECTIONS & ~_table(WITH_EXTRA)
_ADDS_ADDRESS: Final = _table(ADDING_ADDRESS)
_HAS_EXPIRATION: Final = _table(WITH_EXPIRATION)


@dataclass(slots=True)
class AmqpParts:
    """Positions in AMQP records; arrays have one element for each record given."""

    regular: Mask
    tx: Ints
    persister: Ints
    has_expiration: Mask
    adds_address: Mask
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
    """Locate the parts of each record. ``payload`` and ``length`` are position and size of its payload."""
    end = payload + length
    head = page.fields(payload, _HEAD)
    persister = head["persister"].astype(np.int64)
    expires, without_extra = _HAS_EXPIRATION[persister], _HAS_NO_EXTRA[persister]
    ok = (head["large_type"] == ORDINARY) & HAS_SECTIONS[persister]
    has_address, address_size, at, fine = nullable_string(page, payload + 26)
    ok &= fine
    encoded_at, encoded_end = _sized(page, at, end, ok)
    extra_at, extra_end = _sized(page, encoded_end, end, ok, without_extra if without_extra.any() else None)
    stored = bool(expires.all())
    expiration = page.i64(extra_end)
    return AmqpParts(
        regular=ok,
        tx=head["tx"].astype(np.int64),
        persister=persister,
        has_expiration=expires,
        adds_address=_ADDS_ADDRESS[persister],
        id=head["id"].astype(np.int64),
        format=head["format"].astype(np.int64),
        address_at=payload + 31,
        address_size=address_size,
        has_address=has_address,
        encoded_at=encoded_at,
        encoded_size=encoded_end - encoded_at,
        extra_at=extra_at,
        extra_end=extra_end,
        expiration=expiration if stored else np.where(expires, expiration, 0),
        parts_end=extra_end + (8 if stored else np.where(expires, 8, 0)),
    )


def _sized(page: PageBytes, at: Ints, end: Ints, ok: Mask, without: Mask | None = None) -> tuple[Ints, Ints]:
    """(begin, end) of the bytes behind a size; ``without``: records that have neither. Nothing where it is not ok."""
    size = page.i32(at)
    first = at + 4
    if without is not None:
        size[without] = 0
        first[without] = at[without]
    ok &= (size >= 0) & (first + size <= end)
    if not ok.all():
        size[~ok] = 0
        first[~ok] = 0
    return first, first + size
