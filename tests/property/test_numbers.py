"""Columns in few bytes hold what was put in, whatever the numbers are and however they come."""

from __future__ import annotations

from array import array

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pagefmt.journal.numbers import TOGETHER, Numbers

LEAST, MOST = -(1 << 63), (1 << 63) - 1
ENDS = st.sampled_from([LEAST, LEAST + 1, -1, 0, 1, 1 << 31, MOST - TOGETHER, MOST]) | st.integers(LEAST, MOST)


@given(st.data())
def test_what_is_put_in_comes_out(data: st.DataObject) -> None:
    parts = []
    for _ in range(data.draw(st.integers(0, 4))):
        count = data.draw(st.sampled_from([1, 7, TOGETHER - 1, TOGETHER, TOGETHER + 3]))
        base, step = data.draw(ENDS), data.draw(st.integers(-2, 2))
        noise = np.random.default_rng(count).integers(0, 1 << data.draw(st.integers(0, 62)), count)
        with np.errstate(over="ignore"):
            parts.append(np.full(count, base, np.int64) + step * np.arange(count) + noise)
    expected = np.concatenate([np.zeros(0, np.int64), *parts])
    packed = Numbers()
    for part in parts:
        if len(part) < 10:
            for number in part.tolist():
                packed.append(number)
        else:
            packed.extend(part)
    assert len(packed) == len(expected) and list(packed) == expected.tolist()
    assert Numbers(array("q", expected.tobytes())).every().tolist() == expected.tolist()
    for rows in (np.arange(len(expected))[::-1], np.random.default_rng(1).permutation(len(expected))[:5000]):
        assert (packed.at(rows.astype(np.int32)) == expected[rows]).all()
        assert [packed[row] for row in rows[:50].tolist()] == expected[rows[:50]].tolist()
    assert (packed.between(len(packed) // 3, len(packed)) == expected[len(expected) // 3 :]).all()


def test_the_least_numbers_behind_the_largest() -> None:
    # They follow each other only if numbers that overflow continue from the other end.
    numbers = [MOST - TOGETHER] + [LEAST] * (TOGETHER - 1)
    packed = Numbers(numbers)
    assert list(packed) == numbers and [packed[row] for row in range(TOGETHER)] == numbers
