"""Records of real brokers, copied, mixed and changed: columns, lines and selectors as the reference decoder has them.

Copies side by side are what the fast decoder reads as tables and by plans; the changes are what must not fool it. A
sample of the pages runs by default, many more with ``-m slow``.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from both_decoders import EVERY_FORM, SIZE, assert_same_lines, assert_same_verdict, pages_of
from changed_records import changed_page
from golden_cases import cases
from reference_rows import same_rows

from pagefmt.codec.pages.page import open_page
from pagefmt.describe.arrow_schema import Detail
from pagefmt.describe.message_json import MessageOptions
from pagefmt.outstanding.message_filter import MessageFilter
from pagefmt.selector import parse
from pagefmt.selector.facts import IdIs, joined
from pagefmt.vectors.page_columns import decode_page
from pagefmt.vectors.pages.gather import PageBytes

SELECTORS = (
    "AMQPriority > 4", "n > 5", "AMQSize > 200", "AMQAddress = 'orders'", "AMQUserID LIKE 'ID:%'", "color = 'red'",
    "AMQDurable = 'DURABLE' AND n IS NOT NULL", "JMSCorrelationID LIKE '%a'", "_AMQ_AD = 'a'", "i NOT BETWEEN 2 AND 9",
)  # fmt: skip


def compare(seed: int, folder: Path) -> None:
    draw = Random(seed)
    content = changed_page(draw)
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
