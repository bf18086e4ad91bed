"""Where a limit is reached exactly: the millisecond of an expiry, the last place of a ring queue."""

from __future__ import annotations

import pyarrow as pa
import pytest

from pagefmt.codec.messages.values import has_expired
from pagefmt.outstanding.schedules import _pushed_out
from pagefmt.selector.facts import ExpiredBy
from pagefmt.vectors.fact_columns import verdicts

NOW = 1_700_000_000_000
EXPIRIES = {0: False, NOW - 1: True, NOW: True, NOW + 1: False, -1: True, -(1 << 63): False}


@pytest.mark.parametrize("expiration", EXPIRIES)
def test_a_message_expires_at_its_millisecond(expiration: int) -> None:
    assert has_expired(expiration, NOW) is EXPIRIES[expiration]


def test_columns_know_the_same_millisecond() -> None:
    batch = pa.RecordBatch.from_pydict({"expiration": pa.array(list(EXPIRIES), pa.int64())})
    expired, _ = verdicts(ExpiredBy(NOW), batch)
    assert expired.tolist() == list(EXPIRIES.values())


def test_a_full_ring_keeps_as_many_messages_as_it_has_places() -> None:
    assert _pushed_out([4, 4, 4], 3) == []
    assert _pushed_out([4, 4, 4, 4], 3) == [0]
    assert _pushed_out([4, 9, 4, 4, 4], 3) == [1, 0]
