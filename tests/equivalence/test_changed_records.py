"""Records of real brokers, copied, mixed and changed: columns, lines and selectors as the reference decoder has them.

Copies side by side are what the fast decoder reads as tables and by plans; the changes are what must not fool it. A
sample of the pages runs by default, many more with ``-m slow``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

import pytest
from both_decoders import EVERY_FORM, SIZE, assert_same_lines, assert_same_verdict, pages_of
from golden_cases import GoldenCase, cases
from reference_rows import same_rows

from pagefmt.columns.arrays.schema import Detail
from pagefmt.columns.page import decode_page
from pagefmt.describe.message_json import MessageOptions
from pagefmt.outstanding.message_filter import MessageFilter
from pagefmt.pages.frames import FrameScan
from pagefmt.pages.gather import PageBytes
from pagefmt.pages.page import open_page
from pagefmt.selector import parse
from pagefmt.selector.facts import IdIs, joined

LONGEST = 6000
SELECTORS = (
    "AMQPriority > 4", "n > 5", "AMQSize > 200", "AMQAddress = 'orders'", "AMQUserID LIKE 'ID:%'", "color = 'red'",
    "AMQDurable = 'DURABLE' AND n IS NOT NULL", "JMSCorrelationID LIKE '%a'", "_AMQ_AD = 'a'", "i NOT BETWEEN 2 AND 9",
)  # fmt: skip
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


def made(draw: Random) -> bytes:
    """A page: copies of a few records, some of which are changed, one byte of them or all copies in the same place."""
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


def compare(seed: int, folder: Path) -> None:
    draw = Random(seed)
    content = made(draw)
    for level in (Detail.PROPERTIES, Detail.TEXTS, Detail.BODIES):
        got = decode_page(PageBytes(content), 7, level).table
        got.validate(full=True)
        assert same_rows(got, content, level), (seed, level)
    assert_same_verdict(content, seed)
    state, first = next(pages_of(next(case for case in cases() if case.name.startswith("amqp"))))
    page = first._replace(folder=folder)
    page.path.write_bytes(content)
    assert_same_lines(page, state, [SIZE, MessageOptions(EVERY_FORM), MessageOptions(frozenset())], about=seed)
    for text in draw.sample(SELECTORS, 3):
        choice = MessageFilter(selector=parse(text))
        assert_same_lines(page, state, choice=choice, about=(seed, text))
    with open_page(page) as opened:
        ids = frozenset(draw.sample(sorted({route[5] for route in opened.routes()} | {1 << 40}), 1))
    for where in (None, parse(draw.choice(SELECTORS))):
        assert_same_lines(page, state, choice=MessageFilter(selector=joined([IdIs(ids)], where)), about=(seed, ids))


@pytest.mark.parametrize("first", range(4))
def test_changed_records_never_part_the_decoders(first: int, tmp_path: Path) -> None:
    for seed in range(1000 * first, 1000 * first + 15):
        compare(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(8))
def test_many_more_changed_records(first: int, tmp_path: Path) -> None:
    for seed in range(10_000 + 1000 * first, 10_000 + 1000 * first + 600):
        compare(seed, tmp_path)
