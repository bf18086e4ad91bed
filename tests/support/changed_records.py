"""Pages of copies of real brokers' records, some of which are changed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random

from both_decoders import pages_of
from golden_cases import GoldenCase, cases

from pagefmt.codec.pages.frames import FrameScan

LONGEST = 6000
# size and constructor bytes of both protocols among them
TELLING = bytes((0, 1, 0x40, 0x41, 0x45, 0x53, 0x7F, 0x80, 0xA1, 0xB1, 0xC1, 0xD1, 0xFF))


@cache
def records(case: GoldenCase) -> list[bytes]:
    found = []
    for _, page in pages_of(case):
        content = page.path.read_bytes()
        found += [content[at : at + size + 6] for at, size in FrameScan(content) if size < LONGEST]
    return found


def flip(draw: Random, record: bytearray, at: int) -> None:
    record[at] ^= 1 << draw.randrange(8)


def tell(draw: Random, record: bytearray, at: int) -> None:
    record[at] = draw.choice(TELLING)


def step(draw: Random, record: bytearray, at: int) -> None:
    record[at] = (record[at] + draw.choice((1, -1))) & 0xFF


def cut(draw: Random, record: bytearray, at: int) -> None:
    del record[at : min(at + draw.randrange(1, 5), len(record) - 1)]


def insert(draw: Random, record: bytearray, at: int) -> None:
    record[at:at] = draw.randbytes(draw.randrange(1, 5))


CHANGES: tuple[Callable[[Random, bytearray, int], None], ...] = (flip, flip, tell, step, cut, insert)


def changed_page(draw: Random) -> bytes:
    """Build a page of copied records, and change some bytes in single copies or in all copies of a size."""
    page: list[bytearray] = []
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        base = draw.choice(records(draw.choice([case for case in cases() if records(case)])))
        page += [bytearray(base) for _ in range(draw.choice((3, 8, 30)))]
    if draw.random() < 0.3:
        draw.shuffle(page)
    for _ in range(draw.choice((0, 1, 1, 2, 4, 10))):
        record = draw.choice(page)
        if len(record) < 8:
            continue
        at, change = draw.randrange(5, len(record) - 1), draw.choice(CHANGES)
        size = len(record)
        change(draw, record, at)
        record[1:5] = (len(record) - 6).to_bytes(4, "big")
        if change is tell and draw.random() < 0.5:
            for other in page:
                if len(other) == size:
                    other[at] = record[at]
    return b"".join(page)
