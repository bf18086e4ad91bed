"""Columns of AMQP messages that mostly are alike: plans for all of them, and what breaks a plan in the midst."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from amqp_pages import compound, fields, mixed, page, section, text, unusual, usual, with_entry, with_field
from reference_rows import same_rows

from pagefmt.describe.arrow_schema import Detail
from pagefmt.vectors.amqp import structure as amqp_structure
from pagefmt.vectors.amqp.parts import amqp_parts
from pagefmt.vectors.amqp.structure import Structure, structure
from pagefmt.vectors.page_columns import decode_page
from pagefmt.vectors.pages.gather import PageBytes
from pagefmt.vectors.pages.scan import scan


def built(content: bytes) -> Structure:
    buffer = PageBytes(content)
    frames = scan(buffer)
    return structure(buffer, amqp_parts(buffer, frames.offset + 5, frames.length))


def assert_as_reference(content: bytes, what: Any, level: Detail = Detail.BODIES) -> int:
    """Assert that the table has the reference decoder's rows, and return the number of irregular records."""
    got = decode_page(PageBytes(content), 7, level)
    assert same_rows(got.table, content, level), what
    return len(got.irregular)


@pytest.fixture(autouse=True)
def without_known_plans() -> None:
    amqp_structure.RECENT_PLANS.clear()


@pytest.mark.parametrize("level", list(Detail))
def test_messages_that_are_alike_follow_one_plan(level: Detail) -> None:
    content = page([usual(n) for n in range(60)])
    found = built(content)
    assert found.only is not None and found.regular.all()
    assert assert_as_reference(content, "usual", level) == 0


def test_names_and_texts_that_are_the_same_are_not_read_again() -> None:
    found = built(page([usual(n) for n in range(60)]))
    entries = found.entries(4)
    assert entries is not None
    assert [key.same for key in entries[0::2]] == [b"seq", b"color", b"amount", b"order", b"weight", b"raw"]
    assert found.field(3, 2).same == b"orders"
    assert found.field(3, 0).same is None


@pytest.mark.parametrize("name", sorted(unusual(0)))
def test_one_unusual_message_changes_nothing_for_the_others(name: str) -> None:
    messages = [usual(n) for n in range(6)]
    messages[3] = unusual(3)[name]
    assert assert_as_reference(page(messages), name) <= 1


@pytest.mark.parametrize("name", sorted(unusual(0)))
def test_messages_that_are_all_unusual_in_the_same_way(name: str) -> None:
    assert_as_reference(page([unusual(n)[name] for n in range(3)]), name)


@pytest.mark.parametrize("seed", range(25))
def test_messages_of_several_kinds(seed: int) -> None:
    assert_as_reference(page(mixed(seed, 25), (2, 3, 5)[seed % 3], ("orders", "", "other")[: seed % 4] or ("a",)), seed)


def test_kinds_in_turns_have_a_plan_each() -> None:
    others = [usual(n, annotations=b"") if n % 3 == 0 else usual(n, header=b"") for n in range(60)]
    messages = [other if n % 2 else usual(n) for n, other in enumerate(others)]
    found = built(page(messages))
    assert len(found.plans) == 3 and not len(found.others)
    assert assert_as_reference(page(messages), "in turns") == 0


def test_what_samples_have_in_common_need_not_hold_for_all() -> None:
    for other in (7, 61, 150):
        built_of = [with_entry(n, 3, text("rare" if n % other == 5 else "usual")) for n in range(301)]
        found = built(page(built_of))
        assert found.only is not None, other
        amqp_structure.RECENT_PLANS.clear()


def test_numbers_and_flags_in_several_forms_stay_one_plan() -> None:
    values = (b"\x54\x05", b"\x71\0\0\1\0", b"\x54\xff")
    flags = (b"\x41", b"\x42", b"\x56\x01")
    for place, forms in ((1, values), (3, flags), (5, (b"\x55\x01", b"\x81" + bytes(8)))):
        messages = [with_entry(n, place, forms[n * n % len(forms)]) for n in range(40)]
        assert built(page(messages)).only is not None
        assert assert_as_reference(page(messages), place) == 0


def test_a_number_that_is_too_large_among_small_ones_of_its_type() -> None:
    forms = (b"\x53\x05", b"\x80" + b"\xff" * 8, b"\x44")
    for kind, name, code in ((2, "annotations", 0xA3), (4, "application", 0xA1)):
        for turn in range(3):
            maps = [section(kind, compound(0xC1, text("k", code), forms[(n + turn) % 3])) for n in range(9)]
            messages = [usual(n, **{name: content}) for n, content in enumerate(maps)]
            assert_as_reference(page(messages), (kind, turn))


