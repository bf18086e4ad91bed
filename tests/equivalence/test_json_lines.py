"""The fast JSON lines are, byte for byte, those of the reference decoder: on every golden page, sound or damaged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from both_decoders import ALL, EVERY_FORM, SIZE, assert_same_lines, pages_of
from golden_cases import GoldenCase, cases, cases_of_each_kind

from pagefmt.describe.message_json import BodyForm, MessageOptions
from pagefmt.editions import NEWEST, Edition
from pagefmt.outstanding.message_filter import MessageFilter, SelectedMessage, select_messages
from pagefmt.selector import parse

# These hold many odd forms. In all others nine lines of ten are made without the reference decoder.
ODD = ("amqp-odd", "amqp-sections", "large", "large-amqp", "large-compressed", "large-core")


@pytest.mark.parametrize("case", cases_of_each_kind(), ids=str)
def test_lines_are_those_of_the_reference(case: GoldenCase) -> None:
    editions = (NEWEST, Edition.ARTEMIS_2_28, Edition.ARTEMIS_2_17) if "amqp" in case.name else (NEWEST,)
    forms = [replace(SIZE, edition=edition) for edition in editions]
    made = total = 0
    for state, page in pages_of(case):
        counts = assert_same_lines(page, state, [*forms, MessageOptions(frozenset()), MessageOptions(EVERY_FORM)])
        made, total = made + counts[-1][0], total + counts[-1][1]
    assert made >= 0.9 * total or case.name in ODD


BODIES = ("amqp-sections", "core-jms", "core-types", "large-compressed", "unicode")


@pytest.mark.parametrize("form", BodyForm)
@pytest.mark.parametrize("case", [case for case in cases("2.56.0") if case.name in BODIES], ids=str)
def test_each_body_form_by_itself(case: GoldenCase, form: BodyForm) -> None:
    wanted = MessageOptions(frozenset({form}), inflate=form is BodyForm.TEXT)
    for state, page in pages_of(case):
        assert_same_lines(page, state, [wanted])


SELECTOR = parse("AMQPriority > 4 OR n BETWEEN 3 AND 9 OR AMQSize > 2000")
CHOICES = (MessageFilter(outstanding=True), MessageFilter(selector=SELECTOR))


@pytest.mark.parametrize("case", [*cases("2.56.0"), *cases("hornetq-2.4.7")], ids=str)
def test_chosen_lines_are_those_of_the_reference(case: GoldenCase) -> None:
    for state, page in pages_of(case):
        queues = sorted(
            {
                queue
                for found in select_messages(page, state, ALL)
                if isinstance(found, SelectedMessage)
                for queue in found.record.queues
            }
        )
        chosen = frozenset(queues[:1])
        choices = [
            *CHOICES,
            MessageFilter(chosen),
            MessageFilter(chosen, SELECTOR, outstanding=True),
            MessageFilter(frozenset({-5})),
        ]
        for choice in choices:
            assert_same_lines(page, state, choice=choice)


OF_HEADERS = MessageFilter(selector=parse("AMQPriority > 4"))
FLIPS = [("2.56.0/amqp-sections", 53), ("2.17.0/amqp", 97), ("2.56.0/core-types", 97)]


@pytest.mark.parametrize(
    ("name", "step"),
    [(name, 29 * step) for name, step in FLIPS] + [pytest.param(*each, marks=pytest.mark.slow) for each in FLIPS],
)
def test_flipped_bits_never_part_the_two_decoders(name: str, step: int, tmp_path: Path) -> None:
    case = next(case for case in cases() if str(case) == name)
    state, first = next(pages_of(case))
    content = first.path.read_bytes()[:4000]
    page = first._replace(folder=tmp_path)
    for bit in range(0, len(content) * 8, step):
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << (bit % 8)
        page.path.write_bytes(flipped)
        assert_same_lines(page, state, [SIZE, MessageOptions(EVERY_FORM)], about=bit)
        assert_same_lines(page, state, choice=OF_HEADERS, about=bit)
