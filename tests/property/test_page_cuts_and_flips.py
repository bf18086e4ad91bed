"""Every truncation and every flipped bit of a small page of each layout: damage or a value, never anything else.

A sample runs by default, all of them with ``-m slow``.
"""

from __future__ import annotations

import pytest
from small_pages import NEW_PAGE, OLD_PAGE, cuts, flips

from pagefmt.change.salvage.quick_check import proves_sound
from pagefmt.check.broker_reader import read_as_broker
from pagefmt.check.broker_verdict import PageContext
from pagefmt.check.page_reports import verify_bytes
from pagefmt.codec.pages.frames import Damage, DamageKind
from pagefmt.codec.pages.page import Page
from pagefmt.codec.pages.record import PageRecord, encode_record
from pagefmt.describe.message_json import BodyForm, MessageOptions, record_json
from pagefmt.editions import Edition

EVERYTHING = MessageOptions(frozenset(BodyForm))


PAGES = {"2.x": NEW_PAGE, "1.x": OLD_PAGE}


def look_at(raw: bytes, sound: bytes, hurt: int) -> None:
    """Assert that verdict, records and routes of changed bytes are consistent.

    ``hurt``: offset of the first changed byte.
    """
    page = Page(raw)
    verdict = verify_bytes(page, "x.page", PageContext(last=True))
    assert verdict.bytes_read <= len(raw)
    assert verdict.sound == (verdict.decoded == page.count and verdict.bytes_read == len(raw) and not page.damage)
    unhurt = [one for _, one in Page(sound).records() if isinstance(one, PageRecord) and one.end <= hurt]
    found = list(page.records())
    assert [one for _, one in found[: len(unhurt)]] == unhurt
    routes = list(page.routes())
    if all(fault.kind is not DamageKind.UNDECODABLE for fault in verdict.faults):
        assert len(routes) == verdict.records
    for number, at, size in page.frames():
        if proves_sound(raw, at, size):
            assert not isinstance(page.record(number, at, size, page.strict_layout()), Damage)
    for number, one in found:
        if not isinstance(one, Damage):
            record_json(1, number, one, EVERYTHING)
            assert encode_record(one) == raw[one.offset : one.end]


@pytest.mark.parametrize("layout", PAGES)
def test_the_pages_are_sound(layout: str) -> None:
    page = Page(PAGES[layout])
    verdict = verify_bytes(page, "x.page", PageContext())
    assert verdict.sound
    assert page.layout() is not None
    assert str(page.layout().value) == layout
    for edition in Edition:
        if edition.old_layout == (layout == "1.x") and edition not in (Edition.ARTEMIS_2_4, Edition.ARTEMIS_2_10):
            assert read_as_broker(page.buf, edition).records == verdict.decoded


@pytest.mark.parametrize("layout", PAGES)
def test_cut_anywhere(layout: str) -> None:
    for at, raw in cuts(PAGES[layout]):
        look_at(raw, PAGES[layout], at)


@pytest.mark.parametrize("layout", PAGES)
def test_some_flipped_bits(layout: str) -> None:
    for n, (at, raw) in enumerate(flips(PAGES[layout])):
        if n % 11 == 0:
            look_at(raw, PAGES[layout], at)


@pytest.mark.slow
@pytest.mark.parametrize("layout", PAGES)
def test_every_flipped_bit(layout: str) -> None:
    for at, raw in flips(PAGES[layout]):
        look_at(raw, PAGES[layout], at)


@pytest.mark.slow
@pytest.mark.parametrize("layout", PAGES)
def test_every_flipped_bit_in_every_edition(layout: str) -> None:
    for _, raw in flips(PAGES[layout]):
        for edition in Edition:
            assert 0 <= read_as_broker(raw, edition).bytes_read <= len(raw)