IDS = {
    "ulong": (b"\x80" + bytes(7) + b"\x09", b"\x53\x07", b"\x44", b"\x80" + b"\xff" * 8),
    "uuid": (b"\x98" + bytes(range(16)), b"\x98" + b"\xff" * 16),
    "bytes": (text(b"a\\\xff", 0xA0), text(b"", 0xB0)),
    "string": (text("ID:1"), text("größe", 0xB1)),
}


@pytest.mark.parametrize("place", [0, 5])
def test_ids_of_all_types_are_regular(place: int) -> None:
    for forms in (*IDS.values(), tuple(form for each in IDS.values() for form in (*each, b"\x40"))):
        messages = [with_field(n, place, forms[n % len(forms)]) for n in range(20)]
        assert assert_as_reference(page(messages), forms) == 0


@pytest.mark.parametrize("persister", [2, 3, 5])
def test_the_expiration_that_is_not_stored_is_the_senders(persister: int) -> None:
    ends = [*[b"\x83" + bytes(7) + bytes((n,)) for n in range(1, 9)], b"\x83" + b"\xff" * 8, b"\x40"]
    lives = section(0, compound(0xC0, b"\x41", b"\x40", b"\x70\0\0\0\x09"))
    content = page([usual(n, header=lives, properties=with_end(n, ends[n % 10])) for n in range(20)], persister)
    assert assert_as_reference(content, persister) == 0


def with_end(n: int, end: bytes) -> bytes:
    """Encode the properties section of message ``n`` with ``end`` as its absolute expiry time."""
    return section(3, compound(0xC0, *fields(n)[:8], end, fields(n)[9]))


def test_behind_a_body_that_does_not_decode_is_no_footer() -> None:
    footer = section(8, compound(0xC1, text("f", 0xA3), b"\x41"))
    cut = compound(0xC0, b"\xa1\x09short")
    for body in (section(6, cut), section(7, cut), section(7, text(b"\xff")), section(5, text(b"", 0xA0))):
        for count in (1, 4):
            assert_as_reference(page([usual(n, body=body) + footer for n in range(count)]), body, Detail.PROPERTIES)


def test_a_plan_is_kept_for_the_next_piece_and_given_up_where_it_does_not_fit() -> None:
    first, second = page([usual(n) for n in range(40)]), page([usual(n, annotations=b"") for n in range(40)])
    plan = built(first).plans[0].plan
    assert built(first).plans[0].plan is plan
    assert built(second).plans[0].plan is not plan
    # wider than the page
    built(first)
    assert_as_reference(page([unusual(0)["no application properties"][:30]]), "small")


def test_flipped_bits_in_the_midst_of_a_plan() -> None:
    messages = [usual(n) for n in range(3)]
    content = page(messages)
    at = content.index(messages[1])
    for n in range(0, len(messages[1]) - 250, 3):
        flipped = bytearray(content)
        flipped[at + n] ^= 1 << n % 8
        assert_as_reference(bytes(flipped), n)


def test_positions_are_those_of_the_general_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(10):
        content = page(mixed(seed, 60))
        planned = built(content)
        with monkeypatch.context() as patched:
            patched.setattr(amqp_structure, "_MOST_PLANS", 0)
            amqp_structure.RECENT_PLANS.clear()
            walked = built(content)
        assert not walked.plans
        for kind in range(9):
            fits = planned.regular & walked.regular
            assert (planned.section(kind).at == walked.section(kind).at)[fits].all(), (seed, kind)
        for kind, count in ((0, 5), (3, 13)):
            for index in range(count):
                one, other = planned.field(kind, index).at, walked.field(kind, index).at
                assert (one == other)[planned.regular & walked.regular].all(), (seed, kind, index)
        assert (planned.body_kinds() == walked.body_kinds())[walked.regular].all()
        for kind in (1, 2, 4, 8):
            one, other = planned.pairs(kind), walked.pairs(kind)
            both = planned.regular & walked.regular
            assert (np.diff(one.offsets) == np.diff(other.offsets))[both].all()
            if both.all():
                assert (one.key_at == other.key_at).all() and (one.value_at == other.value_at).all()
        assert (planned.regular == walked.regular).all(), seed
