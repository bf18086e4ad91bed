"""Base64 of many pieces of a page in one call, against that of each piece."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pagefmt.vectors.arrays.fragments import Pool, base64, url_safe
from pagefmt.vectors.pages.gather import PageBytes

PIECES = st.lists(st.binary(max_size=40), min_size=1, max_size=30)


@given(PIECES, st.booleans())
def test_pieces_are_encoded_as_each_alone(pieces: list[bytes], url: bool) -> None:
    sizes = np.array([len(piece) for piece in pieces], np.int64)
    page, at = PageBytes(b"".join(pieces)), np.cumsum(sizes) - sizes
    encode = url_safe if url else b64encode
    expected = [(urlsafe_b64encode if url else b64encode)(piece) for piece in pieces]
    pool = Pool()
    cells = pool.base64(page, at, sizes, encode)
    assert pool.joined(len(pieces), [cells]).to_pylist() == expected
    lines = Pool().joined(len(pieces), base64(page, at, sizes, encode))
    assert lines.to_pylist() == expected


def test_pieces_in_another_order_than_the_page() -> None:
    page, at, size = PageBytes(b"abcdefghij"), np.array([6, 0, 3]), np.array([4, 2, 3])
    assert Pool().joined(3, base64(page, at, size)).to_pylist() == [b"Z2hpag==", b"YWI=", b"ZGVm"]


def test_a_piece_beyond_the_page_is_refused() -> None:
    with pytest.raises(IndexError):
        base64(PageBytes(b"abc"), np.array([0]), np.array([300]))


def test_arrays_stand_between_fragments_of_the_pool() -> None:
    pool = Pool()
    body = base64(PageBytes(b"xyzuvw"), np.array([0, 3]), np.array([3, 3]))
    lines = pool.joined(2, [pool.constant("a"), *body, pool.numbers(np.array([7, 8])), pool.constant(";")])
    assert lines.to_pylist() == [b"aeHl67;", b"adXZ38;"]
    assert pool.joined(2, []).to_pylist() == [b"", b""]
