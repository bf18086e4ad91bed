"""Doubles in JSON lines that are written at once, against the reference, one by one."""

from __future__ import annotations

from struct import pack, unpack

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pagefmt.codec.messages.properties import double_of
from pagefmt.vectors.arrays.fragments import Pool
from pagefmt.vectors.core.property_lines import doubles, reals

NUMBERS = (
    st.floats(-1e10, 1e10),
    st.integers(-(10**16), 10**16).map(float),
    st.integers(-(10**6), 10**6).map(lambda n: n / 1000),
)
EDGES = (0.0, -0.0, 1.0, 1e-4, 9.999999999999999e-05, 1e9, 999999999.9999999, 1e16, 5e-324, float("inf"))


def bits_of(number: float) -> int:
    found: int = unpack(">Q", pack(">d", number))[0]
    return found


def lines(bits: list[int], *, at_once: bool) -> list[bytes]:
    pool, found = Pool(), np.array(bits, np.uint64)
    texts = doubles(pool, found) if at_once else reals(pool, found, double_of)
    found_texts: list[bytes] = pool.joined(len(bits), [texts]).to_pylist()
    return found_texts


@given(st.lists(st.integers(0, (1 << 64) - 1) | st.one_of(*NUMBERS).map(bits_of), min_size=1))
def test_doubles_are_those_of_the_reference(bits: list[int]) -> None:
    assert lines(bits, at_once=True) == lines(bits, at_once=False)


def test_doubles_where_exponents_begin() -> None:
    bits = [bits_of(sign * number) for number in EDGES for sign in (1, -1)]
    assert lines(bits, at_once=True) == lines(bits, at_once=False)
